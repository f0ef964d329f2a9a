// Clusters that are described node by node: where counting processors decides, they schedule as a counted cluster does;
// elsewhere every policy runs every workload to its end, with the referee watching every place.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"
#include "watched_rehearsal.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

// `nodes` nodes of `processors` each.
std::shared_ptr<const Machine> nodes_of(std::uint32_t nodes, std::uint32_t processors) {
  Machine machine;
  for (std::uint32_t i = 0; i < nodes; ++i) machine.nodes.push_back({"n" + std::to_string(i), processors, 0, {}});
  machine.processors = std::int64_t{nodes} * processors;
  return std::make_shared<const Machine>(std::move(machine));
}

std::vector<Job> rehearsed(const log::Workload& workload, const std::string& policy, const RehearseOptions& options) {
  auto done = rehearse(workload, scenario::chain_of(policy), options);
  if (!done) throw std::runtime_error(done.error().message);
  return std::move(done->outcome.jobs);
}

const std::vector<std::string> kPolicies{"fcfs",
                                         "fcfs-skip",
                                         "easy",
                                         "easy++",
                                         "easy+candidates=largest",
                                         "easy+depth=2",
                                         "easy+depth=5",
                                         "conservative",
                                         "strict",
                                         "rb-har",
                                         "grace",
                                         "rb-har+overrun=rb-har-literal",
                                         "easy+overrun=4s",
                                         "easy+overrun=run-on",
                                         "fcfs-skip+preempt=suspend",
                                         "easy+preempt=checkpoint+checkpoint=3",
                                         "conservative+preempt=requeue",
                                         "easy+nodes=least-loaded",
                                         "rb-har+nodes=least-loaded",
                                         "conservative+nodes=least-loaded"};

// What differs between the counted cluster and the one of nodes; nothing if nothing does.
std::string difference(const log::Workload& workload, const std::string& policy,
                       const std::shared_ptr<const Machine>& machine) {
  RehearseOptions options = scenario::on(machine->processors);
  const std::vector<Job> counted = rehearsed(workload, policy, options);
  options.machine = machine;
  const std::vector<Job> placed = rehearsed(workload, policy, options);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const bool same = placed[i].start == counted[i].start && placed[i].end == counted[i].end &&
                      placed[i].first_promise == counted[i].first_promise &&
                      placed[i].backfilled == counted[i].backfilled;
    if (!same) return fmt::format("{}: job {} fares otherwise", policy, counted[i].spec.number);
  }
  return counted.size() == placed.size() ? "" : policy + ": other jobs";
}

RC_GTEST_PROP(Nodes, ScheduleAsIfCountedWhereAnyProcessorsWillDo, ()) {
  const auto rows = *scenario::random_rows({.processors = 12, .overruns = true, .priorities = true});
  RC_ASSERT(difference(scenario::workload_of(rows), *rc::gen::elementOf(kPolicies),
                       *rc::gen::element(nodes_of(12, 1), nodes_of(4, 3), nodes_of(1, 12))) == "");
}

// Without policies that preempt: on nodes one job is served at a time, by counting all are looked at together.
RC_GTEST_PROP(Nodes, ScheduleAsIfCountedWhereEveryJobTakesWholeNodes, ()) {
  std::vector<std::string> policies = kPolicies;
  std::erase_if(policies, [](const std::string& p) { return p.contains("preempt"); });
  const auto rows = *scenario::random_rows({.processors = 6, .overruns = true, .priorities = true});
  log::Workload workload = scenario::workload_of(rows);
  for (JobSpec& spec : workload.jobs) {
    if (*rc::gen::arbitrary<bool>()) spec.nodes = spec.processors;
    spec.processors *= 4;
  }
  RC_ASSERT(difference(workload, *rc::gen::elementOf(policies), nodes_of(6, 4)) == "");
}

TEST(Nodes, ScheduleAThousandJobsAsIfCounted) {
  for (const std::string& policy : kPolicies) {
    const auto rows = scenario::random_rows({.processors = 64, .overruns = true})(rc::Random(7), 1000).value();
    EXPECT_EQ(difference(scenario::workload_of(rows), policy, nodes_of(8, 8)), "");
  }
}

