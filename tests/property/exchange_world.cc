#include "exchange_world.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

namespace rota::faults {

bool LawKeeper::lives(SiteId site, Epoch epoch) const {
  const auto found = epochs_.find(site);
  return found != epochs_.end() && found->second == epoch;
}

void LawKeeper::law(bool holds, const char* what, const Change& change) {
  if (holds) return;
  broken_.push_back(
      fmt::format("{}: job {}, site {}, revision {}", what, change.job, change.site.value, change.revision));
}

void LawKeeper::hear(const Change& c) {
  using enum Change::Kind;
  hash_.mix(static_cast<std::uint64_t>(c.kind) << 48U ^ static_cast<std::uint64_t>(c.job) << 16U ^ c.site.value);
  law(c.revision == ++revision_, "changes are told one after the other", c);
  Job& job = jobs_[c.job];
  const bool claim_stands = job.claim_epoch != 0 && lives(job.claimant, job.claim_epoch);
  switch (c.kind) {
    case joined:
      law(c.epoch == c.revision, "an epoch is named by its revision", c);
      epochs_[c.site] = c.epoch;
      return;
    case gone:
      law(lives(c.site, c.epoch), "an epoch is over once", c);
      epochs_.erase(c.site);
      return;
    case offered:
      law(++job.offered == 1 && c.offer->serial > last_[c.offer->home], "a job is offered once", c);
      last_[c.offer->home] = c.offer->serial;
      job.on_offer = true;
      return;
    case bid:
      law(job.on_offer && !claim_stands, "bids are on open jobs", c);
      law(lives(c.site, c.epoch), "bids are of sites that live", c);
      return;
    case claimed:
      law(job.on_offer && !job.owner.valid(), "a job on offer is claimed", c);
      law(!claim_stands, "one claim stands", c);
      law(lives(c.site, c.epoch), "claims are for sites that live", c);
      job.claimant = c.site;
      job.claim_epoch = c.epoch;
      return;
    case settled:
      law(job.on_offer && claim_stands && job.claimant == c.site, "who settles has a claim that stands", c);
      job.on_offer = false;
      job.owner = c.site;
      job.claim_epoch = 0;
      return;
    case put_back:
      law(job.owner == c.site && !job.on_offer, "its owner puts it back", c);
      job.on_offer = true;
      job.owner = {};
      return;
    case ended:
      law(job.owner == c.site, "its owner ends it", c);
      job.owner = {};
      return;
    case forfeited:
      law(job.owner == c.site && !epochs_.contains(c.site), "what a dead site owns is forfeited", c);
      job.on_offer = true;
      job.owner = {};
      return;
    case cancelled:
      law(job.owner.valid() && job.owner != c.site, "a home cancels what another site has", c);
      return;
    case withdrawn:
    case noted:
      return;
    default:
      law(false, "nobody who was there all the time must resync", c);
  }
}

namespace {

constexpr Instant kHealed = at_seconds(240);
constexpr Instant kOver = at_seconds(1500);
constexpr Duration kLease = seconds(20);

class World;

// A site: its journal, its queue, and while it lives its dispatcher.
class FaultySite final : public Site, public Alarm {
 public:
  FaultySite(SiteId self, World& world) : self_(self), world_(world) {}
  ~FaultySite() override = default;

  const View& view() const override { return cluster_; }
  std::optional<JobSpec> asked_here(const Offer& offer) const override { return offer.spec; }
  Haul haul(const Offer& offer) const override {
    return {seconds(offer.data == self_ ? 0 : 3), seconds(3), Duration{0}};
  }
  std::vector<Coming> coming() const override { return {}; }
  std::vector<Duration> soonest(const Offer&) const override;
  bool has(std::int64_t job) const override { return jobs_.contains(job); }
  void take_won(const Offer& offer) override;
  void give_up(std::int64_t job) override;
  void answered(std::int64_t job, bool ours) override;
  void ring() override;

  void live();
  void die() { dispatcher_.reset(); }
  bool lives() const { return dispatcher_.has_value(); }
  void submit(const Offer& offer);
  void expect(const Offer& offer);  // a copy
  bool at_rest() const;

