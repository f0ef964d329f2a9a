#include "engine/sim/federation.h"

#include <algorithm>

#include "base/check.h"

namespace rota::sim {

namespace {

// A copy of a job in a race takes up to so long to reach a site: which site hears first is chance.
constexpr Duration kSlowestMessage = seconds(1);

}  // namespace

// What a dispatcher sees of its site.
class Federation::Face final : public Site {
 public:
  Face(Federation& federation, SiteId self) : federation_(federation), self_(self) {
    for (const auto& row : federation.options_.transfer) {
      longest_ = std::max(longest_, *std::max_element(row.begin(), row.end()));
    }
  }
  const View& view() const override { return federation_.sites_[self_.value]->view(); }
  Haul haul(const Offer& offer) const override { return {row(offer)[self_.value], longest_, Duration{0}}; }
  std::vector<Duration> soonest(const Offer& offer) const override { return row(offer); }
  void take(const Offer& offer) override {
    const GlobalJob& job = federation_.job_of(offer.spec.number);
    federation_.send(job, self_, federation_.transfer(job, self_));
  }
  void give_up(std::int64_t job) override { federation_.sites_[self_.value]->take_back(job); }

 private:
  const std::vector<Duration>& row(const Offer& offer) const { return federation_.options_.transfer[offer.data.value]; }

