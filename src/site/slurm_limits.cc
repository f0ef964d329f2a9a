#include "site/slurm_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "site/slurm_table.h"
#include "site/toml_text.h"

namespace rota::site {
namespace {

// A resource: as Slurm calls it in lists (TRES), as a cluster file does, and in the words for jobs that wait.
struct Resource {
  std::string_view tres, key, in_groups, for_users, for_accounts;
};
constexpr std::array<Resource, 4> kResources{{{"cpu", "processors", "CpuLimit", "CpuPerUserLimit", "CpuPerAccount"},
                                              {"node", "nodes", "NodeLimit", "NodePerUserLimit", "NodePerAccount"},
                                              {"mem", "memory", "MemLimit", "MemoryPerUser", "MemoryPerAccount"},
                                              {"gres/gpu", "accelerators", "GRES", "GRESPerUser", "GRESPerAccount"}}};

// A column of limits: for whom it holds, and whether the number of jobs is limited or what they hold.
enum class Whose : std::uint8_t { together, each_user, each_account };
struct Column {
  std::string_view name;  // in small letters
  Whose whose;
  bool of_jobs;
  std::string_view reason;  // of a limit of jobs; else what stands before the resource's words
  std::string_view kind;    // what it is overruled by: of associations, and of QOS
};
constexpr std::array<Column, 12> kQosColumns{
    {{"grptres", Whose::together, false, "QOSGrp", "GrpTRES"},
     {"grpjobs", Whose::together, true, "QOSGrpJobsLimit", "GrpJobs"},
     {"maxtrespu", Whose::each_user, false, "QOSMax", ""},
     {"maxtresperuser", Whose::each_user, false, "QOSMax", ""},
     {"maxjobspu", Whose::each_user, true, "QOSMaxJobsPerUserLimit", "MaxJobs"},
     {"maxjobsperuser", Whose::each_user, true, "QOSMaxJobsPerUserLimit", "MaxJobs"},
     {"maxtrespa", Whose::each_account, false, "Max", ""},
     {"maxtresperaccount", Whose::each_account, false, "Max", ""},
     {"maxjobspa", Whose::each_account, true, "MaxJobsPerAccount", ""},
     {"maxjobsperaccount", Whose::each_account, true, "MaxJobsPerAccount", ""},
     {"maxjobs", Whose::each_user, true, "QOSMaxJobsPerUserLimit", "MaxJobs"},
     {"maxjobsaccount", Whose::each_account, true, "MaxJobsPerAccount", ""}}};
constexpr std::array<Column, 3> kAssociationColumns{
    {{"grptres", Whose::together, false, "AssocGrp", "GrpTRES"},
     {"grpjobs", Whose::together, true, "AssocGrpJobsLimit", "GrpJobs"},
     {"maxjobs", Whose::each_user, true, "AssocMaxJobsLimit", "MaxJobs"}}};

// No job that is in a log was over such limits: they are of one job alone, or of jobs that were refused.
bool needs_no_model(std::string_view column) {
  constexpr std::array<std::string_view, 9> kOfOneJob{
      "maxtres", "maxtresperjob",         "maxtrespernode", "maxtresmins",  "maxtresminsperjob",
      "maxwall", "maxwalldurationperjob", "mintres",        "mintresperjob"};
  return std::ranges::find(kOfOneJob, column) != kOfOneJob.end() || column.contains("submit") ||
         column.starts_with("minprio");
}

// Whether a column has limits of jobs in it: GrpTRES, MaxJobsPU, MinTRES, ...
bool is_limit(std::string_view column) {
  return column.starts_with("grp") || column.starts_with("max") || column.starts_with("min");
}

std::string column_name(std::string_view title) {
  std::string name;
  for (const char c : trimmed(title))
    if (c != ' ') name += lower(c);
  return name;
}

// "64", and for memory "256G", "1.50T" or megabytes; as a cluster file has it.
std::optional<std::string> amount_of(const Resource& resource, std::string_view text) {
  constexpr double kMost = 1e9;
  if (resource.tres != "mem") {
    const auto number = parse_integer(text);
    return number && *number >= 0 && *number <= 1'000'000'000 ? std::optional(std::to_string(*number)) : std::nullopt;
  }
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_number(text.substr(0, digits));
  const std::string_view unit = digits == text.size() ? "M" : text.substr(digits);
  const std::size_t power = std::string_view("KMGT").find(unit);
  if (!number || *number < 0 || *number > kMost || unit.size() != 1 || power == std::string_view::npos)
    return std::nullopt;
  return std::to_string(std::llround(std::ldexp(*number, static_cast<int>(10 * (power + 1)))));
}

class Limits {
 public:
  Limits(const SlurmText& text, const std::vector<SlurmPartition>& partitions, SlurmRemarks& remarks,
         MadeUpNames* names)
      : text_(text), partitions_(partitions), remarks_(remarks), names_(names) {}

