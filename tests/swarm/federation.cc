#include "swarm/federation.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "exchange/memory.h"
#include "swarm/member.h"

namespace rota::swarm {
namespace {

constexpr std::int64_t kMostSteps = 400'000;
constexpr std::int64_t kRetry = 30;       // seconds until a user tries again
constexpr Duration kRest = seconds(300);  // in which a site that is behind hears what it has missed
constexpr std::int64_t kForGood = 10'000'000;

// Sees all changes as they are.
class Chronicle final : public Watcher {
 public:
  void hear(const Change& c) override {
    hash_.mix(static_cast<std::uint64_t>(c.kind) << 48U ^ static_cast<std::uint64_t>(c.job) << 16U ^ c.site.value);
    hash_.mix(static_cast<std::uint64_t>(c.revision));
    if (c.kind == Change::Kind::joined) ++epochs_;
  }
  std::uint64_t hash() const { return hash_.value(); }
  std::int64_t epochs() const { return epochs_; }

 private:
  Hash hash_;
  std::int64_t epochs_ = 0;
};

class Federation final : private Alarm {
 public:
  explicit Federation(const FederationCase& drawn);
  RunOutcome run();

 private:
  enum class Kind : std::uint8_t { submit, cancel, cut, rejoin, heal };
  struct Due {
    Kind kind;
    std::size_t which;
  };

  void plan();
  void ring() override;
  void carry_out(const Due& due);
  void submit(const Due& due);
  bool step(RunOutcome& outcome);
  bool done() const;
  std::optional<std::string> failure() const;
  std::string what_is_missing() const;
  std::string what_is_left() const;
  void look();
  void end(RunOutcome& outcome);

