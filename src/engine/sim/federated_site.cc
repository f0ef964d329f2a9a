#include "engine/sim/federated_site.h"

#include <utility>

namespace rota::sim {

FederatedSite::FederatedSite(SiteId self, const Parts& parts)
    : self_(self),
      ear_(parts.ear),
      loop_(parts.loop),
      engine_(engine_options(parts.options, parts.chain), parts.local, parts.loop),
      member_(self, parts.rules,
              {*this, engine_, parts.carrier, parts.directory, parts.exchange, parts.loop, parts.options.durable}),
      controller_(cluster_options(parts.options, parts.chain), parts.chain,
                  {parts.loop, member_.gate(), *this, parts.options.durable ? &member_.durable() : nullptr}) {
  for (FactObserver* observer : parts.options.observers) controller_.add_observer(*observer);
  controller_.add_observer(member_.observer());
}

FederatedSite::~FederatedSite() { loop_.set(*this, kNever); }

Offer FederatedSite::offer(const JobSpec& spec, SiteId data) {
  Offer offer = member_.next_offer(spec, data);
  static_cast<void>(controller_.record(Offered{offer}));
  return offer;
}

// Nothing is decided on it, so that no decision makes it durable.
void FederatedSite::tell(const Observed& fact) {
  told_.push_back(fact);
  loop_.set(*this, loop_.now());
}

void FederatedSite::ring() {
  for (const Observed& fact : std::exchange(told_, {})) static_cast<void>(controller_.record(fact));
  static_cast<void>(member_.durable().commit());
}

void FederatedSite::submit(const Offer& /*offer*/, const JobSpec& spec, Instant input, bool ahead) {
  handed_[spec.number] = {input, ahead};
  engine_.submit({spec, ear_.run_time(spec.number)});
}

JobId FederatedSite::submit(const JobSpec& spec, Bars /*bars*/) {
  const auto handed = handed_.extract(spec.number);
  if (!handed) return controller_.submit(spec);
  const auto [input, ahead] = handed.mapped();
  JobId id;
  if (ahead || input > loop_.now()) {
    const JobTerms terms{.limit = spec.limit, .priority = spec.priority, .partition = spec.partition, .begin = input};
    id = controller_.submit(spec, terms, kNoBars, ahead).value_or(JobId{});
  } else {
    id = controller_.submit(spec);
  }
  member_.queued(spec.number, id);
  return id;
}

Result<void> FederatedSite::decide() {
  auto done = controller_.decide();
  member_.load_changed();
  return done;
}

void FederatedSite::starts(JobId id, std::int64_t job) {
  if (const Duration longer = ear_.starts(self_, job); longer > Duration{0}) engine_.prolong(id, longer);
}

void FederatedSite::job_gone(JobId id, const Job& job) {
  ear_.job_gone(self_, job, engine_.meter().of_job(id));
  member_.job_gone(id, job.spec.number);
}

void FederatedSite::take_back(std::int64_t job, JobId id) {
  if (id.valid()) return engine_.cancel(id);
  engine_.forget_arrival(job);
  handed_.erase(job);
}

}  // namespace rota::sim