  Result<std::string> read(std::string_view cluster) {
    TRY(read_qos());
    TRY(read_associations(cluster));
    return std::move(toml_);
  }

 private:
  // For whom a limit holds, as keys of a table.
  using Holder = std::vector<std::pair<std::string_view, std::string>>;

  void tell_unknown(const std::string& of, const std::string& shown) {
    remarks_.left_out(fmt::format("limits of {}, if they have any (AccountingStorageEnforce): {} does not tell them; "
                                  "the commands that --help shows do",
                                  of, shown),
                      "");
  }

  // visit(column, row, text) for each limit that stands in the table; false: it has no column of limits. `of`: what has
  // it, by row.
  template <class Columns, class Of, class Visit>
  bool each_limit(const SlurmTable& table, const Columns& columns, const Of& of, const Visit& visit) {
    bool any = false;
    for (std::size_t at = 0; at < table.names().size(); ++at) {
      const std::string name = column_name(table.names()[at]);
      if (!is_limit(name)) continue;
      any = true;
      const auto known = std::ranges::find(columns, name, &Column::name);
      for (std::size_t row = 0; row < table.size(); ++row) {
        const std::string_view text = table.cell(row, at);
        if (text.empty() || needs_no_model(name)) continue;
        const auto [what, who] = of(row);
        if (what.empty()) continue;
        if (known != columns.end()) {
          visit(*known, row, text);
        } else {
          remarks_.left_out(fmt::format("the limit {} of {}", trimmed(table.names()[at]), what), who);
        }
      }
    }
    return any;
  }

  Result<void> read_qos() {
    const SlurmText::File& file = text_.qos;
    if (file.text.empty()) {
      tell_unknown("QOS", file.shown);
      return {};
    }
    const std::string command = std::string("sacctmgr -P show qos format=") + kQosFormat;
    const auto table = TRY(SlurmTable::read(file.text, file.shown, command, remarks_));
    const auto name = TRY(table.column({"name"}, file.shown, command));
    const auto of = [&](std::size_t row) { return std::pair(std::string("QOS"), table.cell(row, name)); };
    const bool told = each_limit(table, kQosColumns, of, [&](const Column& column, std::size_t row, auto text) {
      const std::string_view qos = table.cell(row, name);
      const std::string shown(called(names_, MadeUpNames::Of::qos, qos));
      add(column, {{"qos", shown}}, text, {"QOS", qos});
      for (const SlurmPartition& partition : partitions_)
        if (partition.qos == qos) add(column, {{"partition", partition.name}}, text, {"QOS", qos});
    });
    if (!told) tell_unknown("QOS", file.shown);
    return {};
  }

  Result<void> read_associations(std::string_view cluster) {
    const SlurmText::File& file = text_.associations;
    if (file.text.empty()) {
      tell_unknown("accounts and users", file.shown);
      return {};
    }
    const std::string command = std::string("sacctmgr -P show assoc format=") + kAssociationFormat;
    const auto table = TRY(SlurmTable::read(file.text, file.shown, command, remarks_));
    const auto of_cluster = TRY(table.column({"cluster"}, file.shown, command));
    const auto account = TRY(table.column({"account"}, file.shown, command));
    const auto user = TRY(table.column({"user"}, file.shown, command));
    const auto in = table.column({"partition"}, file.shown, command);
    const auto of = [&](std::size_t row) {
      const std::string_view name = table.cell(row, user);
      if (lower(table.cell(row, of_cluster)) != lower(cluster)) return std::pair(std::string(), name);
      return name.empty() ? std::pair(std::string("accounts"), table.cell(row, account))
                          : std::pair(std::string("users"), name);
    };
    const bool told = each_limit(table, kAssociationColumns, of, [&](const Column& column, std::size_t row, auto text) {
      const auto [what, who] = of(row);
      const std::string_view of_account = table.cell(row, account);
      const bool users = what == "users";
      if (column.whose == Whose::each_user && !users) return;  // sacctmgr shows it at each of its users
      Holder holder;
      if (of_account != "root" || users)
        holder.emplace_back("account", called(names_, MadeUpNames::Of::account, of_account));
      if (users) holder.emplace_back("user", called(names_, MadeUpNames::Of::user, who));
      const std::string_view partition = in ? table.cell(row, *in) : std::string_view{};
      if (!partition.empty() && std::ranges::find(partitions_, partition, &SlurmPartition::name) == partitions_.end())
        return remarks_.left_out(fmt::format("limits of {} in a partition that is not there", what), who);
      if (!partition.empty()) holder.emplace_back("partition", called(names_, MadeUpNames::Of::partition, partition));
      add(column, std::move(holder), text, {what, who});
    });
    if (!told) tell_unknown("accounts and users", file.shown);
    return {};
  }

