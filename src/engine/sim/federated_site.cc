#include "engine/sim/federated_site.h"

namespace rota::sim {

FederatedSite::FederatedSite(SiteId self, const Parts& parts)
    : self_(self),
      ear_(parts.ear),
      loop_(parts.loop),
      engine_(engine_options(parts.options, parts.chain), parts.local, parts.loop),
      controller_(cluster_options(parts.options, parts.chain), parts.chain, {parts.loop, *this, *this, parts.options.durable}) {
  for (FactObserver* observer : parts.options.observers) controller_.add_observer(*observer);
}

JobId FederatedSite::submit(const JobSpec& spec) {
  const JobId id = controller_.submit(spec);
  if (const auto brought = brought_.find(spec.number); brought != brought_.end()) brought->second = id;
  return id;
}

Result<void> FederatedSite::decide() {
  auto done = controller_.decide();
  ear_.load_changed(self_);
  return done;
}

void FederatedSite::dispatch(const Command& command) {
  if (command.kind == Command::Kind::preempt) {
    ear_.preempts(self_, view().job(command.beneficiary).spec.number);
    return engine_.dispatch(command);
  }
  if (command.kind != Command::Kind::start) return engine_.dispatch(command);
  const std::int64_t number = view().job(command.job).spec.number;
  if (!brought_.contains(number)) return engine_.dispatch(command);
  const auto longer = ear_.may_start(self_, number);
  if (longer) engine_.prolong(command.job, *longer);
  engine_.dispatch(command);
  if (!longer) take_back(number);
}

void FederatedSite::left(JobId id, const Job& job) {
  brought_.erase(job.spec.number);
  ear_.left(self_, job, engine_.meter().of_job(id));
}

void FederatedSite::queue(const Arrival& arrival) {
  brought_[arrival.spec.number] = JobId{};
  engine_.submit(arrival);
}

void FederatedSite::take_back(std::int64_t job) {
  const auto here = brought_.find(job);
  if (here == brought_.end()) return;
  if (!here->second.valid()) {
    engine_.forget_arrival(job);
  } else {
    engine_.cancel(here->second);
  }
  brought_.erase(here);
}

}  // namespace rota::sim
