#include "serve/waiting_order.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "model/same_turn.h"
#include "policy/predict/estimate.h"
#include "serve/as_if_ours.h"
#include "serve/policy_check.h"
#include "store/job_history.h"

namespace rota::serve {
namespace {

constexpr std::int64_t kMostPast = 10'000;  // rows of the history that are read at first

bool asks_for_the_past(const ChainKnobs& knobs) {
  return knobs.estimator != Estimator::limit || knobs.order == Order::fair;
}

}  // namespace

Result<WaitingRule> waiting_rule(const std::string& text) {
  constexpr std::string_view kPatience = "patience=";
  bool by_licences = false;
  Duration patience = WaitingRule::kForever;
  std::string policy = "easy";
  const auto words = split(text, '+');
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (at == 0 && word == "licences") {
      by_licences = true;
    } else if (at > 0 && word.starts_with(kPatience)) {
      const auto time = parse_duration(word.substr(kPatience.size()));
      if (!time) return fail("{}: patience {}", rota::quoted(text), time.error().message);
      patience = *time;
    } else {
      policy += (at == 0 ? "+order=" : "+") + std::string(word);
    }
  }
  auto chain = chain_of(policy);
  if (!chain) return fail("{} is no order of waiting jobs: {}", rota::quoted(text), chain.error().message);
  return WaitingRule{.chain = std::move(*chain), .by_licences = by_licences, .patience = patience};
}

Result<void> WaitingOrder::read_past() {
  const Instant now = desk_.view().now();
  auto rows = TRY(desk_.store().history({.ran = true, .from = new_rows_.from(), .limit = kMostPast}));
  new_rows_.keep_new(rows, now);
  for (const store::HistoryRow& row : rows)
    if (row.start != kNever) past_.push_back({row.job, row.uid, row.processors, row.end - row.start, row.end});
  std::ranges::sort(past_, {}, [](const Run& run) { return std::pair(run.end, run.job); });
  if (std::ssize(past_) > 2 * kMostPast) past_.erase(past_.begin(), past_.end() - kMostPast);
  return {};
}

// What each user has run, as a snapshot has it.
std::vector<Fact> WaitingOrder::users(const Chain& chain) const {
  std::map<std::uint32_t, UserKept> users;
  const bool fair = chain.knobs().order == Order::fair;
  RecentUse use(fair ? chain.knobs().fair_half_life : seconds(1));
  for (const Run& run : past_) {
    UserKept& user = users[run.user];
    user.user = run.user;
    user.runs.before_last = std::exchange(user.runs.last, run.took);
    ++user.runs.runs;
    if (fair) use.add(run.user, run.processors, run.took, run.end);
  }
  std::vector<Fact> facts;
  for (auto& [uid, user] : users) {
    if (fair) user.spent = use.spent_at(uid);
    facts.push_back({desk_.view().now(), 0, user});
  }
  return facts;
}

// The state in which the jobs are ours, with their run times as the policy expects them.
Result<std::vector<Fact>> WaitingOrder::facts_for(const Chain& chain, const ClusterOptions& options) {
  const JobLookup jobs(desk_, book_);
  static const std::map<std::int64_t, std::uint32_t> kNoThrottles;  // tasks that wait for one wait for more than a turn
  auto facts = as_if_ours(desk_.controller().snapshot(), {jobs, desk_.view(), *desk_.machine(), kNoThrottles});
  if (!asks_for_the_past(chain.knobs())) return facts;
  TRY(read_past());
  std::erase_if(facts, [](const Fact& fact) { return std::holds_alternative<UserKept>(fact.what); });
  std::ranges::copy(users(chain), std::back_inserter(facts));
  Cluster past(options);
  for (const Fact& fact : facts)
    if (!std::holds_alternative<JobKept>(fact.what)) past.fold(fact);
  for (Fact& fact : facts) {
    auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept != nullptr && kept->row.state == JobState::waiting)
      kept->row.expected = expected_run_time(chain.knobs().estimator, past, kept->row.spec);
  }
  return facts;
}

Result<std::vector<ManagerTurn>> WaitingOrder::of(const std::string& text) {
  const WaitingRule rule = TRY(waiting_rule(text));
  ClusterOptions options = cluster_options(desk_, rule.chain, *desk_.machine());
  options.waiting.by_queue = true;
  auto facts = TRY(facts_for(rule.chain, options));
  Cluster cluster(options);
  for (Fact& fact : facts) {
    auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept != nullptr && kept->row.state == JobState::waiting)
      kept->row.ahead = desk_.now() - kept->row.spec.submit >= rule.patience;
    cluster.fold(fact);
  }
  cluster.open_cycle(std::max(desk_.now(), cluster.now()));
  std::vector<ManagerTurn> turns, others, last;
  auto free = cluster.nodes().licences();
  const bool by_arrival = rule.chain.knobs().order == Order::fcfs && !rule.by_licences;
  std::int64_t rank = 0;
  const WaitingEntry* before = nullptr;
  cluster.waiting().for_each_in_queue_order([&](const WaitingEntry& entry) {
    const Job& job = cluster.job(entry.job);
    if (by_arrival || job.ahead || before == nullptr || !same_turn(entry.place, before->place)) ++rank;
    before = &entry;
    const bool asks = rule.by_licences && job.spec.licence.valid() && !job.ahead;
    const bool has = asks && licences_suffice(free, job.spec);
    if (has) each_licence(job.spec, [&](LicenceId id, std::uint32_t count) { free[id.value] -= count; });
    const bool first = has || job.ahead || !rule.by_licences;
    (first ? turns : asks ? last : others).push_back({job.spec.number, rank});
    return true;
  });
  for (const auto* behind : {&others, &last}) {
    for (ManagerTurn turn : *behind) {
      turn.rank += (behind == &others ? 1 : 2) * rank;
      turns.push_back(turn);
    }
  }
  return turns;
}

}  // namespace rota::serve
