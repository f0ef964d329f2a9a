#include "engine/sim/federated_site.h"

namespace rota::sim {

FederatedSite::FederatedSite(SiteId self, const Parts& parts)
    : self_(self),
      ear_(parts.ear),
      loop_(parts.loop),
      engine_(engine_options(parts.options, parts.chain), parts.local, parts.loop),
      controller_(cluster_options(parts.options, parts.chain), parts.chain, {parts.loop, *this, *this}) {}

Result<void> FederatedSite::deliver(std::span<const Event> events) {
  auto done = controller_.deliver(events);
  ear_.load_changed(self_);
  return done;
}

Result<void> FederatedSite::dispatch(const Command& command) {
  if (command.kind == Command::Kind::preempt) {
    ear_.preempts(self_, view().job(command.beneficiary).spec.number);
    return engine_.dispatch(command);
  }
  if (command.kind != Command::Kind::start) return engine_.dispatch(command);
  const std::int64_t number = view().job(command.job).spec.number;
  if (!brought_.contains(number)) return engine_.dispatch(command);
  const auto longer = ear_.may_start(self_, number);
  if (longer) engine_.prolong(command.job, *longer);
  auto done = engine_.dispatch(command);
  if (!longer) take_back(number);
  return done;
}

void FederatedSite::left(JobId id, const Job& job) {
  brought_.erase(job.spec.number);
  ear_.left(self_, job, engine_.meter().of_job(id));
}

void FederatedSite::queue(const Arrival& arrival) {
  brought_[arrival.spec.number] = JobId{static_cast<std::uint32_t>(engine_.arrived())};
  engine_.submit(arrival);
}

void FederatedSite::take_back(std::int64_t job) {
  const auto here = brought_.find(job);
  if (here == brought_.end()) return;
  engine_.cancel(here->second);
  brought_.erase(here);
}

}  // namespace rota::sim
