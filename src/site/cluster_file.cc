#include "site/cluster_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "site/cluster_build.h"
#include "site/cluster_description.h"
#include "site/date.h"
#include "site/toml_document.h"

namespace rota::site {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr std::size_t kLongestCommand = 4096;
constexpr std::size_t kLongestHostList = std::size_t{64} << 10U;  // prices and licences too

// Where one table stands, for messages.
struct Table {
  const std::string& shown;
  std::string title;  // "" or "[[nodes]]"

  std::unexpected<Error> wrong(std::uint32_t line, const std::string& what) const {
    return fail("{}:{}: {}", shown, line, what);
  }
  std::string named(std::string_view key) const {
    return fmt::format("`{}`{}", key, title.empty() ? "" : " in " + title);
  }
};

bool plain_text(std::string_view text, std::size_t longest) {
  const bool control =
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return !text.empty() && text.size() <= longest && !control;
}

std::size_t longest(KeyType type) {
  switch (type) {
    case KeyType::hosts:
    case KeyType::licences:
    case KeyType::features:
    case KeyType::prices:
      return kLongestHostList;
    case KeyType::shares:
      return kLongestUsers;
    case KeyType::command:
      return kLongestCommand;
    default:
      return kLongestText;
  }
}

std::optional<std::string> read_text(const TomlValue& value, std::size_t longest) {
  if (value.kind != TomlValue::Kind::text || !plain_text(value.text, longest)) return std::nullopt;
  return value.text;
}

// A bare number, or text that parse(text) takes, as a number of the smaller unit.
template <class Parse>
std::optional<std::int64_t> read_amount(const TomlValue& value, std::int64_t unit, const Parse& parse) {
  if (value.kind == TomlValue::Kind::text) return parse(value.text);
  if (value.kind != TomlValue::Kind::whole || value.whole < 0 || value.whole > INT64_MAX / unit) return std::nullopt;
  return value.whole * unit;
}

std::optional<std::int64_t> bytes_of(std::string_view text) {
  const auto size = parse_size(text);
  return size ? std::optional(*size) : std::nullopt;
}

std::optional<std::int64_t> milliseconds_of(std::string_view text) {
  const auto time = parse_duration(text);
  return time ? std::optional(time->count()) : std::nullopt;
}

// Thousandths.
std::optional<std::int64_t> read_factor(const TomlValue& value) {
  if (value.kind == TomlValue::Kind::whole) return read_amount(value, 1000, bytes_of);
  if (value.kind != TomlValue::Kind::fraction || !(std::abs(value.fraction) < 1e9)) return std::nullopt;
  return std::llround(value.fraction * 1000);
}

// A date is told with its zone: a reader of the file may be elsewhere.
std::optional<std::int64_t> read_moment(const TomlValue& value) {
  if (value.kind == TomlValue::Kind::text) {
    if (const auto date = unix_milliseconds_of(value.text)) return kDates.count() + *date;
  }
  return read_amount(value, 1000, milliseconds_of);
}

std::optional<std::int64_t> read_number(const TomlValue& value, KeyType type) {
  if (type == KeyType::factor) return read_factor(value);
  if (type == KeyType::size) return read_amount(value, 1, bytes_of);
  if (type == KeyType::moment) return read_moment(value);
  if (type == KeyType::time) return read_amount(value, 1000, milliseconds_of);
  return value.kind == TomlValue::Kind::whole ? std::optional(value.whole) : std::nullopt;
}

// Puts the value into its place; false where it is of another type or out of range.
template <class Of>
bool store(const Key<Of>& key, const TomlValue& value, Of& entry) {
  if (const auto* place = std::get_if<std::string Of::*>(&key.place)) {
    auto text = read_text(value, longest(key.type));
    if (!text) return false;
    entry.** place = std::move(*text);
    return true;
  }
  if (const auto* place = std::get_if<bool Of::*>(&key.place)) {
    entry.** place = value.yes;
    return value.kind == TomlValue::Kind::yes_no;
  }
  const auto number = read_number(value, key.type);
  if (!number || *number < key.low || *number > key.high) return false;
  if (const auto* place = std::get_if<Duration Of::*>(&key.place)) {
    entry.** place = Duration{*number};
  } else {
    entry.*std::get<std::int64_t Of::*>(key.place) = *number;
  }
  return true;
}

template <class Of>
std::string unknown_key(std::string_view name, std::span<const Key<Of>> keys, std::vector<std::string_view> known) {
  for (const Key<Of>& key : keys) known.push_back(key.name);
  const std::string_view near = nearest(name, known);
  if (!near.empty()) return fmt::format("is not known. Did you mean `{}`?", near);
  std::string all;
  for (const std::string_view each : known) all += fmt::format("{}{}`", all.empty() ? "`" : ", `", each);
  return fmt::format("is not known. There are {}.", all);
}

// Reads one table by its keys; `others` are names in it that are not for these keys.
template <class Of>
Result<Of> read_entry(const TomlValue& members, std::span<const Key<Of>> keys, const Table& table,
                      const std::vector<std::string_view>& others = {}) {
  Of entry;
  entry.line = members.line;
  for (const auto& [name, line, value] : members.members) {
    if (std::ranges::find(others, name) != others.end()) continue;
    const auto key = std::ranges::find(keys, name, &Key<Of>::name);
    if (key == keys.end()) {
      return table.wrong(line, fmt::format("the key {}{}{}", quoted(name),
                                           table.title.empty() ? " " : fmt::format(" in {} ", table.title),
                                           unknown_key(name, keys, others)));
    }
    if (!store(*key, value, entry)) {
      return table.wrong(value.line, fmt::format("{} takes {}, not {}.", table.named(key->name),
                                                 takes_text(key->type, key->low, key->high), value.shown()));
    }
    entry.lines.emplace_back(key->name, line);
  }
  for (const Key<Of>& key : keys) {
    if (key.fallback.empty() && entry.line_of(key.name) == 0) {
      return table.wrong(entry.line, fmt::format("{} lacks `{}`: {}.", table.title, key.name, key.meaning));
    }
  }
  return entry;
}

// Reads every [[name]] table.
template <class Of>
Result<std::vector<Of>> read_entries(const TomlValue& root, std::string_view name, std::span<const Key<Of>> keys,
                                     const std::string& shown) {
  std::vector<Of> entries;
  const TomlValue* const list = root.find(name);
  if (list == nullptr) return entries;
  const Table table{shown, fmt::format("[[{}]]", name)};
  const auto is_table = [](const TomlValue& value) { return value.kind == TomlValue::Kind::table; };
  if (list->kind != TomlValue::Kind::list || !std::ranges::all_of(list->items, is_table)) {
    return table.wrong(list->line, fmt::format("`{}` is written as {} tables, one for each; see docs/cluster-file.md.",
                                               name, table.title));
  }
  if (list->items.size() > kMostTables) {
    const bool alike = name == "nodes" || name == "partitions";
    const char* const advice = alike ? "Put nodes or partitions of one kind together in one." : "Leave some out.";
    return table.wrong(list->line,
                       fmt::format("there are more than {} {} tables. {}", grouped(kMostTables), table.title, advice));
  }
  for (const TomlValue& each : list->items) {
    auto entry = TRY(read_entry<Of>(each, keys, table));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<ClusterDraft> read_draft(const TomlValue& root, const std::string& shown) {
  ClusterDraft draft;
  draft.shown = shown;
  auto top = TRY(read_entry<TopEntry>(
      root, top_keys(), {shown, ""},
      {"nodes", "partitions", "qos", "accounts", "limits", "sites", "reservations", "service", "federation", "slurm"}));
  auto nodes = TRY(read_entries<NodesEntry>(root, "nodes", nodes_keys(), shown));
  auto partitions = TRY(read_entries<PartitionEntry>(root, "partitions", partition_keys(), shown));
  auto sites = TRY(read_entries<SiteEntry>(root, "sites", site_keys(), shown));
  auto reservations = TRY(read_entries<ReservationEntry>(root, "reservations", reservation_keys(), shown));
  auto qos = TRY(read_entries<QosEntry>(root, "qos", qos_keys(), shown));
  auto accounts = TRY(read_entries<AccountEntry>(root, "accounts", account_keys(), shown));
  auto limits = TRY(read_entries<LimitEntry>(root, "limits", limit_keys(), shown));
  draft.limits = std::move(limits);
  draft.qos = std::move(qos);
  draft.accounts = std::move(accounts);
  draft.reservations = std::move(reservations);
  draft.sites = std::move(sites);
  draft.top = std::move(top);
  draft.nodes = std::move(nodes);
  draft.partitions = std::move(partitions);
  return draft;
}

}  // namespace

Result<Machine> parse_cluster(std::string_view text, const std::string& shown, std::size_t most_nodes) {
  const auto document = TRY(parse_toml(text, shown));
  auto described = TRY(describe_cluster(document, shown, most_nodes));
  return std::move(described.machine);
}

Result<ClusterDescription> describe_cluster(const TomlValue& document, const std::string& shown,
                                            std::size_t most_nodes) {
  const auto draft = TRY(read_draft(document, shown));
  return build_machine(draft, most_nodes);
}

Result<Machine> read_cluster_file(const std::string& path) {
  const auto text = TRY(read_file(path, kMostBytes));
  return parse_cluster(text, path == "-" ? "standard input" : path);
}

}  // namespace rota::site
