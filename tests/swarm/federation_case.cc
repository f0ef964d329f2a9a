#include "swarm/federation_case.h"

#include <algorithm>
#include <sstream>

#include "base/random.h"
#include "model/never_fits.h"

namespace rota::swarm {
namespace {

constexpr std::int64_t kSpan = 4000;         // seconds in which things happen
constexpr std::int64_t kFirstNumber = 1001;  // of jobs for all sites

GlobalJob any_job(Random& random, const FederationCase& drawn) {
  GlobalJob global;
  const std::int64_t last = static_cast<std::int64_t>(drawn.sites.size()) - 1;
  global.home = static_cast<std::uint32_t>(random.between(0, last));
  JobSpec& spec = global.job.spec;
  spec.number = kFirstNumber + static_cast<std::int64_t>(drawn.jobs.size());
  spec.submit = at_seconds(random.between(0, kSpan / 2));
  const std::int64_t most = drawn.sites[static_cast<std::size_t>(random.between(0, last))].machine.processors;
  spec.processors = static_cast<std::uint32_t>(random.between(1, random.chance(0.7) ? (most + 1) / 2 : most));
  const std::int64_t run = random.between(1, random.chance(0.7) ? 200 : 900);
  global.job.run_time = seconds(run);
  spec.limit = seconds(std::max<std::int64_t>(run + random.between(random.chance(0.3) ? -run / 2 : 0, 300), 1));
  spec.priority = random.chance(0.3) ? static_cast<std::int32_t>(random.between(-1, 2)) : 0;
  spec.restart = static_cast<Restart>(random.between(0, 2));
  return global;
}

DispatchRules any_rules(Random& random) {
  DispatchRules rules;
  rules.auction.length = seconds(random.between(1, random.chance(0.5) ? 10 : 200));
  rules.auction.close = static_cast<Close>(random.between(0, 2));
  rules.look = random.chance(0.5) ? Duration{0} : seconds(random.between(1, 200));
  rules.second_thoughts = random.chance(0.5);
  rules.bids_again = rules.second_thoughts ? seconds(random.between(0, 60)) : Duration{0};
  if (rules.second_thoughts || random.chance(0.3)) rules.bid.valuation = Valuation::by_plan;
  rules.race = random.chance(0.25);
  rules.lease = seconds(random.between(60, 600));
  rules.patience = seconds(random.between(3, 60));
  return rules;
}

// Sites wait for each other: from a generator of its own. Only bids as published have prices that a minimum is for.
void draw_published_rules(Random& random, DispatchRules& rules) {
  if (random.chance(0.3)) rules.join = Joining::freed;
  if (random.chance(0.4)) rules.auction.buyers = static_cast<std::size_t>(random.between(2, 4));
  const bool published = rules.bid.valuation == Valuation::published;
  if (published && random.chance(0.4)) rules.auction.minimum = random.chance(0.5) ? 0 : 300'000'000;
}

Faults any_faults(Random& random) {
  Faults faults;
  if (random.chance(0.2)) return faults;
  const auto some = [&](double most) { return random.chance(0.5) ? random.uniform(0, most) : 0.0; };
  faults.request_lost = some(0.3);
  faults.request_doubled = some(0.3);
  faults.refusal_lost = some(0.5);
  faults.refusal_doubled = some(0.3);
  faults.change_doubled = some(0.2);
  faults.stream_broken = some(0.05);
  faults.delay = Duration{random.chance(0.3) ? 0 : random.between(1, random.chance(0.5) ? 3'000 : 60'000)};
  faults.reconnect = seconds(random.between(1, 30));
  return faults;
}

}  // namespace

bool fits(const Case& site, const JobSpec& spec) {
  if (site.counted) return spec.processors <= site.machine.processors;
  return !never_fits(site.machine, spec);
}

FederationCase draw_federation(std::uint64_t seed) {
  Random random(seed ^ 0xfede7a7eU);
  FederationCase drawn;
  drawn.seed = seed;
  drawn.heals_at = kSpan + random.between(0, 500);
  const std::int64_t sites = random.between(2, 3);
  for (std::int64_t i = 0; i < sites; ++i) {
    Case& site = drawn.sites.emplace_back(draw_case(random.bits()));
    site.heals_at = drawn.heals_at;
    site.jobs.resize(static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(site.jobs.size()) / 2)));
    for (std::int64_t left = random.between(0, 6); left > 0; --left) {
      const std::int64_t away = random.chance(0.7) ? random.between(0, 5) : random.between(0, 300);
      site.crashes.push_back({CrashPoint::Where::request, random.between(1, 150), away});
    }
    Random outbox(seed ^ 0x0b0cU ^ static_cast<std::uint64_t>(i) << 32U);
    for (std::int64_t left = outbox.between(0, 6); left > 0; --left) {
      const std::int64_t away = outbox.chance(0.7) ? outbox.between(0, 5) : outbox.between(0, 300);
      site.crashes.push_back({CrashPoint::Where::before_request, outbox.between(1, 150), away});
    }
    for (CaseJob& job : site.jobs) run_within(job.spec, {});  // other sites have other reservations
    std::erase_if(site.acts, [&](const UserAct& act) { return act.job > static_cast<std::int64_t>(site.jobs.size()); });
  }
  const auto fits_somewhere = [&](const GlobalJob& global) {
    return std::any_of(drawn.sites.begin(), drawn.sites.end(),
                       [&](const Case& site) { return fits(site, global.job.spec); });
  };
  for (std::int64_t i = random.between(1, 30); i > 0; --i) {
    GlobalJob global = any_job(random, drawn);
    while (!fits_somewhere(global)) global = any_job(random, drawn);
    drawn.jobs.push_back(global);
  }
  for (std::int64_t i = random.chance(0.3) ? 0 : random.between(1, 6); i > 0; --i) {
    const std::int64_t from = random.between(0, kSpan);
    drawn.partitions.push_back(
        {from, from + random.between(1, 1500), static_cast<std::uint32_t>(random.between(0, sites - 1))});
  }
  for (std::int64_t i = random.between(0, 4); i > 0; --i) {
    const auto last = kFirstNumber + static_cast<std::int64_t>(drawn.jobs.size()) - 1;
    drawn.cancels.push_back({random.between(0, kSpan), random.between(kFirstNumber, last)});
  }
  drawn.rules = any_rules(random);
  Random published(seed ^ 0xb1d5U);
  draw_published_rules(published, drawn.rules);
  drawn.ahead = published.chance(0.3);
  drawn.transfer = seconds(random.chance(0.3) ? 0 : random.between(1, 100));
  drawn.faults = any_faults(random);
  return drawn;
}

