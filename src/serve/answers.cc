#include "serve/answers.h"

#include <fmt/core.h>

#include <algorithm>

#include "serve/federation_desk.h"
#include "serve/grace.h"

namespace rota::serve {

std::vector<std::string> Answers::warnings() const {
  constexpr int kManyFailures = 3;  // in a row: one may come from a server that is just busy
  std::vector<std::string> all = use_.desk.log().warnings();
  if (const auto health = use_.desk.engine().health(); !health) all.push_back(health.error().message);
  const LicenceWatch* watch = use_.upkeep.licence_watch();
  if (watch != nullptr && watch->failures() >= kManyFailures) {
    all.push_back(fmt::format("the licence command has failed {} times in a row, and its last good count stands: {}.",
                              watch->failures(), watch->failure()));
  }
  if (use_.federation != nullptr && !use_.federation->trouble().empty()) {
    all.push_back(fmt::format(
        "etcd does not answer: jobs of the federation go on where they are, and none is sold until it does ({}).",
        use_.federation->trouble()));
  }
  const SlurmKnobs& slurm = use_.desk.chain().knobs().slurm;
  if (slurm.by_shares() && !machine().accounts.empty()) {
    all.emplace_back(
        "the policy goes by fair share, and a service does not know of the configuration's [[accounts]]: all users "
        "have the same shares");
  }
  if (slurm.planner && slurm.multifactor && slurm.weights.qos > 0 && machine().qos.empty())
    all.emplace_back("the policy goes by QOS, and the configuration describes none: weight-qos changes nothing");
  return all;
}

ServiceStatus Answers::status() const {
  const Controller& controller = use_.desk.controller();
  const ServiceLog& log = use_.desk.log();
  ServiceStatus out{.use = processor_use(machine(), view()),
                    .nodes = {},
                    .licence_watch = use_.upkeep.licence_watch(),
                    .free = view().free(),
                    .plain = view().plain(),
                    .waiting = all_waiting(view()),
                    .barred = view().barred(),
                    .running = view().running().size(),
                    .cycles = controller.cycles(),
                    .facts = view().sequence(),
                    .refusals = log.refusals(controller),
                    .refused_requests = log.refused_requests(),
                    .refused_plans = controller.refused_plans(),
                    .last_refusal = log.last_refusal(),
                    .latest = view().now(),
                    .loads = view().power().loads(),
                    .loads_at = view().power().reviewed_at(),
                    .readings = use_.desk.engine().readings()};
  for (const PowerState state : {PowerState::on, PowerState::booting, PowerState::shutting_down, PowerState::off})
    out.nodes[state] = view().power().count(state);
  return out;
}

std::vector<NodeShown> Answers::nodes() const {
  std::vector<NodeShown> all;
  std::map<NodeId, std::size_t> places;
  for (std::uint32_t n = 0; n < machine().nodes.size(); ++n) {
    const NodeId id{n};
    if (machine().nodes[n].has_gone()) continue;
    places[id] = all.size();
    all.push_back({.id = id,
                   .node = machine().nodes[n],
                   .health = view().power().health(id),
                   .power = view().power().state(id),
                   .free = view().nodes().free_on(id),
                   .free_beside = view().nodes().per_node_on(id),
                   .left_asleep = use_.nodes.left_asleep(id),
                   .reason = use_.nodes.reason(id),
                   .by = use_.nodes.by(id)});
  }
  const auto shown = [&](NodeId id) -> NodeShown* {
    const auto found = places.find(id);
    return found == places.end() ? nullptr : &all[found->second];
  };
  for (const Reservation& each : view().reservations().all()) {
    for (const NodeId id : each.nodes) {
      NodeShown* node = shown(id);
      if (node && (node->reserved == nullptr || each.from < node->reserved->from)) node->reserved = &each;
    }
  }
  std::vector<JobId> running;
  if (!all.empty()) each_running([&](JobId id) { return running.push_back(id), true; });
  std::ranges::sort(running);
  for (const JobId id : running) {
    for (const Share& share : view().placement(id).shares) {
      if (NodeShown* node = shown(share.node)) node->jobs.push_back(id);
    }
    if (view().job(id).spec.accelerators == 0) continue;
    for (auto& [held, numbers] : accelerators_of(id)) {
      if (NodeShown* node = shown(held)) node->accelerators[id] = numbers;
    }
  }
  return all;
}

std::vector<PartitionUse> Answers::partitions() const {
  std::vector<PartitionUse> all(machine().partitions.size());
  view().for_each_job([&](JobId, const Job& job) {
    if (!job.spec.partition.valid() || job.gone()) return;
    PartitionUse& use = all[job.spec.partition.value];
    ++(job.state == JobState::running ? use.running : use.waiting);
  });
  return all;
}

std::vector<LicenceUseShown> Answers::licences() const {
  std::vector<LicenceUseShown> all;
  for (const Licence& licence : machine().licences) {
    const LicenceId id{static_cast<decltype(LicenceId::value)>(all.size())};
    all.push_back({licence, view().nodes().licences_free(id), view().licences_elsewhere(id)});
  }
  return all;
}

std::optional<KnownJob> Answers::known(JobId id) const {
  const JobEntry* entry = use_.jobs.book().find(id);
  const Job* job = view().find_job(id);
  if (entry == nullptr || job == nullptr) return std::nullopt;
  KnownJob out{*job, *entry};
  if (const JobTerms* terms = view().eligibility().terms(id)) {
    out.begin = std::max(out.begin, terms->begin);
    out.throttled = terms->array != 0;
    if (out.throttled) out.throttle = view().eligibility().throttle(terms->array);
  }
  if (const RunOrders* orders = view().orders_of(id)) out.suspended_at = orders->suspended_at;
  if (job->state == JobState::running)
    out.nodes = machine().nodes.empty() ? 1 : std::max<std::size_t>(view().placement(id).shares.size(), 1);
  return out;
}

void Answers::put_in_order(std::vector<JobId>& jobs) const {
  std::ranges::stable_sort(jobs, [&](JobId a, JobId b) {
    const Job& one = view().job(a);
    const Job& other = view().job(b);
    if (one.state != other.state) return one.state == JobState::waiting;
    if (one.state != JobState::waiting) return a < b;
    return view().waiting().queue_place(one) < view().waiting().queue_place(other);
  });
}

store::Grace Answers::grace_of(JobId id, const Job& job, Instant until) const {
  return serve::grace_of(use_.desk, use_.jobs, id, job, until);
}

HeldAccelerators Answers::accelerators_of(JobId job) const {
  const RunProbe* probe = use_.desk.engine().run_probe();
  return probe ? held_accelerators(machine(), probe->accelerators_of(job)) : HeldAccelerators{};
}

void Answers::forget() {
  planned_starts_.forget();
  reasons_.forget();
}

}  // namespace rota::serve
