#include "site/slurm_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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
constexpr std::string_view kOfType = "gres/gpu:";
constexpr std::string_view kRunMinutes = "GrpTRESRunMins";
constexpr std::array<Column, 13> kQosColumns{
    {{"grptres", Whose::together, false, "QOSGrp", "GrpTRES"},
     {"grptresrunmins", Whose::together, false, "QOSGrp", kRunMinutes},
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
constexpr std::array<Column, 4> kAssociationColumns{
    {{"grptres", Whose::together, false, "AssocGrp", "GrpTRES"},
     {"grptresrunmins", Whose::together, false, "AssocGrp", kRunMinutes},
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
  Limits(const SlurmText& text, const LimitedParts& parts, SlurmRemarks& remarks, MadeUpNames* names)
      : text_(text), partitions_(parts.partitions), types_(parts.types), remarks_(remarks), names_(names) {}

  Result<std::string> read(std::string_view cluster) {
    TRY(read_qos());
    TRY(read_associations(cluster));
    std::string toml;
    for (const Written& limit : all_) toml += text_of(limit);
    return toml;
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
    if (const auto flags = table.column({"flags"}, file.shown, command))
      for (std::size_t row = 0; row < table.size(); ++row)
        if (lower(table.cell(row, *flags)).contains("overpartqos"))
          over_partitions_.emplace(called(names_, MadeUpNames::Of::qos, table.cell(row, name)));
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
      const std::string name = lower(trimmed(part.substr(0, equals)));
      const bool minutes = column.kind == kRunMinutes;
      const bool typed = name.starts_with(kOfType) && types_.contains(name.substr(kOfType.size()));
      const auto resource =
          std::ranges::find(kResources, typed ? kOfType.substr(0, kOfType.size() - 1) : name, &Resource::tres);
      const auto most = resource == kResources.end() || (minutes && resource->tres != "cpu")
                            ? std::nullopt
                            : amount_of(*resource, trimmed(part.substr(std::min(equals + 1, part.size()))));
      if (!most) {
        wrong(column, part, of);
        continue;
      }
      const std::string_view word = column.whose == Whose::each_user      ? resource->for_users
                                    : column.whose == Whose::each_account ? resource->for_accounts
                                                                          : resource->in_groups;
      Holder whose = holder;
      if (typed) whose.emplace_back("accelerator_type", name.substr(kOfType.size()));
      write(whose,
            {minutes ? "processor_minutes" : std::string(resource->key), *most,
             minutes ? fmt::format("{}CPURunMinutesLimit", column.reason) : fmt::format("{}{}", column.reason, word),
             fmt::format("{}/{}", column.kind, name)},
            of_qos);
    }
  }

  void wrong(const Column& column, std::string_view text, const std::pair<std::string, std::string_view>& of) {
    const std::string_view resource = text.substr(0, std::min(text.find('='), text.size()));
    remarks_.left_out(fmt::format("the limit {} of {}", column.of_jobs ? column.kind : resource, of.first), of.second);
  }

  struct Written {
    std::string key, most, reason, kind;
    Holder of = {};
    bool of_qos = false;

    bool names(std::string_view what) const { return of.front().first == what; }
  };
  void write(const Holder& holder, Written limit, bool of_qos) {
    limit.of = holder;
    limit.of_qos = of_qos;
    all_.push_back(std::move(limit));
  }

  // The names of QOS, or of partitions, whose own limit of the same kind holds in place of this one: that of the QOS of
  // a partition comes before that of a job's QOS, unless this is to stand over it (OverPartQOS), and both before those
  // of accounts and users.
  std::string overruled_in(const Written& limit, std::string_view what) const {
    std::vector<std::string> names;
    for (const Written& other : all_) {
      if (!other.of_qos || limit.kind.empty() || other.kind != limit.kind || !other.names(what)) continue;
      const std::string& name = other.of.front().second;
      const bool over = limit.of_qos && over_partitions_.contains(what == "qos" ? name : limit.of.front().second);
      const bool overrules =
          !limit.of_qos || (what == "qos" ? over && limit.names("partition") : !over && limit.names("qos"));
      if (overrules && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
    return list;
  }
  std::string text_of(const Written& limit) const {
    std::string toml = "\n[[limits]]\n";
    for (const auto& [name, value] : limit.of) toml += fmt::format("{} = {}\n", name, toml_text(value));
    for (const auto& [key, list] : {std::pair{"except_qos", overruled_in(limit, "qos")},
                                    std::pair{"except_partitions", overruled_in(limit, "partition")}})
      if (!list.empty()) toml += fmt::format("{} = {}\n", key, toml_text(list));
    return toml + fmt::format("{} = {}\nreason = {}\n", limit.key, limit.most, toml_text(limit.reason));
  }

  const SlurmText& text_;
  const std::vector<SlurmPartition>& partitions_;
  const std::set<std::string, std::less<>>& types_;
  SlurmRemarks& remarks_;
  MadeUpNames* names_;
  std::set<std::string, std::less<>> over_partitions_;  // QOS whose limits come before those of a partition's QOS
  std::vector<Written> all_;
};

}  // namespace

Result<std::string> limits_of_slurm(const SlurmText& text, std::string_view cluster, const LimitedParts& parts,
                                    SlurmRemarks& remarks, MadeUpNames* names) {
  return Limits(text, parts, remarks, names).read(cluster);
}

}  // namespace rota::site