  const FederationCase& drawn_;
  sim::VirtualLoop loop_;
  MemoryExchange memory_;
  FaultyExchange exchange_;
  Chronicle chronicle_;
  Account account_;
  std::vector<std::unique_ptr<World>> worlds_;
  std::vector<std::unique_ptr<Member>> members_;
  std::multimap<Instant, Due> script_;
  bool healed_ = false;
};

Federation::Federation(const FederationCase& drawn)
    : drawn_(drawn), memory_(loop_), exchange_(memory_, drawn.faults, drawn.seed ^ 0x5eedU, loop_), account_(drawn) {
  memory_.watch({}, chronicle_, 0);
  for (const Case& site : drawn_.sites) {
    const SiteId self{static_cast<std::uint32_t>(worlds_.size())};
    World& world = *worlds_.emplace_back(std::make_unique<World>(site, loop_));
    members_.push_back(std::make_unique<Member>(self, Member::Parts{drawn_, world, exchange_, loop_, account_}));
  }
}

void Federation::plan() {
  for (std::size_t i = 0; i < drawn_.jobs.size(); ++i) {
    script_.emplace(drawn_.jobs[i].job.spec.submit, Due{Kind::submit, i});
  }
  for (std::size_t i = 0; i < drawn_.partitions.size(); ++i) {
    script_.emplace(at_seconds(drawn_.partitions[i].from), Due{Kind::cut, i});
    script_.emplace(at_seconds(drawn_.partitions[i].to), Due{Kind::rejoin, i});
  }
  for (std::size_t i = 0; i < drawn_.cancels.size(); ++i) {
    script_.emplace(at_seconds(drawn_.cancels[i].at), Due{Kind::cancel, i});
  }
  script_.emplace(at_seconds(drawn_.heals_at), Due{Kind::heal, 0});
  loop_.set(*this, script_.begin()->first);
}

void Federation::ring() {
  while (!script_.empty() && script_.begin()->first <= loop_.now()) {
    const Due due = script_.begin()->second;
    script_.erase(script_.begin());
    carry_out(due);
  }
  if (!script_.empty()) loop_.set(*this, script_.begin()->first);
}

void Federation::carry_out(const Due& due) {
  switch (due.kind) {
    case Kind::submit:
      return submit(due);
    case Kind::cancel:
      for (auto& member : members_) member->cancel(drawn_.cancels[due.which].job);
      return;
    case Kind::cut:
      if (healed_ || !members_[drawn_.partitions[due.which].site]->was_there()) return;
      return exchange_.cut(SiteId{drawn_.partitions[due.which].site});
    case Kind::rejoin:
      if (!members_[drawn_.partitions[due.which].site]->was_there()) return;
      return exchange_.heal(SiteId{drawn_.partitions[due.which].site});
    case Kind::heal:
      healed_ = true;
      exchange_.calm();
      for (std::uint32_t s = 0; s < members_.size(); ++s) {
        if (members_[s]->was_there()) exchange_.heal(SiteId{s});
      }
  }
}

void Federation::submit(const Due& due) {
  const GlobalJob& job = drawn_.jobs[due.which];
  if (!members_[job.home]->submit(job)) {
    script_.emplace(loop_.now() + seconds(kRetry), due);
    return;
  }
  if (!drawn_.rules.race) return;
  for (auto& member : members_) member->expect_copy(*account_.offer(job.job.spec.number));
}

bool Federation::step(RunOutcome& outcome) {
  for (auto& world : worlds_) world->wake_in_time();
  if (!steps(loop_, outcome, kMostSteps)) return false;
  look();
  return true;
}

void Federation::look() {
  for (std::uint32_t s = 0; s < worlds_.size(); ++s) {
    worlds_[s]->look();
    account_.look(SiteId{s}, worlds_[s]->safety(), *worlds_[s]->engine().ledger());
  }
  account_.settle_up();
}

bool Federation::done() const {
  if (!healed_ || !script_.empty() || !account_.all_ended()) return false;
  return std::all_of(worlds_.begin(), worlds_.end(), [](auto& world) { return world->done(); }) &&
         std::all_of(members_.begin(), members_.end(), [](auto& member) { return member->at_rest(); });
}

std::optional<std::string> Federation::failure() const {
  for (std::size_t s = 0; s < worlds_.size(); ++s) {
    if (const auto& what = worlds_[s]->failure()) return fmt::format("at site {}: {}", s, *what);
  }
  return account_.breach();
}

std::string Federation::what_is_missing() const {
  std::string all = "jobs of the federation" + account_.missing();
  for (std::size_t s = 0; s < worlds_.size(); ++s) {
    all += fmt::format("; site {}{}{}", s,
                       members_[s]->at_rest() ? ": " : ", which is busy: ", worlds_[s]->what_is_missing());
  }
  return fmt::format("{}; {}", all, what_is_left());
}

std::string Federation::what_is_left() const {
  const MemoryExchange::Sizes sizes = memory_.sizes();
  return fmt::format("{} jobs, {} claims, {} bids, {} settled jobs, {} reports", sizes.jobs, sizes.claims, sizes.bids,
                     sizes.wins, sizes.reports);
}

// All sites go, and nothing of them is left.
void Federation::end(RunOutcome& outcome) {
  const MemoryExchange::Sizes sizes = memory_.sizes();
  if (sizes.jobs + sizes.claims + sizes.bids + sizes.wins + sizes.reports > 0)
    outcome.failure = "left behind: " + what_is_left();
  for (auto& world : worlds_) {
    world->take_stock(outcome);
    world->site().fall(kForGood);
  }
  const Instant gone = loop_.now() + drawn_.rules.lease + kRest;
  while (loop_.now() < gone && loop_.step()) {
  }
  if (memory_.sizes().sites > 0 && !outcome.failure) outcome.failure = "a lease is left behind";
}

RunOutcome Federation::run() {
  plan();
  for (auto& world : worlds_) world->begin();
  RunOutcome outcome;
  for (Instant busy = loop_.now(); loop_.now() < busy + kRest && !outcome.failure;) {
    if (!step(outcome)) outcome.failure = "it never ends: " + what_is_missing();
    if (const auto what = failure()) outcome.failure = *what;
    if (!done()) busy = loop_.now();
  }
  for (auto& world : worlds_) {
    if (!outcome.failure) world->look_back();
  }
  if (const auto what = failure(); what && !outcome.failure) outcome.failure = *what;
  if (!outcome.failure) end(outcome);
  if (outcome.failure) *outcome.failure += when(loop_, outcome);
  account_.travels().federations = 1;
  account_.travels().epochs = chronicle_.epochs();
  Counts counts;
  counts.jobs = static_cast<std::int64_t>(drawn_.jobs.size());
  counts.travels = account_.travels();
  counts.exchange = exchange_.counts();
  outcome.counts.add(counts);
  Hash hash;
  hash.mix(outcome.hash);
  hash.mix(chronicle_.hash());
  outcome.hash = hash.value();
  return outcome;
}

}  // namespace

RunOutcome run_case(const FederationCase& drawn) { return Federation(drawn).run(); }

}  // namespace rota::swarm
