#include "site/slurm_shares.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/letters.h"
#include "base/text.h"
#include "site/cluster_keys.h"
#include "site/slurm_table.h"
#include "site/toml_text.h"

namespace rota::site {
namespace {

constexpr std::size_t kMostQos = QosId::kNone;

// Whether a cluster file can have it as the name of an account, a user or a QOS.
bool can_be_written(std::string_view name) {
  return !name.empty() && name.size() <= kLongestText && name.find_first_of(":,") == std::string_view::npos;
}

struct SlurmQos {
  std::string_view name;
  std::int64_t priority = 0;
  std::int64_t usage_factor = 1000;         // per mille
  std::vector<std::string_view> over = {};  // whose jobs give way

  bool counts() const { return priority > 0 || usage_factor != 1000 || !over.empty(); }
  // `told`: the QOS that the file has.
  std::string toml(const std::vector<std::string_view>& told) const {
    std::string text = fmt::format("\n[[qos]]\nname = {}\n", toml_text(name));
    if (priority > 0) text += fmt::format("priority = {}\n", priority);
    std::string others;
    for (const std::string_view other : over)
      if (std::ranges::find(told, other) != told.end()) others += (others.empty() ? "" : ",") + std::string(other);
    if (!others.empty()) text += fmt::format("preempts = {}\n", toml_text(others));
    if (usage_factor == 1000) return text;
    return fmt::format("{}usage_factor = {}\n", text, toml_factor(usage_factor));
  }
};

// "1.500000" in thousandths.
std::int64_t factor_of(std::string_view text, std::string_view qos, SlurmRemarks& remarks) {
  const auto factor = parse_number(text.empty() ? "1" : text);
  if (!factor || !(*factor >= 0 && *factor <= 1000)) {
    remarks.guessed("UsageFactor of QOS that is no number from 0 to 1000 is taken as 1", qos);
    return 1000;
  }
  const double thousandths = *factor * 1000;
  if (std::abs(thousandths - std::round(thousandths)) > 1e-6)
    remarks.guessed("UsageFactor of QOS is rounded to three decimals", qos);
  return std::llround(thousandths);
}

// Those without an effect go first where there are too many.
std::string toml_of(std::vector<SlurmQos> all, SlurmRemarks& remarks) {
  if (all.size() > kMostQos) std::ranges::stable_partition(all, &SlurmQos::counts);
  std::string toml;
  std::vector<std::string_view> told;
  for (const SlurmQos& qos : all)
    if (told.size() < kMostQos) told.push_back(qos.name);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < kMostQos) {
      toml += all[i].toml(told);
    } else {
      remarks.left_out("QOS, of which a cluster file can have " + std::to_string(kMostQos), all[i].name);
    }
  }
  return toml;
}

// Which jobs give way to its jobs, where the table tells that.
void read_preemption(const SlurmTable& table, std::size_t row, SlurmQos& qos, SlurmRemarks& remarks,
                     MadeUpNames* names) {
  const auto cell = [&](std::string_view title) {
    const auto at = std::ranges::find(table.names(), title, [](std::string_view name) { return trimmed(name); });
    return at == table.names().end() ? std::string_view{}
                                     : table.cell(row, static_cast<std::size_t>(at - table.names().begin()));
  };
  for (const std::string_view other : split(cell("Preempt"), ','))
    if (!trimmed(other).empty()) qos.over.push_back(called(names, MadeUpNames::Of::qos, trimmed(other)));
  if (const std::string mode = lower(cell("PreemptMode")); !mode.empty() && mode != "cluster")
    remarks.left_out("PreemptMode of a QOS by itself, in place of the cluster's", qos.name);
  const auto is_time = [&](std::string_view title) { return cell(title).find_first_of("123456789") != title.npos; };
  if (is_time("PreemptExemptTime"))
    remarks.left_out("PreemptExemptTime of a QOS by itself, in place of the cluster's", qos.name);
  if (is_time("GraceTime")) remarks.left_out("GraceTime of a QOS: its jobs give way at once", qos.name);
}

struct Association {
  std::string_view account, user, parent, shares;
};

// Accounts below accounts, each with its users.
class Associations {
 public:
  Associations(SlurmRemarks& remarks, MadeUpNames* names) : remarks_(remarks), names_(names) {}

  void take(Association row) {
    if (!can_be_written(row.account) || (!row.user.empty() && !can_be_written(row.user)))
      return remarks_.left_out("shares of accounts and users with a colon, a comma or too many letters in their names",
                               row.user.empty() ? row.account : row.user);
    row.account = called(names_, MadeUpNames::Of::account, row.account);
    row.parent = called(names_, MadeUpNames::Of::account, row.parent);
    row.user = called(names_, MadeUpNames::Of::user, row.user);
    if (!seen_.emplace(row.account, row.user).second)
      return remarks_.left_out("shares of accounts and users that are told of twice: the first ones count",
                               row.user.empty() ? row.account : row.user);
    if (row.user.empty()) {
      if (row.account != kRoot) accounts_[row.parent].push_back(row);
    } else {
      take_user(row);
    }
  }

  std::string toml() {
    if (const auto users = users_.find(kRoot); users != users_.end()) write({kRoot, {}, {}, "parent"}, users->second);
    write_below(kRoot);
    for (const auto& [parent, accounts] : accounts_)
      for (const Association& account : accounts)
        remarks_.left_out("accounts below one that is not told of, or left out", account.account);
    for (const auto& [account, users] : users_)
      if (!written_.contains(account)) remarks_.left_out("shares of users in accounts that are left out", account);
    return std::move(toml_);
  }

