#include "report/share_use.h"

#include <algorithm>

namespace rota::report {
namespace {

// What an account's shares come to of the whole cluster's, all accounts and users beside it and above it counted.
double part_of(const std::vector<Account>& accounts, std::size_t place) {
  const Account& account = accounts[place];
  double beside = 0;
  for (const Account& other : accounts)
    if (other.parent == account.parent && !other.inherits) beside += static_cast<double>(other.shares);
  if (account.parent >= 0) {
    for (const ShareHolder& user : accounts[static_cast<std::size_t>(account.parent)].users)
      beside += static_cast<double>(user.shares);
  }
  const double own = account.inherits || beside <= 0 ? 1 : static_cast<double>(account.shares) / beside;
  return account.parent < 0 ? own : own * part_of(accounts, static_cast<std::size_t>(account.parent));
}

struct Event {
  Instant at;
  std::size_t account;
  std::int64_t waiting;  // jobs more that wait
  std::int64_t use;      // more that is in use, per mille of a processor
};

struct AccountNow {
  std::uint32_t group = 0;
  double part = 0;
  std::int64_t waiting = 0;
  std::int64_t use = 0;
  double waited = 0;
  double of_all = 0;  // use of all while it waited,
  double owed = 0;    // and what of it was the account's to have,
  double used = 0;    // and what it had
};

// The accounts that jobs name, by group number.
std::map<std::uint32_t, std::size_t> places_of(const Outcome& outcome, std::vector<AccountNow>& accounts) {
  std::map<std::uint32_t, std::size_t> places;
  const std::vector<Account>& known = outcome.machine->accounts;
  for (const Job& job : outcome.jobs) {
    if (job.spec.group == UINT32_MAX || places.contains(job.spec.group)) continue;
    const auto& names = outcome.labels->groups;
    const auto named = names.find(job.spec.group);
    const std::string name = named == names.end() ? std::to_string(job.spec.group) : named->second;
    const auto account = std::ranges::find(known, name, &Account::name);
    if (account == known.end()) continue;
    places.emplace(job.spec.group, accounts.size());
    accounts.push_back(
        {.group = job.spec.group, .part = part_of(known, static_cast<std::size_t>(account - known.begin()))});
  }
  return places;
}

std::vector<Event> events_of(const Outcome& outcome, const std::map<std::uint32_t, std::size_t>& places) {
  std::vector<Event> events;
  for (const Job& job : outcome.jobs) {
    const auto place = places.find(job.spec.group);
    if (place == places.end() || !job.ended()) continue;
    const PartitionId partition = job.spec.partition;
    const std::int64_t use =
        (partition.valid() ? outcome.machine->partitions[partition.value].billing : Billing{}).of(job.spec);
    events.push_back({job.spec.submit, place->second, 1, 0});
    events.push_back({job.start, place->second, -1, use});
    events.push_back({job.end, place->second, 0, -use});
  }
  std::ranges::stable_sort(events, {}, &Event::at);
  return events;
}

void go_by(double seconds, std::vector<AccountNow>& accounts) {
  double busy = 0;
  double parts = 0;
  for (const AccountNow& account : accounts) {
    busy += static_cast<double>(account.use);
    if (account.waiting > 0 || account.use > 0) parts += account.part;
  }
  for (AccountNow& account : accounts) {
    if (account.waiting == 0) continue;
    account.waited += seconds;
    account.of_all += seconds * busy;
    account.used += seconds * static_cast<double>(account.use);
    account.owed += parts > 0 ? seconds * busy * account.part / parts : 0;
  }
}

}  // namespace

std::map<std::uint32_t, ShareUse> share_use_of(const Outcome& outcome) {
  std::map<std::uint32_t, ShareUse> uses;
  if (!outcome.machine || outcome.machine->accounts.empty() || !outcome.labels) return uses;
  std::vector<AccountNow> accounts;
  const auto places = places_of(outcome, accounts);
  Instant now = kEpoch;
  for (const Event& event : events_of(outcome, places)) {
    if (event.at > now) go_by(to_seconds(event.at - now), accounts);
    now = event.at;
    accounts[event.account].waiting += event.waiting;
    accounts[event.account].use += event.use;
  }
  for (const AccountNow& account : accounts)
    if (account.of_all > 0)
      uses[account.group] = {account.waited, account.owed / account.of_all, account.used / account.of_all};
  return uses;
}

}  // namespace rota::report
