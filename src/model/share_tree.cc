#include "model/share_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace rota {
namespace {

std::uint64_t key_of(std::uint32_t user, std::uint32_t group) { return std::uint64_t{group} << 32U | user; }

}  // namespace

ShareTree::ShareTree(const std::vector<Account>& accounts, std::span<const Sharer> sharers) {
  const std::uint32_t known = users_of(accounts);
  std::vector<bool> with_jobs(known);
  for (const Sharer& s : sharers)
    if (s.holder < known) with_jobs[s.holder] = true;
  add(0, 0, 0, false);
  std::vector<std::uint32_t> places;  // where what is below an account hangs
  for (const Account& account : accounts) {
    const std::uint32_t above = account.parent < 0 ? 0 : places[static_cast<std::size_t>(account.parent)];
    places.push_back(account.inherits ? above : add(above, account.shares, 0, false));
    add_users(places.back(), account, with_jobs);
  }
  for (const Sharer& s : sharers) {
    of_job_.emplace_back(key_of(s.user, s.group), s.holder);
    if (s.holder == holders_)
      add_holder(s.account < 0 ? 0 : places[static_cast<std::size_t>(s.account)], holders_, 1, false);
  }
  std::ranges::sort(of_job_);
  for (std::uint32_t place = 0; place < places_.size(); ++place) divide(place);
}

std::uint32_t ShareTree::add(std::uint32_t above, std::int64_t shares, std::uint32_t users, bool first) {
  const auto place = static_cast<std::uint32_t>(places_.size());
  if (place > 0) places_[above].below.push_back(place);
  places_.push_back({.users = users, .above = above, .first = first});
  shares_.push_back(first ? 0 : shares);
  return place;
}

void ShareTree::add_holder(std::uint32_t above, std::uint32_t holder, std::int64_t shares, bool first) {
  places_[add(above, shares, 1, first)].holder = holder;
  ++holders_;
}

// Those without jobs use nothing: they come first, or they have no shares and come last.
void ShareTree::add_users(std::uint32_t above, const Account& account, const std::vector<bool>& with_jobs) {
  std::uint32_t ahead = 0, last = 0;
  std::int64_t shares_ahead = 0;
  for (const ShareHolder& user : account.users) {
    if (with_jobs[holders_]) {
      add_holder(above, holders_, user.shares, user.first);
      continue;
    }
    ++holders_;
    const std::int64_t shares = user.first ? 0 : user.shares;
    (user.first || shares > 0 ? ahead : last) += 1;
    shares_ahead += shares;
  }
  if (ahead > 0) {
    const std::uint32_t place = add(above, shares_ahead, ahead, false);
    places_[place].first = true;
  }
  if (last > 0) add(above, 0, last, false);
}

void ShareTree::divide(std::uint32_t place) {
  std::int64_t all = 0;
  for (const std::uint32_t each : places_[place].below) all += shares_[each];
  for (const std::uint32_t each : places_[place].below)
    places_[each].part = all > 0 ? static_cast<double>(shares_[each]) / static_cast<double>(all) : 0;
}

ShareTree::OfJob::const_iterator ShareTree::find(const JobSpec& spec) const {
  const std::uint64_t key = key_of(spec.user, spec.group);
  const auto at = std::ranges::lower_bound(of_job_, key, {}, [](const auto& of) { return of.first; });
  return at != of_job_.end() && at->first == key ? at : of_job_.end();
}

std::uint32_t ShareTree::holder_of(const JobSpec& spec) const {
  const auto at = find(spec);
  CHECK(at != of_job_.end(), "the tree was made for this job too");
  return at->second;
}

// On the way through the tree, from the first user to the last.
struct ShareTree::Ranking {
  std::vector<double> use;  // of each place
  std::vector<double> factors;
  std::uint32_t next;  // the rank of the next user, unless that user is level with the one before,
  std::uint32_t last;  // which has this one
  bool level = false;  // the next one is
};

struct ShareTree::Beside {
  double worth;  // part of the shares / part of the use
  bool account;
  std::uint32_t place;
  bool operator<(const Beside& o) const { return worth != o.worth ? worth > o.worth : account < o.account; }
};

// Each beside that of the holder who has used the most.
std::vector<double> ShareTree::use_of_places(const RecentUse& use) const {
  std::vector<double> used(places_.size());
  std::int64_t most = RecentUse::kNothing;
  for (const auto& [holder, spent] : use.all()) most = std::max(most, spent);
  for (std::size_t i = places_.size(); i-- > 1;) {
    const Place& place = places_[i];
    if (place.holder != UINT32_MAX) used[i] = use.beside(use.spent_at(place.holder), most);
    used[place.above] += used[i];
  }
  return used;
}

std::vector<double> ShareTree::classic_factors(const RecentUse& use, std::int64_t dampening) const {
  const std::vector<double> used = use_of_places(use);
  std::vector<double> factors(holders_, 0.0), shares(places_.size(), 1.0), effective(places_.size(), 1.0);
  for (std::uint32_t i = 1; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const double own = used[0] > 0 ? used[i] / used[0] : 0;
    shares[i] = shares[place.above] * place.part;
    effective[i] = place.above == 0 ? own : own + (effective[place.above] - own) * place.part;
    if (place.holder == UINT32_MAX) continue;
    const std::uint32_t counts = place.first ? place.above : i;  // whose shares are its parent's
    if (shares[counts] > 0)
      factors[place.holder] = std::exp2(-effective[counts] / shares[counts] / static_cast<double>(dampening));
  }
  return factors;
}

std::vector<double> ShareTree::factors(const RecentUse& use) const {
  Ranking ranking{use_of_places(use), std::vector<double>(holders_), holders_, holders_};
  const Beside top{0, true, 0};
  rank_below({&top, 1}, ranking);
  return std::move(ranking.factors);
}

// What is below accounts that are level.
void ShareTree::rank_below(std::span<const Beside> level, Ranking& ranking) const {
  constexpr double kFirst = std::numeric_limits<double>::infinity();
  std::vector<Beside> line;
  for (const Beside& account : level) {
    for (const std::uint32_t below : places_[account.place].below) {
      const Place& place = places_[below];
      const bool served = ranking.use[below] > 0;
      double worth = place.first ? kFirst : 0;
      if (place.part > 0) worth = served ? place.part / (ranking.use[below] / ranking.use[place.above]) : kFirst;
      line.push_back({worth, place.users == 0, below});
    }
  }
  std::stable_sort(line.begin(), line.end());
  const bool starts_level = std::exchange(ranking.level, false);
  for (std::size_t i = 0; i < line.size();) {
    const auto from = line.begin() + static_cast<std::ptrdiff_t>(i);
    ranking.level = i == 0 ? starts_level : from->worth == std::prev(from)->worth;
    if (from->account) {
      const auto to = std::find_if(from, line.end(), [&](const Beside& b) { return b.worth != from->worth; });
      rank_below({from, to}, ranking);
      i += static_cast<std::size_t>(to - from);
      continue;
    }
    const Place& place = places_[from->place];
    if (!ranking.level) ranking.last = ranking.next;
    if (place.holder != UINT32_MAX)
      ranking.factors[place.holder] = static_cast<double>(ranking.last) / static_cast<double>(holders_);
    ranking.next -= place.users;
    ++i;
  }
}

}  // namespace rota