std::string told(const FederationCase& drawn) {
  std::ostringstream out;
  const auto in_seconds = [](Duration d) { return d.count() / 1000; };
  const DispatchRules& r = drawn.rules;
  out << "federation of seed " << drawn.seed << ", " << (r.race ? "races" : "auctions") << " of "
      << in_seconds(r.auction.length) << " s, closed by rule " << static_cast<int>(r.auction.close) << ", looks every "
      << in_seconds(r.look) << " s" << (r.second_thoughts ? ", second thoughts" : "") << " every "
      << in_seconds(r.bids_again) << " s, " << (r.join == Joining::freed ? "joins when freed, " : "")
      << r.auction.buyers << " buyers, " << (r.auction.minimum == kAnyPrice ? "no" : std::to_string(r.auction.minimum))
      << " minimum, " << (drawn.ahead ? "won jobs go ahead, " : "") << "lease " << in_seconds(r.lease)
      << " s, patience " << in_seconds(r.patience) << " s, transfer " << in_seconds(drawn.transfer) << " s\n";
  const Faults& f = drawn.faults;
  out << "  requests lost " << f.request_lost << " doubled " << f.request_doubled << ", refusals lost "
      << f.refusal_lost << " doubled " << f.refusal_doubled << ", changes doubled " << f.change_doubled
      << ", streams broken " << f.stream_broken << ", delay up to " << in_seconds(f.delay) << " s\n";
  for (const GlobalJob& g : drawn.jobs) {
    const JobSpec& spec = g.job.spec;
    out << "  job " << spec.number << " at site " << g.home << ": at " << in_seconds(spec.submit.time_since_epoch())
        << ", " << spec.processors << " processors, limit " << in_seconds(spec.limit) << ", runs "
        << in_seconds(g.job.run_time) << ", priority " << spec.priority << ", restart "
        << static_cast<int>(spec.restart) << "\n";
  }
  for (const GlobalCancel& cancel : drawn.cancels)
    out << "  job " << cancel.job << " is cancelled at " << cancel.at << "\n";
  for (const Partition& p : drawn.partitions) {
    out << "  site " << p.site << " is cut off from " << p.from << " to " << p.to << "\n";
  }
  for (const Case& site : drawn.sites) out << told(site);
  return out.str();
}

}  // namespace rota::swarm