 private:
  static constexpr std::string_view kRoot = "root";

  void take_user(const Association& row) {
    std::string& users = users_[row.account];
    std::string user = (users.empty() ? "" : ",") + std::string(row.user);
    if (row.shares != "1") user += ":" + std::string(row.shares);
    if (users.size() + user.size() <= kLongestUsers) {
      users += user;
    } else {
      remarks_.left_out("shares of users in accounts that have too many", row.account);
    }
  }
  void write_below(std::string_view parent) {
    const auto below = accounts_.find(parent);
    if (below == accounts_.end()) return;
    const std::vector<Association> all = std::move(below->second);
    accounts_.erase(below);  // so that it ends, whatever is written there
    for (const Association& account : all) {
      if (written_.size() == kMostTables) {
        remarks_.left_out("accounts, of which a cluster file can have " + grouped(kMostTables), account.account);
        continue;
      }
      const auto users = users_.find(account.account);
      write(account, users == users_.end() ? std::string() : users->second);
      write_below(account.account);
    }
  }
  void write(const Association& account, const std::string& users) {
    written_.insert(account.account);
    toml_ += fmt::format("\n[[accounts]]\nname = {}\n", toml_text(account.account));
    if (!account.parent.empty() && account.parent != kRoot)
      toml_ += fmt::format("parent = {}\n", toml_text(account.parent));
    if (account.shares == "parent") {
      toml_ += "inherits = true\n";
    } else if (account.shares != "1") {
      toml_ += fmt::format("shares = {}\n", account.shares);
    }
    if (!users.empty()) toml_ += fmt::format("users = {}\n", toml_text(users));
  }

  SlurmRemarks& remarks_;
  MadeUpNames* names_;
  std::set<std::pair<std::string_view, std::string_view>> seen_;   // account and user
  std::map<std::string_view, std::vector<Association>> accounts_;  // by parent, each once
  std::map<std::string_view, std::string> users_;                  // by account, as a cluster file has them
  std::set<std::string_view> written_;
  std::string toml_;
};

bool are_shares(std::string_view text) {
  const auto number = parse_integer(text);
  return text == "parent" || (number && *number >= 0 && *number <= kMostShares);
}

}  // namespace

Result<std::string> qos_of_slurm(std::string_view text, const std::string& shown, SlurmRemarks& remarks,
                                 MadeUpNames* names) {
  const std::string command = "sacctmgr -P show qos format=" + std::string(kQosFormat);
  const auto table = TRY(SlurmTable::read(text, shown, command, remarks));
  const auto column = table.column({"name"}, shown, command), priority = table.column({"priority"}, shown, command);
  const auto factor = table.column({"usagefactor"}, shown, command);
  for (const auto* each : {&column, &priority, &factor})
    if (!*each) return std::unexpected(each->error());
  std::vector<SlurmQos> all;
  std::set<std::string_view> seen;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string_view name = table.cell(row, *column), told = table.cell(row, *priority);
    const auto number = parse_integer(told.empty() ? "0" : told);
    if (!number || *number < 0 || *number > UINT32_MAX)
      return fail("{}: QOS {} has priority {}, which is not a number.", shown, quoted(name), quoted(told));
    if (name.empty() || name.size() > kLongestText) {
      remarks.left_out("QOS with too long a name, or with none", name);
    } else if (!seen.insert(name).second) {
      remarks.left_out("QOS that are told of twice: the first one counts", name);
    } else {
      if (*number == UINT32_MAX) remarks.guessed("QOS without a priority are taken as of priority 0", name);
      all.push_back({called(names, MadeUpNames::Of::qos, name), *number == UINT32_MAX ? 0 : *number,
                     factor_of(table.cell(row, *factor), name, remarks)});
      read_preemption(table, row, all.back(), remarks, names);
    }
  }
  return toml_of(std::move(all), remarks);
}

Result<std::string> accounts_of_slurm(std::string_view text, const std::string& shown, std::string_view cluster,
                                      SlurmRemarks& remarks, MadeUpNames* names) {
  const std::string command = "sacctmgr -P show assoc format=" + std::string(kAssociationFormat);
  const auto table = TRY(SlurmTable::read(text, shown, command, remarks));
  const auto column = [&](std::initializer_list<std::string_view> titles) {
    return table.column(titles, shown, command);
  };
  const auto of = column({"cluster"}), account = column({"account"}), user = column({"user"}),
             partition = column({"partition"}), parent = column({"parentname", "parname"}),
             share = column({"share", "fairshare"});
  for (const auto* each : {&of, &account, &user, &partition, &parent, &share})
    if (!*each) return std::unexpected(each->error());
  Associations all(remarks, names);
  bool any = false;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (lower(table.cell(row, *of)) != lower(cluster)) continue;  // slurmdbd keeps it in small letters
    any = true;
    const Association one{table.cell(row, *account), table.cell(row, *user), table.cell(row, *parent),
                          table.cell(row, *share)};
    if (!table.cell(row, *partition).empty()) {
      remarks.left_out("shares that users have in a single partition", one.user);
    } else if (!are_shares(one.shares)) {
      return fail("{}: account {} has {} shares, which is neither a number nor `parent`.", shown, quoted(one.account),
                  quoted(one.shares));
    } else {
      all.take(one);
    }
  }
  if (!any)
    remarks.left_out(fmt::format("shares of accounts and users: {} tells of none of {}", shown,
                                 names != nullptr ? std::string("this cluster") : "cluster " + quoted(cluster)),
                     "");
  return all.toml();
}

}  // namespace rota::site
