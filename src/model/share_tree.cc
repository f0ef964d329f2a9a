#include "model/share_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace rota {
namespace {

std::uint64_t key_of(const JobSpec& spec) { return std::uint64_t{spec.group} << 32U | spec.user; }

std::string name_of(const ShareTree::Names& names, std::uint32_t number) {
  const auto found = names.find(number);
  return found == names.end() ? std::to_string(number) : found->second;
}

}  // namespace

ShareTree::ShareTree(const std::vector<Account>& accounts, const Names& users, const Names& groups,
                     std::span<const JobSpec> jobs) {
  add(0, 0);
  std::map<std::string, std::uint32_t> place_of;                           // where what is below an account hangs
  std::map<std::pair<std::string, std::string>, std::uint32_t> holder_of;  // by account and user
  std::vector<std::uint32_t> places;
  for (const Account& account : accounts) {
    const std::uint32_t above = account.parent < 0 ? 0 : places[static_cast<std::size_t>(account.parent)];
    places.push_back(account.inherits ? above : add(above, account.shares));
    place_of[account.name] = places.back();
    for (const ShareHolder& user : account.users) {
      holder_of[{account.name, user.name}] = holders_;
      add_holder(places.back(), user.shares, user.first);
    }
  }
  std::map<std::uint64_t, std::uint32_t> of_job;
  for (const JobSpec& job : jobs) {
    const auto [at, fresh] = of_job.try_emplace(key_of(job), 0);
    if (!fresh) continue;
    const std::string account = name_of(groups, job.group);
    const auto [holder, unknown] = holder_of.try_emplace({account, name_of(users, job.user)}, holders_);
    if (unknown) {
      const auto above = place_of.find(account);
      add_holder(above == place_of.end() ? 0 : above->second, 1, false);
    }
    at->second = holder->second;
  }
  of_job_.assign(of_job.begin(), of_job.end());
  for (std::uint32_t place = 0; place < places_.size(); ++place) divide(place);
}

std::uint32_t ShareTree::add(std::uint32_t above, std::int64_t shares) {
  const auto place = static_cast<std::uint32_t>(places_.size());
  if (place > 0) places_[above].below.push_back(place);
  places_.push_back({.above = above});
  shares_.push_back(shares);
  return place;
}

void ShareTree::add_holder(std::uint32_t above, std::int64_t shares, bool first) {
  const std::uint32_t place = add(above, first ? 0 : shares);
  places_[place].holder = holders_++;
  places_[place].first = first;
}

void ShareTree::divide(std::uint32_t place) {
  std::int64_t all = 0;
  for (const std::uint32_t each : places_[place].below) all += shares_[each];
  for (const std::uint32_t each : places_[place].below)
    places_[each].part = all > 0 ? static_cast<double>(shares_[each]) / static_cast<double>(all) : 0;
}

std::uint32_t ShareTree::holder_of(const JobSpec& spec) const {
  const auto at = std::ranges::lower_bound(of_job_, key_of(spec), {}, [](const auto& of) { return of.first; });
  CHECK(at != of_job_.end() && at->first == key_of(spec), "the tree was made for this job too");
  return at->second;
}

// On the way through the tree, from the first user to the last.
struct ShareTree::Ranking {
  std::vector<double> use;  // of each place
  std::vector<double> factors;
  std::uint32_t next;  // the rank of the next user, unless he is level with the one before,
  std::uint32_t last;  // who has this one
  bool level = false;  // the next one is
};

std::vector<double> ShareTree::factors(const RecentUse& use) const {
  Ranking ranking{std::vector<double>(places_.size()), std::vector<double>(holders_), holders_, holders_};
  std::int64_t most = RecentUse::kNothing;
  for (const auto& [holder, spent] : use.all()) most = std::max(most, spent);
  for (std::size_t i = places_.size(); i-- > 1;) {
    const Place& place = places_[i];
    if (place.holder != UINT32_MAX) ranking.use[i] = use.beside(use.spent_at(place.holder), most);
    ranking.use[place.above] += ranking.use[i];
  }
  rank_below(0, ranking);
  return std::move(ranking.factors);
}

void ShareTree::rank_below(std::uint32_t top, Ranking& ranking) const {
  struct Beside {
    double worth;  // part of the shares / part of the use
    bool account;
    std::uint32_t place;
    bool operator<(const Beside& o) const { return worth != o.worth ? worth > o.worth : account < o.account; }
  };
  constexpr double kFirst = std::numeric_limits<double>::infinity();
  std::vector<Beside> line;
  for (const std::uint32_t below : places_[top].below) {
    const Place& place = places_[below];
    const bool served = ranking.use[below] > 0;
    double worth = place.first ? kFirst : 0;
    if (place.part > 0) worth = served ? place.part / (ranking.use[below] / ranking.use[top]) : kFirst;
    line.push_back({worth, place.holder == UINT32_MAX, below});
  }
  std::stable_sort(line.begin(), line.end());
  const bool level = std::exchange(ranking.level, false);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Place& place = places_[line[i].place];
    ranking.level = i == 0 ? level : line[i].worth == line[i - 1].worth;
    if (line[i].account) {
      rank_below(line[i].place, ranking);
      continue;
    }
    if (!ranking.level) ranking.last = ranking.next;
    ranking.factors[place.holder] = static_cast<double>(ranking.last) / static_cast<double>(holders_);
    --ranking.next;
  }
}

}  // namespace rota
