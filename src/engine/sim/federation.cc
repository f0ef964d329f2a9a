#include "engine/sim/federation.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rota::sim {

namespace {

// A copy of a job in a race takes up to so long to reach a site: which site hears first is chance.
constexpr Duration kSlowestMessage = seconds(1);

constexpr std::int64_t kMostLooksInVain = 100'000;
constexpr Duration kRest = seconds(5'184'000);

}  // namespace

class Federation::Road final : public Carrier {
 public:
  Road(Federation& federation, SiteId to) : federation_(federation), to_(to) {}
  Duration haul(const Offer& offer, SiteId to) const override { return federation_.transfer(job(offer), to); }
  Duration longest_haul(const Offer& offer) const override {
    Duration longest{0};
    for (std::uint32_t from = 0; from < federation_.sites(); ++from) {
      for (std::uint32_t to = 0; to < federation_.sites(); ++to) {
        longest = std::max(longest, federation_.transfer(SiteId{from}, SiteId{to}, job(offer).bytes));
      }
    }
    return longest;
  }
  // A copy in a race comes without its input.
  void bring(const Offer& offer) override {
    if (federation_.options_.placing == Placing::race) return federation_.send_copy(job(offer), to_);
    federation_.send(job(offer), to_, haul(offer, to_));
  }
  void leave(std::int64_t job) override { federation_.leave(job, to_); }
  std::vector<Coming> coming() const override {
    std::vector<Coming> all;
    for (const auto& [at, arriving] : federation_.coming_) {
      const JobSpec& spec = federation_.job_of(arriving.job).arrival.spec;
      if (arriving.site == to_) all.push_back({at, spec.processors, spec.limit});
    }
    return all;
  }

 private:
  const GlobalJob& job(const Offer& offer) const { return federation_.job_of(offer.spec.number); }

  Federation& federation_;
  SiteId to_;
};

MemberRules Federation::member_rules() const {
  MemberRules rules{options_.rules};
  rules.dispatch.race = races();
  if (options_.placing == Placing::auction && options_.early) rules.fetch = Fetch::queued;
  if (options_.placing == Placing::race) rules.fetch = Fetch::started;
  rules.ahead = options_.ahead;
  rules.margin = options_.margin;
  return rules;
}

Federation::Federation(const FederationOptions& options, const Wiring& wiring, std::vector<GlobalJob> jobs)
    : options_(options),
      loop_(wiring.loop),
      terms_(wiring.terms),
      sink_(wiring.jobs),
      jobs_(std::move(jobs)),
      fates_(jobs_.size()),
      rules_(member_rules()),
      coming_processors_(options.sites.size()),
      choice_(options.placing, options.sites.size(), options.seed),
      random_(options.seed),
      traffic_(options.sites.size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) index_.emplace_back(jobs_[i].arrival.spec.number, i);
  std::sort(index_.begin(), index_.end());
  for (std::uint32_t s = 0; s < options_.sites.size(); ++s) {
    Carrier& road = *roads_.emplace_back(std::make_unique<Road>(*this, SiteId{s}));
    const FederatedSite::Parts parts{
        options_.sites[s], wiring.chain, *wiring.local[s], loop_, *this, rules_, road, *this, wiring.exchange};
    sites_.push_back(std::make_unique<FederatedSite>(SiteId{s}, parts));
  }
}

Federation::~Federation() = default;

std::size_t Federation::index_of(std::int64_t number) const {
  const auto at = std::lower_bound(index_.begin(), index_.end(), std::pair{number, std::size_t{0}});
  return at == index_.end() || at->first != number ? jobs_.size() : at->second;
}

Duration Federation::transfer(SiteId from, SiteId to, std::int64_t bytes) const {
  const Duration fixed = options_.transfer[from.value][to.value];
  if (bytes == 0 || from == to || options_.bandwidth.empty()) return fixed;
  std::int64_t slower = 0;
  for (const std::int64_t link : {options_.bandwidth[from.value], options_.bandwidth[to.value]}) {
    if (link > 0 && (slower == 0 || link < slower)) slower = link;
  }
  if (slower == 0) return fixed;
  // Whole seconds, then what is left of one, rounded up; where numbers are too large for that, up to a whole second.
  const std::int64_t remainder = bytes % slower;
  const bool large = remainder > INT64_MAX / 1000 - slower;
  const Duration part{large ? 1000 : (remainder * 1000 + slower - 1) / slower};
  return std::min(fixed + seconds(std::min(bytes / slower, kLongest.count() / 1000)) + part, kLongest);
}

