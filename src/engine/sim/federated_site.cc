#include "engine/sim/federated_site.h"

namespace rota::sim {

FederatedSite::FederatedSite(SiteId self, const Parts& parts)
    : self_(self),
      ear_(parts.ear),
      loop_(parts.loop),
      engine_(engine_options(parts.options, parts.chain), parts.local, parts.loop),
      gate_(engine_, *this, parts.loop),
      controller_(cluster_options(parts.options, parts.chain), parts.chain, {parts.loop, gate_, *this}) {}

Result<void> FederatedSite::deliver(std::span<const Event> events) {
  auto done = controller_.deliver(events);
  ear_.load_changed(self_);
  return done;
}

void FederatedSite::starts(JobId id, std::int64_t job) {
  if (const Duration longer = ear_.starts(self_, job); longer > Duration{0}) engine_.prolong(id, longer);
}

void FederatedSite::makes_room(JobId beneficiary) { ear_.preempts(self_, view().job(beneficiary).spec.number); }

void FederatedSite::left(JobId id, const Job& job) {
  brought_.erase(job.spec.number);
  gate_.left(id);
  ear_.left(self_, job, engine_.meter().of_job(id));
}

void FederatedSite::queue(const Arrival& arrival) {
  const JobId id{static_cast<std::uint32_t>(engine_.arrived())};
  brought_[arrival.spec.number] = id;
  gate_.expect(id, arrival.spec.number);
  engine_.submit(arrival);
}

void FederatedSite::take_back(std::int64_t job) {
  const auto here = brought_.find(job);
  if (here == brought_.end()) return;
  gate_.revoked(here->second);
  engine_.cancel(here->second);
  brought_.erase(here);
}

void FederatedSite::lost(JobId id) {
  engine_.cancel(id);
  std::erase_if(brought_, [&](const auto& brought) { return brought.second == id; });
}

}  // namespace rota::sim
