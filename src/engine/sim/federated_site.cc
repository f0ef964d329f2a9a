#include "engine/sim/federated_site.h"

namespace rota::sim {

FederatedSite::FederatedSite(SiteId self, const Parts& parts)
    : self_(self),
      ear_(parts.ear),
      loop_(parts.loop),
      engine_(engine_options(parts.options, parts.chain), parts.local, parts.loop),
      gate_(engine_, *this, parts.loop),
      controller_(cluster_options(parts.options, parts.chain), parts.chain,
                  {parts.loop, gate_, *this, parts.options.durable}) {
  for (FactObserver* observer : parts.options.observers) controller_.add_observer(*observer);
}

JobId FederatedSite::submit(const JobSpec& spec, const Handed& handed) {
  const JobTerms terms{
      .limit = spec.limit, .priority = spec.priority, .partition = spec.partition, .begin = handed.input};
  return controller_.submit(spec, terms, kNoBars, handed.ahead).value_or(JobId{});
}

JobId FederatedSite::submit(const JobSpec& spec, Bars /*bars*/) {
  const auto handed = handed_.extract(spec.number);
  const JobId id = handed ? submit(spec, handed.mapped()) : controller_.submit(spec);
  const auto brought = brought_.find(spec.number);
  if (brought == brought_.end()) return id;
  brought->second = id;
  if (id.valid()) gate_.expect(id, spec.number);
  return id;
}

Result<void> FederatedSite::decide() {
  auto done = controller_.decide();
  ear_.load_changed(self_);
  return done;
}

void FederatedSite::starts(JobId id, std::int64_t job) {
  if (const Duration longer = ear_.starts(self_, job); longer > Duration{0}) engine_.prolong(id, longer);
}

void FederatedSite::makes_room(JobId beneficiary) { ear_.preempts(self_, view().job(beneficiary).spec.number); }

void FederatedSite::job_gone(JobId id, const Job& job) {
  brought_.erase(job.spec.number);
  gate_.job_gone(id);
  ear_.job_gone(self_, job, engine_.meter().of_job(id));
}

void FederatedSite::queue(const Arrival& arrival, const Handed& handed) {
  brought_[arrival.spec.number] = JobId{};
  if (handed.ahead || handed.input > loop_.now()) handed_[arrival.spec.number] = handed;
  engine_.submit(arrival);
}

void FederatedSite::take_back(std::int64_t job) {
  const auto here = brought_.find(job);
  if (here == brought_.end()) return;
  if (!here->second.valid()) {
    engine_.forget_arrival(job);
    handed_.erase(job);
  } else {
    gate_.revoked(here->second);
    engine_.cancel(here->second);
  }
  brought_.erase(here);
}

void FederatedSite::lost(JobId id) {
  engine_.cancel(id);
  std::erase_if(brought_, [&](const auto& brought) { return brought.second == id; });
}

}  // namespace rota::sim
