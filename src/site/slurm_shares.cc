#include "site/slurm_shares.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/text.h"
#include "site/toml_text.h"

namespace rota::site {
namespace {

constexpr const char* kCannotBeWritten = "names with a colon or a comma in them";

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// What -P prints: a line of names, and rows with bars between their cells.
class Table {
 public:
  static Result<Table> read(std::string_view text, const std::string& shown, std::string_view command) {
    if (!is_utf8(text)) return fail(shown + ": it is not UTF-8 text, as " + std::string(command) + " prints it.");
    Table table;
    for (const std::string_view line : split(text, '\n')) {
      if (trimmed(line).empty()) continue;
      table.rows_.push_back(split(line, '|'));
    }
    if (table.rows_.empty()) return fail(shown + ": it is empty. Write it with `" + std::string(command) + "`.");
    return table;
  }

  // Which column bears one of these names; fails where none does.
  Result<std::size_t> column(std::initializer_list<std::string_view> names, const std::string& shown,
                             std::string_view command) const {
    const auto& first = rows_.front();
    for (std::size_t i = 0; i < first.size(); ++i)
      if (std::ranges::find(names, without_blanks(trimmed(first[i]))) != names.end()) return i;
    return fail(shown + ": its first line names no column " + quoted(*names.begin()) + ". Write it with `" +
                std::string(command) + "`, without -n.");
  }
  std::size_t size() const { return rows_.size() - 1; }
  std::string_view cell(std::size_t row, std::size_t column) const {
    const auto& cells = rows_[row + 1];
    return column < cells.size() ? trimmed(cells[column]) : std::string_view{};
  }

 private:
  std::vector<std::vector<std::string_view>> rows_;
};

// "1.500000" in three decimals; empty: it is 1, or no number.
std::string factor_of(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = parse_integer(text.substr(0, point));
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  decimals.resize(3, '0');
  if (!whole || *whole < 0 || *whole > 1000 || !parse_integer(decimals)) return {};
  return *whole == 1 && decimals == "000" ? std::string() : std::to_string(*whole) + "." + decimals;
}

struct Association {
  std::string_view account, user, parent, shares;
};

// Accounts below accounts, each with its users.
class Associations {
 public:
  explicit Associations(SlurmRemarks& remarks) : remarks_(remarks) {}

  void take(const Association& row) {
    if (row.account.find_first_of(":,") != std::string_view::npos ||
        row.user.find_first_of(":,") != std::string_view::npos)
      return remarks_.left_out(std::string("shares of accounts and users with ") + kCannotBeWritten, row.account);
    if (row.user.empty()) {
      if (row.account != kRoot) accounts_[row.parent].push_back(row);
    } else {
      std::string& users = users_[row.account];
      users += (users.empty() ? "" : ",") + std::string(row.user);
      if (row.shares != "1") users += ":" + std::string(row.shares);
    }
  }

  std::string toml() {
    if (const auto users = users_.find(kRoot); users != users_.end()) write({kRoot, {}, {}, "parent"}, users->second);
    write_below(kRoot);
    return std::move(toml_);
  }

 private:
  static constexpr std::string_view kRoot = "root";

  void write_below(std::string_view parent) {
    const auto below = accounts_.find(parent);
    if (below == accounts_.end()) return;
    const std::vector<Association> all = std::move(below->second);
    accounts_.erase(below);  // so that it ends, whatever is written there
    for (const Association& account : all) {
      const auto users = users_.find(account.account);
      write(account, users == users_.end() ? std::string() : users->second);
      write_below(account.account);
    }
  }
  void write(const Association& account, const std::string& users) {
    toml_ += "\n[[accounts]]\nname = " + toml_text(account.account) + "\n";
    if (!account.parent.empty() && account.parent != kRoot) toml_ += "parent = " + toml_text(account.parent) + "\n";
    if (account.shares == "parent") {
      toml_ += "inherits = true\n";
    } else if (account.shares != "1") {
      toml_ += "shares = " + std::string(account.shares) + "\n";
    }
    if (!users.empty()) toml_ += "users = " + toml_text(users) + "\n";
  }

  SlurmRemarks& remarks_;
  std::map<std::string_view, std::vector<Association>> accounts_;  // by parent
  std::map<std::string_view, std::string> users_;                  // by account, as a cluster file has them
  std::string toml_;
};

bool are_shares(std::string_view text) {
  const auto number = parse_integer(text);
  return text == "parent" || (number && *number >= 0 && *number <= 2'000'000'000);
}

}  // namespace

Result<std::string> qos_of_slurm(std::string_view text, const std::string& shown, SlurmRemarks& remarks) {
  constexpr std::string_view kCommand = "sacctmgr -P show qos format=Name,Priority,UsageFactor";
  const auto table = Table::read(text, shown, kCommand);
  if (!table) return std::unexpected(table.error());
  const auto name = table->column({"name"}, shown, kCommand), priority = table->column({"priority"}, shown, kCommand);
  const auto factor = table->column({"usagefactor"}, shown, kCommand);
  for (const auto* column : {&name, &priority, &factor})
    if (!*column) return std::unexpected(column->error());
  std::string toml;
  for (std::size_t row = 0; row < table->size(); ++row) {
    const std::string_view called = table->cell(row, *name), told = table->cell(row, *priority);
    const auto number = parse_integer(told.empty() ? "0" : told);
    if (!number || *number < 0 || *number > UINT32_MAX)
      return fail(shown + ": QOS " + quoted(called) + " has priority " + quoted(told) + ", which is not a number.");
    if (*number == UINT32_MAX) remarks.guessed("QOS without a priority are taken as of priority 0", called);
    toml += "\n[[qos]]\nname = " + toml_text(called) + "\n";
    if (*number > 0 && *number < UINT32_MAX) toml += "priority = " + std::to_string(*number) + "\n";
    const std::string counts = factor_of(table->cell(row, *factor));
    if (!counts.empty()) toml += "usage_factor = " + counts + "\n";
  }
  return toml;
}

Result<std::string> accounts_of_slurm(std::string_view text, const std::string& shown, std::string_view cluster,
                                      SlurmRemarks& remarks) {
  constexpr std::string_view kCommand = "sacctmgr -P show assoc format=Cluster,Account,User,Partition,ParentName,Share";
  const auto table = Table::read(text, shown, kCommand);
  if (!table) return std::unexpected(table.error());
  const auto column = [&](std::initializer_list<std::string_view> names) {
    return table->column(names, shown, kCommand);
  };
  const auto of = column({"cluster"}), account = column({"account"}), user = column({"user"}),
             partition = column({"partition"}), parent = column({"parentname", "parname"}),
             share = column({"share", "fairshare"});
  for (const auto* each : {&of, &account, &user, &partition, &parent, &share})
    if (!*each) return std::unexpected(each->error());
  Associations all(remarks);
  for (std::size_t row = 0; row < table->size(); ++row) {
    if (table->cell(row, *of) != cluster) continue;
    const Association one{table->cell(row, *account), table->cell(row, *user), table->cell(row, *parent),
                          table->cell(row, *share)};
    if (!table->cell(row, *partition).empty()) {
      remarks.left_out("shares that users have in a single partition", one.user);
    } else if (!are_shares(one.shares)) {
      return fail(shown + ": account " + quoted(one.account) + " has " + quoted(one.shares) +
                  " shares, which is neither a number nor `parent`.");
    } else {
      all.take(one);
    }
  }
  return all.toml();
}

}  // namespace rota::site
