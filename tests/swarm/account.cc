#include "swarm/account.h"

#include <fmt/core.h>

#include <variant>

namespace rota::swarm {
namespace {

std::string named(std::int64_t number) { return fmt::format("job {} of the federation", number); }

bool ran_to_its_end(const sim::RunLedger::Run& run) {
  const auto* finished = run.end && !run.runs ? std::get_if<Finished>(&*run.end) : nullptr;
  return finished && finished->outcome != Outcome::node_failed;
}

}  // namespace

Account::Account(const FederationCase& drawn) {
  for (const GlobalJob& job : drawn.jobs) jobs_[job.job.spec.number] = &job;
}

const GlobalJob* Account::find(std::int64_t number) const {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : found->second;
}

void Account::takes_in(const Offer& offer) {
  ++travels_.submitted;
  offers_[offer.spec.number] = offer;
}

const Offer* Account::offer(std::int64_t number) const {
  const auto found = offers_.find(number);
  return found == offers_.end() ? nullptr : &found->second;
}

void Account::ended(std::int64_t number, SiteId at) {
  expect(ended_.emplace(number, at).second, named(number) + " has ended twice");
  if (at.value != jobs_.at(number)->home) ++travels_.away;
}

void Account::given_up(std::int64_t number, const sim::RunLedger& world, JobId id) {
  ++travels_.given_up;
  const auto found = world.all().find(id);
  const bool never_ran = found == world.all().end() || (!found->second.runs && !ran_to_its_end(found->second));
  expect(never_ran, named(number) + " is given up by a site where it has started");
}

void Account::look(SiteId site, const Safety& safety, const sim::RunLedger& world) {
  for (const auto& [id, run] : world.all()) {
    const std::int64_t number = safety.number_of(id);
    if (!jobs_.contains(number)) continue;
    if (run.runs) {
      expect(runs_.emplace(number, site).second, named(number) + " runs at two sites");
      const auto done = completed_.find(number);
      expect(done == completed_.end(), named(number) + " runs and has run to its end");
    } else if (ran_to_its_end(run)) {
      expect(completed_.emplace(number, site).first->second == site,
             named(number) + " has run to its end at two sites");
    }
  }
}

std::string Account::missing() const {
  std::string list;
  for (const auto& [number, job] : jobs_) {
    if (ended_.contains(number)) continue;
    list += fmt::format(" {}{}", number, offers_.contains(number) ? "" : " (never taken in)");
  }
  return list;
}

}  // namespace rota::swarm