std::optional<JobSpec> Federation::asked_by(SiteId site, const JobSpec& job) const {
  if (terms_) return terms_->at(site, job);
  if (job.processors > options_.sites[site.value].processors) return std::nullopt;
  return job;
}

std::vector<SiteId> Federation::able(const GlobalJob& job) const {
  std::vector<SiteId> sites;
  for (std::uint32_t s = 0; s < sites_.size(); ++s) {
    if (asked_by(SiteId{s}, job.arrival.spec)) sites.push_back(SiteId{s});
  }
  return sites;
}

bool Federation::over() const {
  if (ended_ < jobs_.size()) return false;
  return !options_.locals_too || std::all_of(sites_.begin(), sites_.end(), [](auto& site) { return site->all_gone(); });
}

bool Federation::quiet() const {
  if (next_ < jobs_.size() || !coming_.empty()) return false;
  return std::all_of(sites_.begin(), sites_.end(), [](auto& site) { return site->quiet(); });
}

bool Federation::jobs_left() const {
  if (next_ < jobs_.size() || !coming_.empty()) return true;
  return std::any_of(sites_.begin(), sites_.end(), [](auto& site) { return site->jobs_left(); });
}

bool Federation::all_idle() const {
  return claims(options_.placing) &&
         std::all_of(sites_.begin(), sites_.end(), [](auto& site) { return site->member().idle(); });
}

Result<void> Federation::health() const {
  for (const auto& site : sites_) {
    if (!site->health()) return site->health();
  }
  return {};
}

Result<void> Federation::run() {
  for (auto& site : sites_) site->open();
  if (options_.locals_too && sites_.size() > 1) {
    for (std::size_t s = 0; s < sites_.size(); ++s) sites_[s]->wake(options_.sites[s].engine.metered_from);
  }
  for (std::size_t s = 0; claims(options_.placing) && s < sites_.size(); ++s) {
    sites_[s]->member().open(options_.first_looks.empty() ? kEpoch : options_.first_looks[s]);
  }
  loop_.set(*this, jobs_.empty() ? kNever : jobs_.front().arrival.spec.submit);
  StepsInVain in_vain(kMostLooksInVain);
  Instant busy = loop_.now();
  while (!over() && !in_vain.too_many_looks() && loop_.step()) {
    if (auto done = health(); !done) return done;
    in_vain.count(!quiet(), jobs_left());
    if (in_vain.too_many_switches()) {
      for (const auto& site : sites_) {
        if (!site->view().waiting().empty()) return waits_for_ever(site->view());
      }
      break;
    }
    if (in_vain.something_happens() || !all_idle()) busy = loop_.now();
    if (loop_.now() - busy > kRest) break;  // no site does anything but renew leases
  }
  for (auto& site : sites_) site->close();
  CHECK(options_.locals_too || ended_ == jobs_.size(), "no job of the global queue is lost");
  return {};
}

void Federation::ring() {
  const Instant now = loop_.now();
  while (!coming_.empty() && coming_.begin()->first <= now) {
    const Arriving arrived = coming_.begin()->second;
    coming_.erase(coming_.begin());
    arrive(job_of(arrived.job), arrived.site);
  }
  for (; next_ < jobs_.size() && jobs_[next_].arrival.spec.submit <= now; ++next_) place(jobs_[next_]);
  Instant next = next_ < jobs_.size() ? jobs_[next_].arrival.spec.submit : kNever;
  if (!coming_.empty()) next = std::min(next, coming_.begin()->first);
  loop_.set(*this, next);
}

void Federation::arrive(const GlobalJob& job, SiteId at) {
  const std::int64_t number = job.arrival.spec.number;
  coming_processors_[at.value] -= job.arrival.spec.processors;
  if (on_offer(number)) return sites_[at.value]->member().arrived(number);
  Arrival here = job.arrival;
  here.spec = *asked_by(at, here.spec);
  sites_[at.value]->queue(here);
}

