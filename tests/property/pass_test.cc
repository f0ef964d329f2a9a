// Jobs without a limit: a job that fits passes the first of the queue while its start cannot be foreseen, and no job
// starves it.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"
#include "watched_rehearsal.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

constexpr std::int64_t kNoLimit = kLongest / seconds(1);

std::vector<Row> rows_without_limits(const Mix& mix, int of_ten) {
  auto rows = *scenario::random_rows(mix);
  for (Row& row : rows) {
    if (*rc::gen::inRange(0, 10) < of_ten) row.limit = kNoLimit;
  }
  return rows;
}

// Nodes of unlike size, so that counts do not decide.
RehearseOptions on_nodes() {
  Machine machine;
  for (const std::uint32_t processors : {1U, 2U, 2U, 3U})
    machine.nodes.push_back({"n" + std::to_string(machine.nodes.size()), processors, 0, {}});
  machine.processors = 8;
  RehearseOptions options = scenario::on(8);
  options.machine = std::make_shared<const Machine>(std::move(machine));
  return options;
}

// Under beside=no: then a job without a limit that overtakes has passed.
class Passing {
 public:
  explicit Passing(std::int64_t times) : times_(times) {}

  void operator()(const View& view) {
    const WaitingEntry* const head = view.waiting().head();
    if (head == nullptr) return;
    std::int64_t started = 0;  // processors of those that passed it in this cycle
    view.running().for_each([&](const RunningEntry& e) {
      const Job& job = view.job(e.job);
      if (job.backfilled && job.start == view.now() && job.expected >= kForeseeable) started += e.processors;
      return true;
    });
    const Job& job = view.job(head->job);
    const std::int64_t allowed = times_ * head->processors;
    if (job.spec.number == number_) {
      RC_LOG() << "job " << number_ << " was passed by " << before_ << " processors, and now by " << job.passed << "\n";
      RC_ASSERT(job.passed >= before_);
      RC_ASSERT(before_ < allowed || job.passed == before_);
    }
    RC_ASSERT(job.passed < allowed + kWidest);
    const bool blocked = job.promise != kNever && !is_foreseeable(job.promise, view.now());
    if (blocked && job.passed < allowed) RC_ASSERT(!any_job_fits(view, *head));
    passed_ += started > 0 ? 1 : 0;
    gathered_ += blocked && job.passed >= allowed && any_job_fits(view, *head) ? 1 : 0;
    number_ = job.spec.number;
    before_ = job.passed;
  }

  int passed() const { return passed_; }
  int gathered() const { return gathered_; }

 private:
  static constexpr std::int64_t kWidest = 8;

  static bool any_job_fits(const View& view, const WaitingEntry& head) {
    bool fits = false;
    for (const WaitingEntry* e = view.waiting().next(head.place); e && !fits; e = view.waiting().next(e->place)) {
      Placement where;
      fits = view.nodes().counted() ? e->processors <= view.free() : view.nodes().find(view.job(e->job).spec, where);
    }
    return fits;
  }

  std::int64_t times_;
  std::int64_t number_ = -1;  // of the job that was first when it was looked at last,
  std::int64_t before_ = 0;   // and by how much it had been passed
  int passed_ = 0;
  int gathered_ = 0;
};

void check(const std::vector<Row>& rows, const std::string& base, const RehearseOptions& options) {
  const std::int64_t times = *rc::gen::inRange(0, 4);
  WatchedRehearsal rehearsal(rows, fmt::format("{}+beside=no+pass={}", base, times), options);
  Passing passing(times);
  rehearsal.run([&](const View& view) { passing(view); });
  RC_ASSERT(rehearsal.ended().size() == rows.size());
  for (const auto& [number, job] : rehearsal.ended()) RC_ASSERT(job.ended() || job.state == JobState::rejected);
  RC_TAG(times > 0 ? passing.passed() > 0 : false, passing.gathered() > 0);
}

RC_GTEST_PROP(Pass, AnyJobThatFitsPassesUntilTheFirstHasBeenPassedByAsMuchAsItMay, ()) {
  check(rows_without_limits({.priorities = true}, 8), "easy", scenario::on(8));
}

RC_GTEST_PROP(Pass, SoTooWhereItMattersOnWhichNodes, ()) {
  check(rows_without_limits({.processors = 3}, 8), *rc::gen::element<std::string>("easy", "easy-sjbf"), on_nodes());
}

RC_GTEST_PROP(Pass, SoTooWhereJobsAreStoppedForAPromise, ()) {
  check(rows_without_limits({.overruns = true}, 5), "easy+overrun=" + *rc::gen::element<std::string>("grace", "rb-har"),
        scenario::on(8));
}

RC_GTEST_PROP(Pass, AScheduleInWhichAllJobsHaveLimitsIsTheSame, ()) {
  const auto rows = *scenario::random_rows({.overruns = true, .priorities = true});
  const std::string policy =
      *rc::gen::element<std::string>("easy", "easy-sjbf", "easy++", "easy+overrun=run-on", "grace");
  const RehearseOptions options = *rc::gen::arbitrary<bool>() ? on_nodes() : scenario::on(8);
  RC_ASSERT(scenario::outcome_of(rows, policy, options).plan_hash ==
            scenario::outcome_of(rows, policy + "+pass=0", options).plan_hash);
}

}  // namespace
}  // namespace rota
