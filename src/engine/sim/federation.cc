#include "engine/sim/federation.h"

#include <algorithm>

#include "base/check.h"

namespace rota::sim {

namespace {

// A copy of a job in a race takes up to so long to reach a site: which site hears first is chance.
constexpr Duration kSlowestMessage = seconds(1);

constexpr std::int64_t kInVain = 100'000;

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
    const GlobalJob& its = job(offer);
    Haul haul{federation_.transfer(its, self_), {}, self_ == its.data ? Duration{0} : federation_.options_.margin};
    const auto sites = static_cast<std::uint32_t>(federation_.sites_.size());
    for (std::uint32_t from = 0; from < sites; ++from) {
      for (std::uint32_t to = 0; to < sites; ++to) {
        haul.longest = std::max(haul.longest, federation_.transfer(SiteId{from}, SiteId{to}, its.bytes));
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
    const GlobalJob& its = job(offer);
    std::vector<Duration> all(federation_.sites_.size(), kLongest);
    for (const SiteId site : federation_.able(its)) all[site.value] = federation_.transfer(its, site);
    return all;
  }
  void take(const Offer& offer) override {
    const GlobalJob& won = job(offer);
    federation_.send(won, self_, federation_.transfer(won, self_));
  }
  void give_up(std::int64_t job) override { federation_.sites_[self_.value]->take_back(job); }

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
      random_(options.seed),
      traffic_(options.sites.size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) index_.emplace_back(jobs_[i].arrival.spec.number, i);
  std::sort(index_.begin(), index_.end());
  for (std::uint32_t s = 0; s < options_.sites.size(); ++s) {
    const FederatedSite::Parts parts{options_.sites[s], wiring.chain, *wiring.local[s], loop_, *this};
    sites_.push_back(std::make_unique<FederatedSite>(SiteId{s}, parts));
    faces_.push_back(std::make_unique<Face>(*this, SiteId{s}));
    exchange_.lease(SiteId{s}, kLongest);
    if (options_.placing != Placing::auction) continue;
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
  const std::int64_t rest = bytes % slower;
  const bool large = rest > INT64_MAX / 1000 - slower;
  const Duration part{large ? 1000 : (rest * 1000 + slower - 1) / slower};
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

Result<void> Federation::failure() const {
  if (!failure_) return failure_;
  for (const auto& site : sites_) {
    if (!site->failure()) return site->failure();
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
  std::int64_t in_vain = 0;  // steps in a row while nothing was left to happen by itself
  while (!over() && in_vain <= kInVain && loop_.step()) {
    if (auto done = failure(); !done) return done;
    in_vain = quiet() ? in_vain + 1 : 0;
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
    const GlobalJob& job = job_of(arrived.job);
    coming_processors_[arrived.site.value] -= job.arrival.spec.processors;
    const bool late = races() && fate_of(arrived.job).site.valid();  // it has started elsewhere meanwhile
    if (late) continue;
    Arrival here = job.arrival;
    here.spec = *asked_at(arrived.site, here.spec);
    if (options_.placing == Placing::race) here.spec.limit += transfer(job, arrived.site);  // it fetches its input then
    sites_[arrived.site.value]->queue(here);
    if (!dispatchers_.empty()) dispatchers_[arrived.site.value]->queued(arrived.job);
  }
  for (; next_ < jobs_.size() && jobs_[next_].arrival.spec.submit <= now; ++next_) {
    if (failure_) failure_ = place(jobs_[next_]);
  }
  Instant next = next_ < jobs_.size() ? jobs_[next_].arrival.spec.submit : kNever;
  if (!coming_.empty()) next = std::min(next, coming_.begin()->first);
  loop_.set(*this, next);
}

// Where only one site can run it there is nothing to choose.
Result<void> Federation::place(const GlobalJob& job) {
  const std::vector<SiteId> sites = able(job);
  CHECK(!sites.empty(), "a job of the global stream can run somewhere");
  const bool claimed = options_.placing == Placing::auction || races();
  if (claimed && sites.size() > 1) {
    if (auto done = exchange_.offer({job.arrival.spec, job.data, job.data, loop_.now()}); !done) return done;
  } else if (sites.size() == 1) {
    settled_.insert(job.arrival.spec.number);
    send(job, sites.front(), transfer(job, sites.front()));
    return {};
  }
  SiteId chosen;
  switch (options_.placing) {
    case Placing::auction:
      return {};
    case Placing::race:
    case Placing::staged_race:
      place_copies(job, sites);
      return {};
    case Placing::random:
      turn_ = static_cast<std::uint32_t>(random_.between(0, static_cast<std::int64_t>(sites_.size()) - 1));
      [[fallthrough]];
    case Placing::round_robin:
      chosen = next_in_turn(sites);
      break;
    case Placing::least_loaded:
      chosen = least_loaded(sites);
      break;
  }
  send(job, chosen, transfer(job, chosen));
  return {};
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

SiteId Federation::next_in_turn(const std::vector<SiteId>& sites) {
  for (;;) {
    const SiteId site{turn_++ % static_cast<std::uint32_t>(sites_.size())};
    if (std::find(sites.begin(), sites.end(), site) != sites.end()) return site;
  }
}

SiteId Federation::least_loaded(const std::vector<SiteId>& sites) const {
  SiteId best;
  std::int64_t best_load = 0;
  const auto size_of = [&](SiteId site) { return options_.sites[site.value].processors; };
  for (const SiteId s : sites) {
    const View& view = sites_[s.value]->view();
    std::int64_t load = view.running().processors() + coming_processors_[s.value];
    const auto add = [&](const WaitingEntry& e) { return load += e.processors, true; };
    if (view.options().waiting.by_queue) {
      view.waiting().for_each_in_queue_order(add);
    } else {
      for (const WaitingEntry* e = view.waiting().head(); e; e = view.waiting().next(e->place)) add(*e);
    }
    const bool less = !best.valid() || load * size_of(best) < best_load * size_of(s);
    if (!less) continue;
    best = s;
    best_load = load;
  }
  return best;
}

void Federation::load_changed(SiteId site) {
  if (!dispatchers_.empty()) dispatchers_[site.value]->load_changed();
}

// In a race the first to start has it, and fetches the input now unless it has.
std::optional<Duration> Federation::may_start(SiteId site, std::int64_t number) {
  Fate& fate = fate_of(number);
  if (fate.site == site) return Duration{0};  // it gave way here and goes on
  if (settled_.contains(number)) {            // nobody else can run it
    fate.site = site;
    return Duration{0};
  }
  if (!races()) {
    if (!dispatchers_.empty() && !dispatchers_[site.value]->may_start(number)) return std::nullopt;
    fate.site = site;
    return Duration{0};
  }
  if (!exchange_.claim(number, site) || !exchange_.settle(number, site)) return std::nullopt;
  fate.site = site;
  for (std::uint32_t s = 0; s < sites_.size(); ++s) {
    if (SiteId{s} != site) sites_[s]->take_back(number);
  }
  const Duration fetch = transfer(job_of(number), site);
  if (options_.placing == Placing::staged_race) return Duration{0};
  moved(job_of(number), site, fetch);
  return fetch;
}

// Whoever makes room for a job that is still on offer claims it before, so that nobody makes room in vain.
void Federation::preempts(SiteId site, std::int64_t beneficiary) {
  ++totals_.preemptions;
  if (index_of(beneficiary) == jobs_.size()) return;
  preempted_at_[beneficiary].insert(site);
  Fate& fate = fate_of(beneficiary);
  const bool claims = !dispatchers_.empty() && !fate.site.valid() && !settled_.contains(beneficiary);
  if (claims && dispatchers_[site.value]->may_start(beneficiary)) fate.site = site;
}

void Federation::left(SiteId site, const Job& job, const JobDraw& drew) {
  if (job.state == JobState::cancelled) return;
  if (sink_) sink_->left(site, job, drew);
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