void Federation::leave(std::int64_t job, SiteId at) {
  const auto is_it = [&](const auto& coming) { return coming.second.job == job && coming.second.site == at; };
  const auto coming = std::find_if(coming_.begin(), coming_.end(), is_it);
  if (coming == coming_.end()) return;
  coming_.erase(coming);
  coming_processors_[at.value] -= job_of(job).arrival.spec.processors;
}

// Where only one site can run it there is nothing to choose.
void Federation::place(const GlobalJob& job) {
  const std::vector<SiteId> sites = able(job);
  CHECK(!sites.empty(), "a job of the global stream can run somewhere");
  if (claims(options_.placing) && sites.size() > 1) return offer(job, sites);
  if (sites.size() == 1) settled_.insert(job.arrival.spec.number);
  const auto load = [&](SiteId site) {
    const std::int64_t asked = processors_asked(sites_[site.value]->view()) + coming_processors_[site.value];
    return SiteLoad{options_.sites[site.value].processors, asked};
  };
  const SiteId chosen = sites.size() == 1 ? sites.front() : choice_.choose(sites, load);
  fate_of(job.arrival.spec.number).site = chosen;
  send(job, chosen, transfer(job, chosen));
}

void Federation::offer(const GlobalJob& job, const std::vector<SiteId>& sites) {
  const Offer offer = sites_[job.data.value]->offer(job.arrival.spec, job.data);
  if (!races()) return;
  for (const SiteId site : sites) sites_[site.value]->member().take_copy(offer);
}

void Federation::send_copy(const GlobalJob& job, SiteId to) {
  expect(job, to, loop_.now() + Duration{random_.between(0, kSlowestMessage.count())});
}

void Federation::moved(const GlobalJob& job, SiteId to, Duration took) {
  if (took == Duration{0} && (job.bytes == 0 || to == job.data)) return;
  ++totals_.transfers;
  totals_.transferred += took;
  Traffic& from = traffic_[job.data.value];
  ++from.inputs_out;
  from.bytes_out += job.bytes;
  ++traffic_[to.value].inputs_in;
  traffic_[to.value].bytes_in += job.bytes;
}

void Federation::send(const GlobalJob& job, SiteId to, Duration after) {
  moved(job, to, after);
  expect(job, to, loop_.now() + after);
}

void Federation::expect(const GlobalJob& job, SiteId at, Instant when) {
  coming_processors_[at.value] += job.arrival.spec.processors;
  coming_.emplace(when, Arriving{job.arrival.spec.number, at});
  loop_.set(*this, coming_.begin()->first);
  if (next_ < jobs_.size()) loop_.set(*this, std::min(coming_.begin()->first, jobs_[next_].arrival.spec.submit));
}

// In a race the first to start has it, and fetches the input now unless it has.
Duration Federation::starts(SiteId site, std::int64_t number) {
  Fate& fate = fate_of(number);
  if (std::exchange(fate.site, site) == site) return Duration{0};  // it gave way here and goes on
  if (options_.placing != Placing::race) return Duration{0};
  const Duration fetch = transfer(job_of(number), site);
  moved(job_of(number), site, fetch);
  return fetch;
}

void Federation::preempts(SiteId site, std::int64_t beneficiary) {
  ++totals_.preemptions;
  if (index_of(beneficiary) == jobs_.size()) return;
  preempted_at_[beneficiary].insert(site);
  if (on_offer(beneficiary) && !races()) fate_of(beneficiary).site = site;
}

void Federation::job_gone(SiteId site, const Job& job, const JobDraw& drew) {
  if (job.state == JobState::cancelled) return;
  if (sink_) sink_->job_gone(site, job, drew);
  const std::size_t index = index_of(job.spec.number);
  if (index == jobs_.size()) return;
  CHECK(job.ended(), "a job of the federation runs to its end");
  Fate& fate = fates_[index];
  CHECK(fate.end == kNever && fate.site == site, "a job of the federation runs once");
  fate.end = job.end;
  ++ended_;
  const auto at = preempted_at_.find(job.spec.number);
  if (at == preempted_at_.end()) return;
  fate.preempted_at = static_cast<std::int32_t>(at->second.size());
  totals_.vain_preemptions += fate.preempted_at - (at->second.contains(site) ? 1 : 0);
  preempted_at_.erase(at);
}

}  // namespace rota::sim