 private:
  enum class Stage : std::uint8_t { coming, queued, asking, running, ended };
  struct Entry {
    Offer offer;
    Stage stage;
    Instant next;
  };

  void put(const Offer& offer, Stage stage);
  void move_on(std::int64_t job, Entry& entry);
  void start(std::int64_t job);
  void set_alarm();

  SiteId self_;
  World& world_;
  std::map<std::int64_t, Entry> jobs_;
  std::vector<Offer> submitted_;
  std::uint32_t life_ = 0;
  Cluster cluster_{[] {
    ClusterOptions options;
    options.processors = 4;
    return options;
  }()};
  std::optional<Dispatcher> dispatcher_;  // at one address, so that loops know it again
};

class World final : public Alarm {
 public:
  explicit World(const Plan& plan);
  Outcome run();
  void ring() override;

  Duration some_time(std::int64_t most) { return Duration{random.between(1, most * 1000)}; }
  void wrong(const std::string& what) { outcome.wrong.push_back(what); }

  Random random;
  sim::VirtualLoop loop;
  MemoryExchange memory;
  FaultyExchange exchange;
  DispatchRules rules;
  std::vector<std::unique_ptr<FaultySite>> sites;
  std::map<std::int64_t, int> starts;
  std::map<std::int64_t, int> ends;
  std::set<std::int64_t> submitted;
  Hash hash;
  Outcome outcome;

 private:
  static Faults faults_of(Random& random, bool any);
  void strike();
  void heal();
  void submit();

