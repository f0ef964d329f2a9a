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

// What a dispatcher sees of its site.
class Federation::Face final : public Site {
 public:
  Face(Federation& federation, SiteId self) : federation_(federation), self_(self) {}
  const View& view() const override { return federation_.sites_[self_.value]->view(); }
  std::optional<JobSpec> asked_here(const Offer& offer) const override {
    return federation_.asked_at(self_, job(offer).arrival.spec);
  }
  Haul haul(const Offer& offer) const override {
    const GlobalJob& offered = job(offer);
    Haul haul{
        federation_.transfer(offered, self_), {}, self_ == offered.data ? Duration{0} : federation_.options_.margin};
    const auto sites = static_cast<std::uint32_t>(federation_.sites_.size());
    for (std::uint32_t from = 0; from < sites; ++from) {
      for (std::uint32_t to = 0; to < sites; ++to) {
        haul.longest = std::max(haul.longest, federation_.transfer(SiteId{from}, SiteId{to}, offered.bytes));
      }
    }
    return haul;
  }
  std::vector<Coming> coming() const override {
    std::vector<Coming> all;
    for (const auto& [at, arriving] : federation_.coming_) {
      const JobSpec& spec = federation_.job_of(arriving.job).arrival.spec;
      if (arriving.site == self_) all.push_back({at, spec.processors, spec.limit});
    }
    return all;
  }
  std::vector<Duration> soonest(const Offer& offer) const override {
    const GlobalJob& offered = job(offer);
    std::vector<Duration> all(federation_.sites_.size(), kLongest);
    for (const SiteId site : federation_.able(offered)) all[site.value] = federation_.transfer(offered, site);
    return all;
  }
  void take(const Offer& offer) override {
    const GlobalJob& won = job(offer);
    const Duration took = federation_.transfer(won, self_);
    if (federation_.options_.early) federation_.hand_over(won, self_, federation_.loop_.now() + took);
    federation_.send(won, self_, took);
  }
  bool has(std::int64_t job) const override {
    if (federation_.sites_[self_.value]->has(job)) return true;
    if (const SiteId ran_at = federation_.fates_[federation_.index_of(job)].site; ran_at == self_) return true;
    return std::any_of(federation_.coming_.begin(), federation_.coming_.end(),
                       [&](const auto& coming) { return coming.second.job == job && coming.second.site == self_; });
  }
  void give_up(std::int64_t job) override { federation_.sites_[self_.value]->take_back(job); }
  void answered(std::int64_t job, bool ours) override { federation_.sites_[self_.value]->answered(job, ours); }

 private:
  const GlobalJob& job(const Offer& offer) const { return federation_.job_of(offer.spec.number); }

  Federation& federation_;
  SiteId self_;
};

