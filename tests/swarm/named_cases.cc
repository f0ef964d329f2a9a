#include "swarm/named_cases.h"

namespace rota::swarm {
namespace {

using Where = CrashPoint::Where;

// Four processors, and an engine that does not say when a job has begun.
Case four_processors(const std::string& policy) {
  Case drawn;
  drawn.machine = Machine::counted(4);
  drawn.policy = policy;
  drawn.confirms_starts = false;
  drawn.heals_at = 1000;
  return drawn;
}

// It runs until its limit.
CaseJob job(std::int64_t number, std::int64_t submit, std::uint32_t processors, std::int64_t limit) {
  CaseJob job;
  job.spec.number = number;
  job.spec.submit = at_seconds(submit);
  job.spec.processors = processors;
  job.spec.limit = job.run_time = seconds(limit);
  return job;
}

bool queued_again_unbegun(const Counts& counts) { return counts.site.never_began > 0; }
bool moved(const Counts& counts) { return counts.site.moves > 0; }

// The controller is gone before the start of job 3 goes out. When it is back that start is sent again, and since job 2
// is due so is an order to stop; it is gone once more before either goes out. Job 3 was then taken for one that had
// run.
Case stopped_before_its_start_came() {
  Case drawn = four_processors("strict");
  drawn.jobs = {job(1, 0, 3, 10), job(2, 0, 4, 10), job(3, 0, 1, 10)};
  drawn.crashes = {{Where::after_commit, 4, 30}, {Where::after_commit, 5, 30}};
  return drawn;
}

// The same happens to job 2, which is to give way once job 1 may begin.
Case gives_way_before_its_start_came() {
  Case drawn = four_processors("easy+preempt=requeue");
  drawn.jobs = {job(1, 0, 4, 10), job(2, 0, 4, 10)};
  drawn.jobs[0].spec.priority = 1;
  drawn.jobs[0].has_terms = true;
  drawn.jobs[0].begin = 20;
  drawn.crashes = {{Where::after_commit, 3, 30}, {Where::after_commit, 4, 30}};
  return drawn;
}

// A race of two sites for job 1001. Site 0 is cut off: the start of its copy is held back until the exchange answers,
// and meanwhile the copy is to stop, since the site's own job 2 is due. Then the controller goes away, when job 3
// comes, and the start with it. What never ran there ended there, for all sites, and once more where it ran.
FederationCase stopped_while_its_start_was_held_back() {
  FederationCase drawn;
  drawn.sites = {four_processors("strict"), four_processors("fcfs")};
  drawn.sites[0].jobs = {job(1, 0, 3, 100), job(2, 10, 4, 10), job(3, 110, 1, 10)};
  drawn.sites[0].crashes = {{Where::record, 16, 30}};
  drawn.jobs = {{job(1001, 50, 1, 50), 1}};
  drawn.partitions = {{40, 500, 0}};
  drawn.rules.race = true;
  drawn.rules.lease = seconds(300);
  drawn.rules.patience = seconds(50);
  drawn.heals_at = 1000;
  return drawn;
}

// Job 1 has the one licence. Its node dies; on the other one it begins anew, and while it runs others use the licence
// too that it holds. It moves back when its first node is there again: for that it needs none.
Case moves_while_others_have_its_licence() {
  Case drawn;
  drawn.counted = false;
  drawn.machine.racks = {""};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Node& node = drawn.machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 4;
    node.cpu_factor = i == 0 ? 3000 : 1000;
    drawn.machine.processors += 4;
  }
  drawn.machine.licences = {{"solver", 1}};
  drawn.policy = "conservative+overrun=run-on+migrate=gain";
  drawn.confirms_starts = false;
  drawn.jobs = {job(1, 0, 1, 900)};
  drawn.jobs[0].spec.restart = Restart::from_start;
  drawn.jobs[0].spec.licence = LicenceId{0};
  drawn.jobs[0].spec.licences = 1;
  drawn.troubles = {{NodeTrouble::Kind::dies, 100, NodeId{0}}, {NodeTrouble::Kind::recovers, 200, NodeId{0}}};
  drawn.licences = {{150, 1}};
  drawn.heals_at = 1000;
  return drawn;
}

}  // namespace

std::vector<NamedCase> named_cases() {
  return {
      {"stopped before its start came", stopped_before_its_start_came(), queued_again_unbegun},
      {"gives way before its start came", gives_way_before_its_start_came(), queued_again_unbegun},
      {"stopped while its start was held back", stopped_while_its_start_was_held_back(), queued_again_unbegun},
      {"moves while others have its licence", moves_while_others_have_its_licence(), moved},
  };
}

}  // namespace rota::swarm