  void add(const Column& column, Holder holder, std::string_view text,
           const std::pair<std::string, std::string_view>& of) {
    const bool of_qos = of.first == "QOS";
    if (of_qos && column.whose == Whose::each_user) holder.emplace_back("user", "*");
    if (of_qos && column.whose == Whose::each_account) holder.emplace_back("account", "*");
    if (column.of_jobs) {
      const auto jobs = parse_integer(text);
      if (!jobs || *jobs < 0 || *jobs > 1'000'000'000) return wrong(column, text, of);
      return write(holder, {"jobs", std::to_string(*jobs), std::string(column.reason), std::string(column.kind)},
                   of_qos);
    }
    for (const std::string_view part : split(text, ',')) {
      const std::size_t equals = std::min(part.find('='), part.size());
      const auto resource = std::ranges::find(kResources, lower(trimmed(part.substr(0, equals))), &Resource::tres);
      const auto most = resource == kResources.end()
                            ? std::nullopt
                            : amount_of(*resource, trimmed(part.substr(std::min(equals + 1, part.size()))));
      if (!most) {
        wrong(column, part, of);
        continue;
      }
      const std::string_view word = column.whose == Whose::each_user      ? resource->for_users
                                    : column.whose == Whose::each_account ? resource->for_accounts
                                                                          : resource->in_groups;
      write(holder,
            {std::string(resource->key), *most, fmt::format("{}{}", column.reason, word),
             fmt::format("{}/{}", column.kind, resource->tres)},
            of_qos);
    }
  }

  void wrong(const Column& column, std::string_view text, const std::pair<std::string, std::string_view>& of) {
    const std::string_view resource = text.substr(0, std::min(text.find('='), text.size()));
    remarks_.left_out(fmt::format("the limit {} of {}", column.of_jobs ? column.kind : resource, of.first), of.second);
  }

  struct Written {
    std::string key, most, reason, kind;
  };
  // A limit of a QOS holds in place of the same one of accounts and users.
  void write(const Holder& holder, const Written& limit, bool of_qos) {
    toml_ += "\n[[limits]]\n";
    for (const auto& [name, value] : holder) toml_ += fmt::format("{} = {}\n", name, toml_text(value));
    if (of_qos && holder.front().first == "partition") of_partitions_.emplace(limit.kind, holder.front().second);
    if (!of_qos && !limit.kind.empty())
      for (auto [at, end] = of_partitions_.equal_range(limit.kind); at != end; ++at)
        remarks_.left_out(
            fmt::format("that the limit {} of accounts and users gives way to that of the QOS of partitions",
                        limit.kind),
            at->second);
    std::string& overruling = overruling_[limit.kind];
    if (!of_qos && !overruling.empty()) toml_ += fmt::format("except_qos = {}\n", toml_text(overruling));
    if (of_qos && holder.front().first == "qos") overruling += (overruling.empty() ? "" : ",") + holder.front().second;
    toml_ += fmt::format("{} = {}\nreason = {}\n", limit.key, limit.most, toml_text(limit.reason));
  }

  const SlurmText& text_;
  const std::vector<SlurmPartition>& partitions_;
  SlurmRemarks& remarks_;
  MadeUpNames* names_;
  std::map<std::string, std::string> overruling_;          // QOS that have a limit, by its kind
  std::multimap<std::string, std::string> of_partitions_;  // whose QOS has a limit, by its kind
  std::string toml_;
};

}  // namespace

Result<std::string> limits_of_slurm(const SlurmText& text, std::string_view cluster,
                                    const std::vector<SlurmPartition>& partitions, SlurmRemarks& remarks,
                                    MadeUpNames* names) {
  return Limits(text, partitions, remarks, names).read(cluster);
}

}  // namespace rota::site
