#include "site/cluster_shares.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"

namespace rota::site {
namespace {

std::unexpected<Error> wrong(const ClusterDraft& draft, std::uint32_t line, const std::string& what) {
  return fail("{}:{}: {}", draft.shown, line, what);
}

// "anna:2", "bob" or "eve:parent".
std::optional<ShareHolder> holder_of(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  ShareHolder holder;
  holder.name = trimmed(text.substr(0, colon));
  if (holder.name.empty()) return std::nullopt;
  if (colon == text.size()) return holder;
  const std::string_view shares = trimmed(text.substr(colon + 1));
  holder.first = shares == "parent";
  if (holder.first) return holder;
  const auto number = parse_integer(shares);
  if (!number || *number < 0 || *number > kMostShares) return std::nullopt;
  holder.shares = *number;
  return holder;
}

Result<void> add_users(const ClusterDraft& draft, const AccountEntry& entry, Account& account) {
  const std::uint32_t line = entry.line_of("users");
  if (line == 0) return {};
  for (const std::string_view each : split(entry.users, ',')) {
    auto holder = holder_of(trimmed(each));
    if (!holder) {
      return wrong(draft, line,
                   fmt::format("`users` takes names with how many shares, such as \"anna:2,bob,eve:parent\", not {}.",
                               quoted(trimmed(each))));
    }
    account.users.push_back(std::move(*holder));
  }
  auto names = account.users;
  std::ranges::sort(names, {}, &ShareHolder::name);
  const auto twice = std::ranges::adjacent_find(names, {}, &ShareHolder::name);
  if (twice == names.end()) return {};
  return wrong(draft, line, fmt::format("`users` names {} twice; name him once.", quoted(twice->name)));
}

using Places = std::map<std::string_view, std::size_t>;  // of tables, by name

// Puts the name of a table in; fails where one before it has it.
template <class Entries>
Result<void> check_name(const ClusterDraft& draft, const Entries& entries, std::size_t at, const char* what,
                        Places& places) {
  const auto [first, fresh] = places.emplace(entries[at].name, at);
  if (fresh) return {};
  return wrong(draft, entries[at].line_of("name"),
               fmt::format("{} {} is described twice; the first time in line {}.", what, quoted(entries[at].name),
                           entries[first->second].line_of("name")));
}

Result<void> add_qos(const ClusterDraft& draft, Machine& machine) {
  Places places;
  for (std::size_t i = 0; i < draft.qos.size(); ++i) {
    const QosEntry& entry = draft.qos[i];
    if (auto ok = check_name(draft, draft.qos, i, "QOS", places); !ok) return ok;
    if (i == QosId::kNone) {
      return wrong(draft, entry.line, fmt::format("there are more than {} [[qos]] tables. Leave some out.", i));
    }
    machine.qos.push_back({entry.name, entry.priority, entry.usage_factor, {}, {}});
    for (const std::string_view user : split(entry.users, ','))
      if (!trimmed(user).empty()) machine.qos.back().users.emplace_back(trimmed(user));
  }
  for (std::size_t i = 0; i < draft.qos.size(); ++i) {
    for (const std::string_view each : split(draft.qos[i].preempts, ',')) {
      if (trimmed(each).empty()) continue;
      const auto other = places.find(trimmed(each));
      if (other == places.end())
        return wrong(draft, draft.qos[i].line_of("preempts"),
                     fmt::format("`preempts` names {}, which the file does not describe.", quoted(trimmed(each))));
      machine.qos[i].over.push_back(QosId{static_cast<std::uint8_t>(other->second)});
    }
    std::ranges::sort(machine.qos[i].over);
  }
  return {};
}

Result<void> add_accounts(const ClusterDraft& draft, Machine& machine) {
  Places places;
  for (std::size_t i = 0; i < draft.accounts.size(); ++i) {
    const AccountEntry& entry = draft.accounts[i];
    if (auto ok = check_name(draft, draft.accounts, i, "account", places); !ok) return ok;
    Account account{.name = entry.name, .shares = entry.shares, .inherits = entry.inherits, .users = {}};
    if (const std::uint32_t line = entry.line_of("parent"); line != 0) {
      const auto parent = places.find(entry.parent);
      if (parent == places.end() || parent->second == i) {
        return wrong(draft, line,
                     fmt::format("account {} is a part of {}, which no [[accounts]] table before this one describes.",
                                 quoted(entry.name), quoted(entry.parent)));
      }
      account.parent = static_cast<std::int64_t>(parent->second);
    }
    if (auto ok = add_users(draft, entry, account); !ok) return ok;
    machine.accounts.push_back(std::move(account));
  }
  return {};
}

Result<void> check_named(const ClusterDraft& draft, const LimitEntry& entry, const char* key, std::string_view name,
                         const auto& tables) {
  if (name.empty() || name == Limit::kEach) return {};
  if (std::ranges::find(tables, name, [](const auto& table) { return std::string_view(table.name); }) != tables.end())
    return {};
  return wrong(draft, entry.line_of(key),
               fmt::format("`{}` names {}, which the file does not describe.", key, quoted(name)));
}

// Users and accounts are names that jobs bring.
Result<void> add_limits(const ClusterDraft& draft, Machine& machine) {
  for (const LimitEntry& entry : draft.limits) {
    Limit limit{.user = entry.user, .account = entry.account, .qos = entry.qos, .partition = entry.partition};
    limit.accelerator_type = entry.accelerator_type;
    limit.most = {entry.jobs, entry.processors, entry.nodes, entry.memory, entry.accelerators, Limit::kNone};
    if (entry.processor_minutes != Limit::kNone) limit.most.processor_seconds = entry.processor_minutes * 60;
    limit.reason = entry.reason;
    if (limit.most == Limit{}.most)
      return wrong(draft, entry.line,
                   "this [[limits]] table limits nothing. Say how many jobs, processors, nodes, accelerators or "
                   "processor_minutes, or how much memory.");
    const auto& types = machine.accelerator_types;
    if (!entry.accelerator_type.empty() && std::ranges::find(types, entry.accelerator_type) == types.end())
      return wrong(draft, entry.line_of("accelerator_type"),
                   fmt::format("`accelerator_type` names {}, which no node has.", quoted(entry.accelerator_type)));
    if (auto ok = check_named(draft, entry, "qos", entry.qos, machine.qos); !ok) return ok;
    if (auto ok = check_named(draft, entry, "partition", entry.partition, machine.partitions); !ok) return ok;
    const auto except = [&](const char* key, std::string_view list, const auto& tables,
                            std::vector<std::string>& names) {
      for (const std::string_view each : split(list, ',')) {
        if (trimmed(each).empty()) continue;
        if (auto ok = check_named(draft, entry, key, trimmed(each), tables); !ok) return ok;
        names.emplace_back(trimmed(each));
      }
      return Result<void>{};
    };
    TRY(except("except_qos", entry.except_qos, machine.qos, limit.except_qos));
    TRY(except("except_partitions", entry.except_partitions, machine.partitions, limit.except_partitions));
    machine.limits.push_back(std::move(limit));
  }
  return {};
}

}  // namespace

Result<void> add_shares(const ClusterDraft& draft, Machine& machine) {
  for (const auto& [line, table] : {std::pair{draft.qos.empty() ? 0U : draft.qos[0].line, "[[qos]]"},
                                    std::pair{draft.accounts.empty() ? 0U : draft.accounts[0].line, "[[accounts]]"},
                                    std::pair{draft.limits.empty() ? 0U : draft.limits[0].line, "[[limits]]"}}) {
    if (line != 0 && !draft.sites.empty())
      return wrong(draft, line,
                   std::string(table) + " go with a single site. Leave them out where there are [[sites]].");
  }
  if (auto ok = add_qos(draft, machine); !ok) return ok;
  if (auto ok = add_accounts(draft, machine); !ok) return ok;
  return add_limits(draft, machine);
}

}  // namespace rota::site