Federation::Federation(const FederationOptions& options, const Wiring& wiring, std::vector<GlobalJob> jobs)
    : options_(options),
      loop_(wiring.loop),
      exchange_(wiring.exchange),
      terms_(wiring.terms),
      sink_(wiring.jobs),
      jobs_(std::move(jobs)),
      fates_(jobs_.size()),
      coming_processors_(options.sites.size()),
      offered_(options.sites.size()),
      choice_(options.placing, options.sites.size(), options.seed),
      random_(options.seed),
      traffic_(options.sites.size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) index_.emplace_back(jobs_[i].arrival.spec.number, i);
  std::sort(index_.begin(), index_.end());
  for (std::uint32_t s = 0; s < options_.sites.size(); ++s) {
    const FederatedSite::Parts parts{options_.sites[s], wiring.chain, *wiring.local[s], loop_, *this};
    sites_.push_back(std::make_unique<FederatedSite>(SiteId{s}, parts));
    faces_.push_back(std::make_unique<Face>(*this, SiteId{s}));
    if (!claims(options_.placing)) continue;
    options_.rules.race = races();
    dispatchers_.push_back(std::make_unique<Dispatcher>(SiteId{s}, options_.rules, *faces_.back(), exchange_, loop_));
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

std::optional<JobSpec> Federation::asked_at(SiteId site, const JobSpec& job) const {
  if (terms_) return terms_->at(site, job);
  if (job.processors > options_.sites[site.value].processors) return std::nullopt;
  return job;
}

std::vector<SiteId> Federation::able(const GlobalJob& job) const {
  std::vector<SiteId> sites;
  for (std::uint32_t s = 0; s < sites_.size(); ++s) {
    if (asked_at(SiteId{s}, job.arrival.spec)) sites.push_back(SiteId{s});
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
  return !dispatchers_.empty() &&
         std::all_of(dispatchers_.begin(), dispatchers_.end(), [](auto& d) { return d->idle(); });
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
  for (std::size_t s = 0; s < dispatchers_.size(); ++s) {
    dispatchers_[s]->open(options_.first_looks.empty() ? kEpoch : options_.first_looks[s]);
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
    if (loop_.now() - busy > kRest) break;  // nobody does anything but to renew leases
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
  const bool on_offer = !dispatchers_.empty() && !settled_.contains(number);
  coming_processors_[at.value] -= job.arrival.spec.processors;
  if (on_offer && races() && !dispatchers_[at.value]->queued(number)) return;  // it has started elsewhere meanwhile
  Arrival here = job.arrival;
  here.spec = *asked_at(at, here.spec);
  // Its processors are held for its limit, and for as long as it fetches its input on them.
  if (options_.placing == Placing::race && on_offer)
    here.spec.limit = std::min(here.spec.limit + transfer(job, at), kLongest);
  const bool won = on_offer && !races();
  if (!won || !options_.early) sites_[at.value]->queue(here, {kEpoch, won && options_.ahead});
  if (won) dispatchers_[at.value]->queued(number);
}

// It has its place in the queue while its input is brought.
void Federation::hand_over(const GlobalJob& job, SiteId to, Instant input) {
  Arrival here = job.arrival;
  here.spec = *asked_at(to, here.spec);
  sites_[to.value]->queue(here, {input, options_.ahead});
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
  send(job, chosen, transfer(job, chosen));
}

void Federation::offer(const GlobalJob& job, const std::vector<SiteId>& sites) {
  const Offer offer{job.arrival.spec, job.data, job.data, loop_.now(), ++offered_[job.data.value]};
  if (races()) {
    for (const SiteId site : sites) dispatchers_[site.value]->stands_by(offer);
  }
  dispatchers_[job.data.value]->offer(offer);
  if (races()) place_copies(job, sites);
}

void Federation::place_copies(const GlobalJob& job, const std::vector<SiteId>& sites) {
  for (const SiteId site : sites) {
    if (options_.placing == Placing::staged_race) {
      send(job, site, transfer(job, site));
    } else {
      expect(job, site, loop_.now() + Duration{random_.between(0, kSlowestMessage.count())});
    }
  }
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

void Federation::load_changed(SiteId site) {
  if (!dispatchers_.empty()) dispatchers_[site.value]->load_changed();
}

// Whoever makes room for a job that is still on offer claims it before, so that nobody makes room in vain; not in a
// race, whose sites know nothing of each other before one of them starts it.
StartAnswer Federation::claim(SiteId site, std::int64_t number, bool to_start) {
  const bool sure = dispatchers_.empty() || settled_.contains(number) || fate_of(number).site == site;
  if (sure || (races() && !to_start)) return StartAnswer::ours;
  return dispatchers_[site.value]->claim(number);
}

// In a race the first to start has it, and fetches the input now unless it has.
Duration Federation::starts(SiteId site, std::int64_t number) {
  Fate& fate = fate_of(number);
  if (std::exchange(fate.site, site) == site) return Duration{0};  // it gave way here and goes on
  if (options_.placing != Placing::race || settled_.contains(number)) return Duration{0};
  const Duration fetch = transfer(job_of(number), site);
  moved(job_of(number), site, fetch);
  return fetch;
}

void Federation::preempts(SiteId site, std::int64_t beneficiary) {
  ++totals_.preemptions;
  if (index_of(beneficiary) == jobs_.size()) return;
  preempted_at_[beneficiary].insert(site);
  const bool claimed = !dispatchers_.empty() && !races() && !settled_.contains(beneficiary);
  if (claimed) fate_of(beneficiary).site = site;
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
  if (!dispatchers_.empty() && !settled_.contains(job.spec.number)) dispatchers_[site.value]->ended(job.spec.number);
  const auto at = preempted_at_.find(job.spec.number);
  if (at == preempted_at_.end()) return;
  fate.preempted_at = static_cast<std::int32_t>(at->second.size());
  totals_.vain_preemptions += fate.preempted_at - (at->second.contains(site) ? 1 : 0);
  preempted_at_.erase(at);
}

}  // namespace rota::sim
