// Every policy in every combination of its knobs runs every workload to its end, with the referee watching.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

const std::vector<std::string> kOverruns{"kill", "run-on", "strict", "rb-har", "rb-har-literal", "grace", "4s"};

std::vector<std::string> every_name() {
  std::vector<std::string> names;
  for (const PolicyName& p : policy_names()) {
    const bool of_one_site = Chain::parse(p.name)->knobs().auction.siting == Siting::none;
    if (of_one_site) names.emplace_back(p.name);
  }
  return names;
}

std::string any_chain(const std::vector<std::string>& overruns = kOverruns) {
  std::string chain = *rc::gen::elementOf(every_name());
  const auto knob = [&](const std::string& name, const std::vector<std::string>& values) {
    const std::string longer = fmt::format("{}+{}={}", chain, name, *rc::gen::elementOf(values));
    if (*rc::gen::arbitrary<bool>() && Chain::parse(longer)) chain = longer;  // knobs without effect are refused
  };
  knob("depth", {"0", "1", "2", "3", "5", "all"});
  knob("order", scenario::every_order());
  knob("candidates", scenario::every_order());
  knob("skip", {"yes", "no"});
  knob("beside", {"yes", "no"});
  knob("predict", {"limit", "tsafrir"});
  knob("stretch", {"1", "1.5"});
  knob("overrun", overruns);
  return chain;
}

// At no instant do the jobs that run ask for more than there is; only the last dispatch of each job is known.
void expect_within(std::int64_t processors, const std::vector<Job>& jobs) {
  std::vector<std::pair<Instant, std::int64_t>> changes;
  for (const Job& job : jobs) {
    changes.emplace_back(job.start, job.spec.processors);
    changes.emplace_back(job.end, -std::int64_t{job.spec.processors});
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t held = 0;
  for (const auto& [at, change] : changes) RC_ASSERT((held += change) <= processors);
}

void run(const std::string& chain, const Mix& mix, sim::Ties ties) {
  const auto rows = *scenario::random_rows(mix);
  RC_LOG() << "policy " << chain << (ties == sim::Ties::batch ? "" : " --ties submit-first") << "\n";
  const report::Outcome outcome = scenario::outcome_of(rows, chain, scenario::on(mix.processors, ties));
  for (const Job& job : outcome.jobs) {
    RC_LOG() << "job " << job.spec.number << "\n";
    RC_ASSERT(job.ended());
    RC_ASSERT(job.start >= job.spec.submit);
    RC_ASSERT(job.end > job.start);
  }
  expect_within(mix.processors, outcome.jobs);
}

RC_GTEST_PROP(EveryPolicy, RunsEveryWorkloadToItsEnd, ()) {
  run(any_chain(), {.overruns = true, .priorities = true}, sim::Ties::batch);
}

RC_GTEST_PROP(EveryPolicy, DoesSoOneEventAtATimeToo, ()) {
  std::string chain = any_chain({"kill"});
  if (Chain::parse(chain)->knobs().overrun != Overrun::kill) chain += "+overrun=kill";
  run(chain, {.overruns = true, .priorities = true}, sim::Ties::submit_first);
}

RC_GTEST_PROP(EveryPolicy, DoesSoWithLongJobs, ()) {
  run(any_chain(), {.overruns = true, .unit = 977}, sim::Ties::batch);
}

// The whole table, one random workload for each cell.
TEST(EveryPolicy, MeetsEveryOrderAndEveryOverrun) {
  std::uint64_t seed = 0;
  for (const std::string& policy : every_name()) {
    for (const std::string& order : scenario::every_order()) {
      for (const std::string& overrun : kOverruns) {
        const bool of_its_own = policy == "slurm";  // its order is its own, and it promises nothing
        const std::string chain = fmt::format("{}{}+overrun={}", policy, of_its_own ? "" : "+order=" + order, overrun);
        const bool for_promises = overrun == "strict" || overrun == "grace" || overrun.starts_with("rb-har");
        const bool promises = !policy.starts_with("fcfs") && !of_its_own;
        ASSERT_EQ(Chain::parse(chain).has_value(), promises || !for_promises) << chain;
        if (!promises && for_promises) continue;
        const auto rows = scenario::random_rows({.overruns = true, .priorities = true})(rc::Random(++seed), 60).value();
        report::Outcome outcome;
        ASSERT_NO_THROW(outcome = scenario::outcome_of(rows, chain, scenario::on(8))) << chain;
        for (const Job& job : outcome.jobs) ASSERT_TRUE(job.ended()) << chain << ", job " << job.spec.number;
      }
    }
  }
}

}  // namespace
}  // namespace rota