  std::int64_t jobs_;
  std::vector<std::int64_t> serials_;
  LawKeeper laws_;
  bool faults_;
  Instant next_fault_ = kNever;
  Instant next_job_ = at_seconds(1);
  bool healed_ = false;
};

std::vector<Duration> FaultySite::soonest(const Offer&) const {
  return std::vector<Duration>(world_.sites.size(), Duration{0});
}

void FaultySite::set_alarm() {
  Instant next = kNever;
  for (const auto& [job, entry] : jobs_) next = std::min(next, entry.next);
  world_.loop.set(*this, next);
}

void FaultySite::put(const Offer& offer, Stage stage) {
  jobs_[offer.spec.number] = {offer, stage, world_.loop.now() + world_.some_time(5)};
  set_alarm();
}

void FaultySite::take_won(const Offer& offer) {
  if (has(offer.spec.number)) world_.wrong("a site takes what it has");
  put(offer, Stage::coming);
}

void FaultySite::expect(const Offer& offer) {
  put(offer, Stage::coming);
  if (dispatcher_) dispatcher_->stands_by(offer);
}

void FaultySite::give_up(std::int64_t job) {
  const auto entry = jobs_.find(job);
  if (entry == jobs_.end() || entry->second.stage >= Stage::running) {
    world_.wrong("a site gives up what it has not got, or has started: job " + std::to_string(job));
  } else {
    jobs_.erase(entry);
  }
}

void FaultySite::answered(std::int64_t job, bool ours) {
  ++world_.outcome.late_answers;
  if (!jobs_.contains(job) || jobs_.at(job).stage != Stage::asking)
    return world_.wrong("an answer that nobody asked for");
  if (ours) return start(job);
  jobs_.erase(job);
}

void FaultySite::start(std::int64_t job) {
  Entry& entry = jobs_.at(job);
  entry.stage = Stage::running;
  entry.next = world_.loop.now() + world_.some_time(30);
  ++world_.starts[job];
  world_.hash.mix(static_cast<std::uint64_t>(job) << 32U ^ self_.value);
  world_.hash.mix(static_cast<std::uint64_t>(world_.loop.now().time_since_epoch().count()));
  set_alarm();
}

// What runs goes on without the dispatcher; everything else waits for it.
void FaultySite::move_on(std::int64_t job, Entry& entry) {
  entry.next = kNever;
  if (entry.stage == Stage::running) {
    entry.stage = Stage::ended;
    ++world_.ends[job];
    if (dispatcher_) dispatcher_->ended(job);
    return;
  }
  if (!dispatcher_) return;
  if (entry.stage == Stage::coming) {
    entry.stage = Stage::queued;
    entry.next = world_.loop.now() + world_.some_time(20);
    if (!dispatcher_->queued(job)) jobs_.erase(job);
  } else if (entry.stage == Stage::queued) {
    entry.stage = Stage::asking;
    const StartAnswer answer = dispatcher_->claim(job);
    if (answer == StartAnswer::ours) start(job);
    if (answer == StartAnswer::gone) jobs_.erase(job);
  }
}

void FaultySite::ring() {
  std::vector<std::int64_t> due;
  for (const auto& [job, entry] : jobs_) {
    if (entry.next <= world_.loop.now()) due.push_back(job);
  }
  for (const std::int64_t job : due) {
    if (const auto entry = jobs_.find(job); entry != jobs_.end()) move_on(job, entry->second);
  }
  set_alarm();
}

// From the journal.
void FaultySite::live() {
  if (dispatcher_) return;
  dispatcher_.emplace(self_, world_.rules, *this, world_.exchange, world_.loop);
  std::vector<std::int64_t> over;
  for (auto& [job, entry] : jobs_) {
    if (entry.stage == Stage::ended) over.push_back(job);
    if (entry.stage >= Stage::running) continue;
    if (entry.stage == Stage::asking) entry.stage = Stage::queued;
    entry.next = world_.loop.now() + world_.some_time(5);
    dispatcher_->stands_by(entry.offer);
  }
  dispatcher_->open(world_.loop.now(), ++life_);
  for (const std::int64_t job : over) dispatcher_->ended(job);
  for (const Offer& offer : submitted_) dispatcher_->home().offer(offer);
  set_alarm();
}

void FaultySite::submit(const Offer& offer) {
  submitted_.push_back(offer);
  if (dispatcher_) dispatcher_->home().offer(offer);
}

bool FaultySite::at_rest() const {
  const auto over = [](const auto& entry) { return entry.second.stage == Stage::ended; };
  return dispatcher_ && dispatcher_->idle() && std::all_of(jobs_.begin(), jobs_.end(), over);
}

Faults World::faults_of(Random& random, bool any) {
  Faults faults;
  const auto some = [&](double most) { return random.chance(0.5) ? random.uniform(0, most) : 0.0; };
  faults.request_lost = some(0.3);
  faults.request_doubled = some(0.3);
  faults.refusal_lost = some(0.5);
  faults.refusal_doubled = some(0.3);
  faults.change_doubled = some(0.2);
  faults.stream_broken = some(0.05);
  faults.delay = Duration{random.chance(0.3) ? 0 : random.between(1, 6000)};
  return any ? faults : Faults{};
}

World::World(const Plan& plan)
    : random(plan.seed),
      memory(loop, plan.exchange),
      exchange(memory, faults_of(random, plan.faults), plan.seed ^ 0x5eedU, loop),
      jobs_(random.between(5, 40)),
      faults_(plan.faults) {
  memory.watch({}, laws_, 0);
  rules.auction.length = some_time(6);
  rules.auction.close = random.chance(0.5) ? Close::on_time : Close::stopping;
  rules.look = random.chance(0.5) ? Duration{0} : some_time(8);
  rules.second_thoughts = random.chance(0.4);
  rules.bids_again = rules.second_thoughts ? some_time(4) : Duration{0};
  if (rules.second_thoughts) rules.bid.valuation = Valuation::by_plan;
  rules.race = random.chance(0.25);
  Random published(plan.seed ^ 0xb1d5U);  // of its own: the other draws are what they were
  rules.join = published.chance(0.3) ? Joining::freed : Joining::look;
  rules.auction.buyers = static_cast<std::size_t>(published.between(1, published.chance(0.5) ? 1 : 5));
  if (rules.bid.valuation == Valuation::published && published.chance(0.3)) rules.auction.minimum = 300'000'000;
  rules.lease = kLease;
  rules.patience = seconds(3);
  const auto count = static_cast<std::uint32_t>(random.between(2, 5));
  serials_.resize(count);
  for (std::uint32_t s = 0; s < count; ++s) sites.push_back(std::make_unique<FaultySite>(SiteId{s}, *this));
  for (auto& site : sites) site->live();
  if (faults_) next_fault_ = at_seconds(2);
  loop.set(*this, at_seconds(1));
}

// One site more or less dies, comes back, comes back at once, is cut off or is not any more.
void World::strike() {
  const SiteId site{static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(sites.size()) - 1))};
  FaultySite& faulty = *sites[site.value];
  switch (random.between(0, 5)) {
    case 0:
    case 1:
      if (faulty.lives()) ++outcome.deaths;
      faulty.die();
      if (random.chance(0.4)) faulty.live();
      break;
    case 2:
      faulty.live();
      break;
    case 3:
      exchange.cut(site);
      break;
    default:
      exchange.heal(site);
      faulty.live();
  }
}