// Nodes of two kinds in two partitions, one of which has them all; three have accelerators, one of them of another
// type.
Machine two_kinds() {
  Machine machine;
  machine.accelerator_types = {"gpu", "fpga"};
  machine.features = {"odd", "ib"};
  machine.partitions.resize(2);
  machine.partitions[0].name = "all";
  machine.partitions[1].name = "some";
  machine.default_partition = PartitionId{0};
  for (std::uint32_t i = 0; i < 6; ++i) {
    Node& node = machine.nodes.emplace_back();
    node = {"n" + std::to_string(i), i < 4 ? 2U : 4U, i < 4 ? 8 : 0, {PartitionId{0}}};
    if (i >= 2) node.partitions.push_back(PartitionId{1});
    node.features = (i % 2 == 1 ? 1U : 0U) | (i >= 2 ? 2U : 0U);
    node.accelerators = i >= 3 ? 2 : 0;
    if (i >= 3) node.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(i == 3 ? 1 : 0)};
    for (const PartitionId p : node.partitions) {
      machine.partitions[p.value].nodes.push_back(NodeId{i});
      machine.partitions[p.value].processors += node.processors;
    }
    machine.processors += node.processors;
  }
  return machine;
}

// Jobs of all kinds for it; maybe with spells in which counts decide.
log::Workload any_kinds_of_jobs(const Mix& mix) {
  log::Workload workload = scenario::workload_of(*scenario::random_rows(mix));
  workload.partitions = {{0, "all"}, {1, "some"}};
  const bool mixed = *rc::gen::arbitrary<bool>();
  for (JobSpec& spec : workload.jobs) {
    if (mixed && *rc::gen::inRange(0, 3) > 0) continue;
    spec.nodes = *rc::gen::inRange(0U, 4U);
    spec.memory = *rc::gen::element(0, 3, 8);
    spec.accelerators = *rc::gen::element<std::uint8_t>(0, 0, 1, 2);
    if (spec.accelerators > 0) spec.accelerator_type.value = *rc::gen::element<std::uint8_t>(0, 1, UINT8_MAX);
    spec.partition = PartitionId{*rc::gen::inRange(0U, 2U)};
    spec.node_wish = scenario::any_wish(6, spec.processors, spec.nodes);
  }
  return workload;
}

RehearseOptions on_two_kinds() {
  RehearseOptions options = scenario::on(16);
  options.machine = std::make_shared<const Machine>(two_kinds());
  return options;
}

RC_GTEST_PROP(Nodes, RunJobsThatAskForPlacesToTheirEnd, ()) {
  const log::Workload workload = any_kinds_of_jobs({.processors = 16, .overruns = true, .priorities = true});
  const std::string policy = *rc::gen::element<std::string>(
      "fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=2", "easy+depth=5", "conservative", "easy+overrun=4s",
      "easy+overrun=run-on", "easy+stretch=1.5", "easy+beside=no", "easy+fixed=yes", "strict", "rb-har",
      "rb-har+overrun=rb-har-literal", "grace", "easy+overrun=grace", "easy+depth=3+overrun=grace",
      "conservative+overrun=strict", "slurm+bf-interval=5s+bf-resolution=1s", "slurm+bf-interval=no",
      "slurm+bf-interval=3s+bf-resolution=7s+priority=multifactor+weight-job-size=10+weight-age=10+max-age=1m",
      "slurm+bf-interval=3s+bf-job-part-count-reserve=1+bf-window=20s", "fcfs-skip+nodes=least-loaded",
      "easy+nodes=least-loaded", "easy+depth=3+nodes=least-loaded", "conservative+nodes=least-loaded",
      "strict+nodes=least-loaded", "rb-har+nodes=least-loaded", "grace+nodes=least-loaded");
  RC_LOG() << policy << "\n";
  for (const Job& job : rehearsed(workload, policy, on_two_kinds())) {
    RC_LOG() << "job " << job.spec.number << "\n";
    RC_ASSERT(job.ended() || job.state == JobState::rejected);
  }
}

