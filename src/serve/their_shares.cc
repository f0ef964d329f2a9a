#include "serve/their_shares.h"

#include <map>
#include <set>
#include <utility>

#include "model/cluster.h"
#include "serve/file_in_use.h"

namespace rota::serve {
namespace {

std::vector<JobSpec> one_of_each(const std::vector<Fact>& facts, const forecast::PastJobs& past) {
  std::vector<JobSpec> specs;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  const auto add = [&](const JobSpec& spec) {
    if (known.emplace(spec.user, spec.group).second) specs.push_back(spec);
  };
  for (const Fact& fact : facts)
    if (const auto* kept = std::get_if<JobKept>(&fact.what)) add(kept->row.spec);
  for (const forecast::PastJob& job : past.all()) add(job.spec);
  return specs;
}

// By holder.
std::map<std::uint32_t, std::int64_t> spent_of(const ShareTree& tree, const NamesByNumber& users, Duration half_life,
                                               const TheirUse& use) {
  std::map<std::string_view, std::uint32_t> numbers;
  for (const auto& [number, name] : users) numbers.emplace(name, number);
  RecentUse recent(half_life);
  for (const ManagerUse& each : use.all) {
    const auto user = numbers.find(each.user);
    if (user == numbers.end() || each.processor_time <= Duration{0}) continue;
    JobSpec spec;
    spec.user = user->second;
    spec.group = account_number(each.account);
    if (tree.knows(spec))
      recent.add(tree.holder_of(spec), static_cast<RecentUse::Work>(each.processor_time.count()), use.at);
  }
  return recent.all();
}

}  // namespace

TheirShares shares_of(std::vector<Fact> facts, const SharesAsked& asked) {
  const auto& [machine, chain, users, past, use] = asked;
  ClusterOptions options;
  chain.ask(options);
  if (machine.accounts.empty() || !chain.knobs().slurm.by_shares() || options.use.half_life <= Duration{0})
    return {nullptr, std::move(facts)};
  NamesByNumber groups;
  for (const Account& account : machine.accounts) groups.emplace(account_number(account.name), account.name);
  const auto sharers = sharers_of(machine.accounts, users, groups, one_of_each(facts, past));
  auto tree = std::make_shared<const ShareTree>(machine.accounts, sharers);
  auto spent = spent_of(*tree, users, options.use.half_life, use);
  const Fact like = facts.empty() ? Fact{} : facts.back();
  for (Fact& fact : facts) {
    auto* user = std::get_if<UserKept>(&fact.what);
    if (user == nullptr) continue;
    user->spent = user->owed = RecentUse::kNothing;
    if (const auto own = spent.extract(user->user)) user->spent = own.mapped();
  }
  for (const auto& [holder, amount] : spent)
    facts.push_back({like.at, like.sequence, UserKept{.user = holder, .runs = {}, .spent = amount}});
  return {std::move(tree), std::move(facts)};
}

}  // namespace rota::serve
