// What a promise is worth: no job overruns, so every promise must be kept.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"
#include "watched_rehearsal.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

sim::Ties any_ties() { return *rc::gen::element(sim::Ties::batch, sim::Ties::submit_first); }

void expect_no_job_late(const std::map<std::int64_t, Job>& jobs, const std::vector<Row>& rows) {
  RC_ASSERT(jobs.size() == rows.size());
  for (const auto& [number, job] : jobs) {
    RC_ASSERT(job.ended());
    if (job.first_promise == kNever) continue;
    RC_LOG() << "job " << number << " was promised " << to_seconds(job.first_promise - kEpoch) << " s and starts at "
             << to_seconds(job.start - kEpoch) << " s\n";
    RC_ASSERT(job.start <= job.first_promise);
  }
}

// Every promise in turn, and that none is later than the one before or is taken back.
class PromisesOnlyMoveForward {
 public:
  void operator()(const View& view) {
    for (const auto& [id, promise] : last_) {
      const Job& job = view.job(id);
      if (job.state != JobState::waiting) continue;
      RC_LOG() << "job " << job.spec.number << " had " << to_seconds(promise - kEpoch) << " s and now has "
               << to_seconds(job.promise - kEpoch) << " s\n";
      RC_ASSERT(job.promise <= promise);
    }
    last_.clear();
    for (const JobId id : view.promised()) last_.emplace_back(id, view.job(id).promise);
    most_ = std::max(most_, view.promised().size());
  }
  std::size_t most() const { return most_; }

 private:
  std::vector<std::pair<JobId, Instant>> last_;
  std::size_t most_ = 0;
};

void check_promises(const std::string& policy, sim::Ties ties) {
  const auto rows = *scenario::random_rows(Mix{});
  WatchedRehearsal rehearsal(rows, policy, scenario::on(8, ties));
  PromisesOnlyMoveForward promises;
  rehearsal.run([&](const View& view) { promises(view); });
  expect_no_job_late(rehearsal.ended(), rows);
  RC_TAG(promises.most());
}

RC_GTEST_PROP(Promises, EasyNeverDelaysItsHeadBeyondTheFirstPromise, ()) { check_promises("easy", any_ties()); }

RC_GTEST_PROP(Promises, EasyKeepsThemWhateverOrderCandidatesAreTriedIn, ()) {
  check_promises("easy+candidates=" + *rc::gen::elementOf(scenario::every_order()), any_ties());
}

RC_GTEST_PROP(Promises, ConservativeNeverMovesOneLater, ()) { check_promises("conservative", any_ties()); }

RC_GTEST_PROP(Promises, AnyDepthNeverMovesOneLater, ()) {
  check_promises("easy+depth=" + std::to_string(*rc::gen::inRange(2, 7)), any_ties());
}

RC_GTEST_PROP(Promises, EasyWithoutTheProcessorsBesideKeepsThemToo, ()) {
  check_promises("easy+beside=no", any_ties());
}

// Under EASY the head is promised the very instant at which it fits if all goes as expected, and it alone.
RC_GTEST_PROP(Promises, UnderEasyTheHeadAloneHoldsOne, ()) {
  const auto rows = *scenario::random_rows(Mix{.overruns = true, .priorities = true});
  WatchedRehearsal rehearsal(rows, "easy", scenario::on(8, any_ties()));
  rehearsal.run([](const View& view) {
    const WaitingEntry* head = view.waiting().head();
    RC_ASSERT(view.promised().size() <= 1U);
    if (!head || view.promised().empty()) return;
    RC_ASSERT(view.promised().front() == head->job);
    RC_ASSERT(view.job(head->job).promise > view.now());
  });
}

// Under depth=k at most k jobs are blocked with a promise; under conservative all that wait have one.
RC_GTEST_PROP(Promises, AreAsManyAsThePolicySays, ()) {
  const auto depth = *rc::gen::inRange<std::size_t>(2, 7);
  const auto rows = *scenario::random_rows(Mix{});
  WatchedRehearsal some(rows, "easy+depth=" + std::to_string(depth), scenario::on(8));
  some.run([&](const View& view) { RC_ASSERT(view.promised().size() == std::min(depth, view.waiting().size())); });
  WatchedRehearsal every(rows, "conservative", scenario::on(8));
  every.run([](const View& view) { RC_ASSERT(view.promised().size() == view.waiting().size()); });
}

}  // namespace
}  // namespace rota