// No job overruns: the place and the time that were promised are there, and a promise never moves later.
RC_GTEST_PROP(Nodes, KeepTheirPromises, ()) {
  const log::Workload workload = any_kinds_of_jobs({.processors = 16});
  const std::string policy = *rc::gen::element<std::string>(
      "easy", "easy+candidates=largest", "easy+depth=2", "easy+depth=4", "conservative", "easy+fixed=yes",
      "easy+nodes=least-loaded", "easy+depth=4+nodes=least-loaded", "conservative+nodes=least-loaded");
  RC_LOG() << policy << "\n";
  WatchedRehearsal rehearsal(workload, policy, on_two_kinds());
  std::map<JobId, Instant> last;
  rehearsal.run([&](const View& view) {
    for (const auto& [id, promise] : last) {
      if (view.knows(id) && view.job(id).state == JobState::waiting) RC_ASSERT(view.job(id).promise <= promise);
    }
    last.clear();
    for (const JobId id : view.promised()) last[id] = view.job(id).promise;
  });
  for (const auto& [number, job] : rehearsal.ended()) {
    RC_LOG() << "job " << number << "\n";
    RC_ASSERT(job.first_promise == kNever || job.start <= job.first_promise);
  }
}

// Asks for a look at each instant at which a backfill pass is left out: then it comes.
class EachPass final : public Policy {
 public:
  explicit EachPass(Duration interval) : interval_(interval) {}
  void decide(const View&, Plan&) const override {}
  Instant next_wakeup(const View& view) const override {
    const Replanned& last = view.replanned();
    const bool left_out = last.owes_plan && !last.owes_try && last.tried > view.now() && last.tried != kNever;
    return left_out ? last.planned + interval_ : kNever;
  }

 private:
  Duration interval_;
};

RC_GTEST_PROP(Nodes, BackfillPassesOfSlurmThatAreLeftOutWouldStartNoJob, ()) {
  const bool described = *rc::gen::arbitrary<bool>();
  const Mix mix{.processors = 16, .overruns = true, .priorities = true};
  const log::Workload workload =
      described ? any_kinds_of_jobs(mix) : scenario::workload_of(*scenario::random_rows(mix));
  const std::string policy =
      "slurm+bf-interval=1s" +
      *rc::gen::element<std::string>("", "+bf-resolution=7s", "+bf-resolution=1s+tick=0+batch-sched-delay=0",
                                     "+bf-window=20s+bf-resolution=4s", "+bf-job-part-count-reserve=1",
                                     "+bf-resolution=7s+bf-clock=300ms",
                                     "+bf-max-job-test=3+bf-resolution=2s+batch-sched-delay=1s",
                                     "+priority=multifactor+weight-age=10+max-age=1m+calc-period=20s",
                                     "+preempt=requeue+requeue-delay=7s", "+preempt=cancel+preempt-exempt=9s");
  RC_LOG() << policy << "\n";
  const RehearseOptions options = described ? on_two_kinds() : scenario::on(16);
  WatchedRehearsal some(workload, policy, options);
  WatchedRehearsal all(workload, policy, options);
  all.append(std::make_unique<EachPass>(seconds(1)));
  std::int64_t left_out = 0;
  some.run([&](const View& view) { left_out += view.replanned().tried > view.now() ? 1 : 0; });
  all.run([](const View&) {});
  RC_CLASSIFY(left_out > 0);
  for (const auto& [number, job] : all.ended()) {
    RC_LOG() << "job " << number << "\n";
    RC_ASSERT(some.ended().at(number).start == job.start);
  }
}

RC_GTEST_PROP(Nodes, UnderSlurmJobsThatMustNotGiveWayYetChangeNothing, ()) {
  const log::Workload workload = any_kinds_of_jobs({.processors = 16, .priorities = true});
  const std::string policy = "slurm+bf-interval=5s+bf-resolution=" + *rc::gen::element<std::string>("1s", "7s");
  WatchedRehearsal plain(workload, policy, on_two_kinds());
  WatchedRehearsal exempt(workload, policy + "+preempt=requeue+preempt-exempt=100d", on_two_kinds());
  plain.run([](const View&) {});
  exempt.run([](const View&) {});
  for (const auto& [number, job] : plain.ended()) {
    RC_LOG() << "job " << number << "\n";
    RC_ASSERT(exempt.ended().at(number).start == job.start);
  }
}

}  // namespace
}  // namespace rota