  Federation& federation_;
  SiteId self_;
  Duration longest_{0};
};

Federation::Federation(const FederationOptions& options, const Wiring& wiring, std::vector<GlobalJob> jobs)
    : options_(options),
      loop_(wiring.loop),
      exchange_(wiring.exchange),
      jobs_(std::move(jobs)),
      fates_(jobs_.size()),
      coming_processors_(options.processors.size()),
      random_(options.seed) {
  for (std::uint32_t s = 0; s < options_.processors.size(); ++s) {
    const FederatedSite::Parts parts{options_.processors[s], wiring.chain, *wiring.local[s], loop_, *this};
    sites_.push_back(std::make_unique<FederatedSite>(SiteId{s}, parts));
    faces_.push_back(std::make_unique<Face>(*this, SiteId{s}));
    exchange_.lease(SiteId{s}, kLongest);
    if (options_.placing != Placing::auction) continue;
    dispatchers_.push_back(std::make_unique<Dispatcher>(SiteId{s}, options_.rules, *faces_.back(), exchange_, loop_));
  }
}

Federation::~Federation() = default;

Result<void> Federation::run() {
  for (auto& site : sites_) site->open();
  for (std::size_t s = 0; s < dispatchers_.size(); ++s) {
    dispatchers_[s]->open(options_.first_looks.empty() ? kEpoch : options_.first_looks[s]);
  }
  loop_.set(*this, jobs_.empty() ? kNever : jobs_.front().arrival.spec.submit);
  while (ended_ < jobs_.size() && loop_.step()) {
    if (!failure_) return failure_;
    for (const auto& site : sites_) {
      if (!site->failure()) return site->failure();
    }
  }
  CHECK(ended_ == jobs_.size(), "no job of the global queue is lost");
  return {};
}

void Federation::ring() {
  const Instant now = loop_.now();
  while (!coming_.empty() && coming_.begin()->first <= now) {
    const Coming arrived = coming_.begin()->second;
    coming_.erase(coming_.begin());
    const GlobalJob& job = job_of(arrived.job);
    coming_processors_[arrived.site.value] -= job.arrival.spec.processors;
    const bool late = races() && fate_of(arrived.job).site.valid();  // it has started elsewhere meanwhile
    if (late) continue;
    sites_[arrived.site.value]->queue(job.arrival);
    if (!dispatchers_.empty()) dispatchers_[arrived.site.value]->queued(arrived.job);
  }
  for (; next_ < jobs_.size() && jobs_[next_].arrival.spec.submit <= now; ++next_) {
    if (failure_) failure_ = place(jobs_[next_]);
  }
  Instant next = next_ < jobs_.size() ? jobs_[next_].arrival.spec.submit : kNever;
  if (!coming_.empty()) next = std::min(next, coming_.begin()->first);
  loop_.set(*this, next);
}

Result<void> Federation::place(const GlobalJob& job) {
  const auto sites = static_cast<std::uint32_t>(sites_.size());
  if (options_.placing == Placing::auction || races()) {
    if (auto done = exchange_.offer({job.arrival.spec, job.data, job.data, loop_.now()}); !done) return done;
  }
  switch (options_.placing) {
    case Placing::auction:
      break;
    case Placing::random:
      turn_ = static_cast<std::uint32_t>(random_.between(0, sites - 1));
      [[fallthrough]];
    case Placing::round_robin: {
      const SiteId site = next_large_enough(job);
      send(job, site, transfer(job, site));
      break;
    }
    case Placing::least_loaded: {
      const SiteId site = least_loaded(job);
      send(job, site, transfer(job, site));
      break;
    }
    case Placing::race:
    case Placing::staged_race:
      for (std::uint32_t s = 0; s < sites; ++s) {
        if (options_.placing == Placing::staged_race) {
          send(job, SiteId{s}, transfer(job, SiteId{s}));
        } else {
          expect(job, SiteId{s}, loop_.now() + Duration{random_.between(0, kSlowestMessage.count())});
        }
      }
      break;
  }
  return {};
}

void Federation::send(const GlobalJob& job, SiteId to, Duration after) {
  if (after > Duration{0}) {
    ++totals_.transfers;
    totals_.transferred += after;
  }
  expect(job, to, loop_.now() + after);
}

void Federation::expect(const GlobalJob& job, SiteId at, Instant when) {
  coming_processors_[at.value] += job.arrival.spec.processors;
  coming_.emplace(when, Coming{job.arrival.spec.number, at});
  loop_.set(*this, coming_.begin()->first);
  if (next_ < jobs_.size()) loop_.set(*this, std::min(coming_.begin()->first, jobs_[next_].arrival.spec.submit));
}

SiteId Federation::next_large_enough(const GlobalJob& job) {
  for (;;) {
    const SiteId site{turn_++ % static_cast<std::uint32_t>(sites_.size())};
    if (options_.processors[site.value] >= job.arrival.spec.processors) return site;
  }
}

SiteId Federation::least_loaded(const GlobalJob& job) const {
  SiteId best;
  std::int64_t best_load = 0;
  for (std::uint32_t s = 0; s < sites_.size(); ++s) {
    const std::int64_t size = options_.processors[s];
    if (size < job.arrival.spec.processors) continue;
    const View& view = sites_[s]->view();
    std::int64_t load = size - view.free() + coming_processors_[s];
    for (const WaitingEntry* e = view.waiting().head(); e; e = view.waiting().next(e->place)) load += e->processors;
    const bool less = !best.valid() || load * options_.processors[best.value] < best_load * size;
    if (!less) continue;
    best = SiteId{s};
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
  if (options_.placing == Placing::staged_race || fetch == Duration{0}) return Duration{0};
  ++totals_.transfers;
  totals_.transferred += fetch;
  return fetch;
}

// Whoever makes room for a job that is still on offer claims it before, so that nobody makes room in vain.
void Federation::preempts(SiteId site, std::int64_t beneficiary) {
  ++totals_.preemptions;
  if (beneficiary <= 0) return;
  preempted_at_[beneficiary].insert(site);
  Fate& fate = fate_of(beneficiary);
  const bool claims = !dispatchers_.empty() && !fate.site.valid();
  if (claims && dispatchers_[site.value]->may_start(beneficiary)) fate.site = site;
}

void Federation::left(SiteId site, const Job& job) {
  if (job.spec.number <= 0 || job.state == JobState::cancelled) return;
  CHECK(job.state == JobState::completed, "a job of the federation runs to its end");
  Fate& fate = fate_of(job.spec.number);
  CHECK(fate.end == kNever && fate.site == site, "a job of the federation runs once");
  fate.end = job.end;
  ++ended_;
  const std::set<SiteId>& at = preempted_at_[job.spec.number];
  fate.preempted_at = static_cast<std::int32_t>(at.size());
  totals_.vain_preemptions += fate.preempted_at - (at.contains(site) ? 1 : 0);
}

}  // namespace rota::sim
