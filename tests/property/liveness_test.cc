// Every job that can run comes to its end, and no job's promise is passed over while nothing happens: small clusters,
// small workloads and chains of all mechanisms at random, with the referee watching. Cases are numbered, and the same
// on every machine; `ROTA_LIVENESS_CASES=20000 ROTA_LIVENESS_FROM=1` tries so many from there on. What fails is shown
// with as few jobs as it takes, in the words of tests/golden.
//
// Looked at in each cycle, behind all links of the chain:
//   * The rehearsal ends: within so many cycles, with every job ended or rejected as larger than its cluster.
//   * A waiting job that was promised an instant between two cycles, and that fitted on what the first of the two left
//     free, was passed over: nothing had happened in between, so it could have started when it was promised. So was the
//     first of the queue under a rule for overruns (strict, rb-har, grace), whether or not it fitted.
//   * But what is promised a moment ahead, or was due and is put off by less than a second, waits behind a job that
//     overruns, and what that does is an event; only under a rule for overruns is the first of the queue looked at
//     then, once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "property/random_case.h"

namespace rota {
namespace {

constexpr std::int64_t kMostCycles = 50'000;

// Looks at every cycle from behind the chain; throws what it finds.
class Watch final : public Policy {
 public:
  struct Site {
    Instant at = kEpoch;
    struct Due {
      std::int64_t job;
      Instant promise;
    };
    std::vector<Due> due;                     // could start then
    std::map<std::int64_t, Instant> was_due;  // when a promise of the job was last due, by its number
  };
  struct Notes {
    std::int64_t cycles = 0;
    std::map<const View*, Site> sites;
  };

  Watch(Notes& notes, bool heads_too) : notes_(notes), heads_too_(heads_too) {}

  void decide(const View& view, Plan& plan) const override {
    if (++notes_.cycles > kMostCycles) throw std::runtime_error("it never ends");
    Site& site = notes_.sites[&view];
    for (const Site::Due& due : site.due) {
      if (due.promise >= view.now()) continue;
      throw std::runtime_error(fmt::format("job {}, promised {}, was passed over from {} to {}", due.job,
                                           shown(due.promise), shown(site.at), shown(view.now())));
    }
    site.at = view.now();
    site.due.clear();
    for (const JobId id : view.promised()) {
      if (view.job(id).promise <= view.now()) site.was_due[view.job(id).spec.number] = view.now();
    }
    if (plan.closed() || plan.looks_again() || !view.leaving().empty()) return;  // what is free is kept for others
    note_promises(view, plan, site);
  }

 private:
  static std::string shown(Instant at) { return std::to_string(at.time_since_epoch().count()) + " ms"; }

  static bool fits(const View& view, const Plan& plan, const Job& job) {
    Placement where;
    return view.nodes().counted() ? job.spec.processors <= plan.free() : plan.nodes().find(job.spec, where);
  }

  void note_promises(const View& view, Plan& plan, Site& site) const {
    std::map<JobId, Instant> promises;
    for (const JobId id : view.promised()) promises[id] = view.job(id).promise;
    for (const Promise& p : plan.promises()) promises[p.job] = p.start;
    const WaitingEntry* head = view.waiting().head();
    while (head && plan.starts(head->job)) head = view.waiting().next(head->place);
    for (const auto& [id, promise] : promises) {
      if (promise == kNever || promise <= view.now() || plan.starts(id)) continue;
      const Job& job = view.job(id);
      const bool put_off = site.was_due[job.spec.number] == view.now();
      const bool first = heads_too_ && head && head->job == id && !(put_off && promise <= view.now() + Duration{1});
      const Instant soon = view.now() + (put_off ? seconds(1) : Duration{1});
      if (first || (fits(view, plan, job) && promise > soon)) site.due.push_back({job.spec.number, promise});
    }
  }

  Notes& notes_;
  bool heads_too_;
};

// What is wrong; empty: nothing, or it is refused as a whole.
std::string found_in(const Case& made) {
  const auto path = std::filesystem::temp_directory_path() / (fmt::format("rota-liveness-{}.sched", getpid()));
  std::ofstream(path) << made.text();
  const golden::SchedFile file = golden::SchedReader::read(path);
  std::filesystem::remove(path);
  Chain chain = scenario::chain_of(file.policy);
  Watch::Notes notes;
  chain.append(std::make_unique<Watch>(notes, chain.knobs().overrun >= Overrun::strict));
  try {
    const auto rehearsed = rehearse(scenario::workload_of(file.jobs), chain, file.options);
    if (!rehearsed) return rehearsed.error().message.starts_with("the referee") ? rehearsed.error().message : "";
    std::int64_t over = 0;
    for (const Job& job : rehearsed->outcome.jobs) over += job.ended() || job.state == JobState::rejected ? 1 : 0;
    const std::int64_t left = static_cast<std::int64_t>(file.jobs.size()) - over;
    if (left > 0) return std::to_string(left) + " jobs never end";
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// Without every job that it can be without.
Case shrunk(Case made) {
  for (std::size_t i = made.jobs.size(); i-- > 0;) {
    Case less = made;
    less.jobs.erase(less.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    if (!less.jobs.empty() && !found_in(less).empty()) made = less;
  }
  return made;
}

std::int64_t from_environment(const char* name, std::int64_t fallback) {
  const char* value = std::getenv(name);
  return value ? std::strtoll(value, nullptr, 10) : fallback;
}

TEST(Liveness, EveryJobComesToItsEndAndNoPromiseIsPassedOver) {
  const std::int64_t from = from_environment("ROTA_LIVENESS_FROM", 1);
  const std::int64_t cases = from_environment("ROTA_LIVENESS_CASES", 400);
  for (std::int64_t i = from; i < from + cases; ++i) {
    const Case made = Generator(static_cast<std::uint64_t>(i)).made();
    const std::string found = found_in(made);
    if (found.empty()) continue;
    const Case less = shrunk(made);
    ADD_FAILURE() << "case " << i << ": " << found << "\nwith fewer jobs: " << found_in(less) << "\n" << less.text();
  }
}

}  // namespace
}  // namespace rota