void World::heal() {
  healed_ = true;
  exchange.calm();
  for (std::uint32_t s = 0; s < sites.size(); ++s) exchange.heal(SiteId{s});
  for (auto& site : sites) site->live();
}

void World::submit() {
  const SiteId home{static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(sites.size()) - 1))};
  Offer offer;
  offer.spec.number = static_cast<std::int64_t>(submitted.size()) + 1;
  offer.spec.submit = offer.submitted = loop.now();
  offer.spec.limit = seconds(30);
  offer.home = offer.data = home;
  offer.serial = ++serials_[home.value];
  submitted.insert(offer.spec.number);
  if (rules.race) {
    for (auto& site : sites) site->expect(offer);
  }
  sites[home.value]->submit(offer);
}

void World::ring() {
  const Instant now = loop.now();
  if (next_job_ <= now) {
    submit();
    next_job_ = static_cast<std::int64_t>(submitted.size()) < jobs_ ? now + some_time(12) : kNever;
  }
  if (next_fault_ <= now) {
    strike();
    next_fault_ = now + some_time(15);
  }
  if (now >= kHealed && !healed_) heal();
  if (healed_) next_fault_ = kNever;
  Instant next = std::min(next_job_, next_fault_);
  if (!healed_) next = std::min(next, kHealed);
  loop.set(*this, next);
}

Outcome World::run() {
  std::int64_t steps = 0;
  const auto all_at_rest = [&] {
    return healed_ && next_job_ == kNever &&
           std::all_of(sites.begin(), sites.end(), [](auto& s) { return s->at_rest(); });
  };
  Instant busy = loop.now();  // a site that is behind may think that it is at rest
  while (loop.now() < std::min(kOver, busy + seconds(60)) && ++steps < 2'000'000 && loop.step()) {
    if (!all_at_rest()) busy = loop.now();
  }
  if (!all_at_rest()) wrong("not everything has come to rest");
  for (const std::int64_t job : submitted) {
    if (starts[job] != 1) wrong(fmt::format("job {} was started {} times", job, starts[job]));
    if (ends[job] != 1) wrong(fmt::format("job {} ended {} times", job, ends[job]));
  }
  const MemoryExchange::Sizes sizes = memory.sizes();
  if (sizes.jobs + sizes.claims + sizes.bids + sizes.wins > 0) {
    wrong(fmt::format("left behind: {} jobs, {} claims, {} bids, {} settled jobs", sizes.jobs, sizes.claims, sizes.bids,
                      sizes.wins));
  }
  for (auto& site : sites) site->die();
  const Instant end = loop.now() + kLease + seconds(30);  // a join may still be under way
  while (loop.now() < end && loop.step()) {
  }
  if (memory.sizes().sites > 0) wrong("a lease is left behind");
  for (const std::string& broken : laws_.broken()) wrong(broken);
  hash.mix(laws_.hash());
  outcome.hash = hash.value();
  outcome.faults = exchange.counts();
  outcome.jobs = static_cast<std::int64_t>(submitted.size());
  return outcome;
}

}  // namespace

Outcome what_becomes_of(const Plan& plan) { return World(plan).run(); }

}  // namespace rota::faults
