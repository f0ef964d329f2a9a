#include "site/slurm_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "site/cluster_file.h"
#include "site/slurm_limits.h"
#include "site/slurm_nodes.h"
#include "site/slurm_partitions.h"
#include "site/slurm_policy.h"
#include "site/slurm_shares.h"
#include "site/toml_text.h"

namespace rota::site {
namespace {

// "64G" where that says it all, else bytes.
std::string toml_size(std::int64_t bytes) {
  for (const auto& [unit, letter] : {std::pair{std::int64_t{1} << 30U, 'G'}, {std::int64_t{1} << 20U, 'M'}})
    if (bytes % unit == 0) return '"' + std::to_string(bytes / unit) + letter + '"';
  return std::to_string(bytes);
}

std::string toml_time(Duration time) {
  for (const auto& [unit, letter] : {std::pair{86'400'000LL, 'd'}, {3'600'000LL, 'h'}, {60'000LL, 'm'}})
    if (time.count() % unit == 0) return '"' + std::to_string(time.count() / unit) + letter + '"';
  return std::to_string(time.count() / 1000);
}

class Writer {
 public:
  Writer(const SlurmText& text, MadeUpNames* names) : text_(text), names_(names), remarks_(names == nullptr) {}
  Result<SlurmCluster> write();

 private:
  Result<void> read();
  Result<void> take_licences();
  void drop_idle_nodes();
  void rename();
  void write_top();
  void write_nodes();
  void write_partitions();
  void write_billing(Billing billing);
  Result<void> write_shares(const std::string& limits);
  void remark_on_config();
  void remark_on_accounting();
  Result<std::string> limits();
  std::string_view setting(std::string_view key) const;
  void line(const char* key, const std::string& value) { out_.toml += fmt::format("{} = {}\n", key, value); }

  const SlurmText& text_;
  MadeUpNames* names_;  // nullptr: real ones
  SlurmCluster out_;
  SlurmRemarks remarks_;
  std::vector<SlurmNode> nodes_;
  std::vector<SlurmPartition> partitions_;
  std::string licences_;
  std::vector<std::string> licence_names_;  // as Slurm has them
};

std::string_view Writer::setting(std::string_view key) const {
  const auto at = out_.config.find(key);
  return at == out_.config.end() || at->second == "(null)" ? std::string_view{} : std::string_view(at->second);
}

Result<void> Writer::read() {
  auto config = TRY(slurm_config(text_.config.text, text_.config.shown));
  out_.config = std::move(config);
  const auto nodes = TRY(slurm_records(text_.nodes.text, "NodeName", text_.nodes.shown));
  const auto partitions = TRY(slurm_records(text_.partitions.text, "PartitionName", text_.partitions.shown));
  const std::string parameters(setting("SelectTypeParameters"));
  const bool memory_counts = parameters.find("MEMORY") != std::string::npos;
  if (!memory_counts) remarks_.left_out("memory of nodes: Slurm does not count it here (SelectTypeParameters)", "");
  auto read = nodes_of_slurm(nodes, memory_counts, remarks_);
  if (!read) return fail("{}: {}.", text_.nodes.shown, read.error().message);
  nodes_ = std::move(*read);
  auto found = partitions_of_slurm(partitions, nodes_, remarks_);
  if (!found) return fail("{}: {}.", text_.partitions.shown, found.error().message);
  partitions_ = std::move(*found);
  return take_licences();
}

Result<void> Writer::take_licences() {
  const auto licences = TRY(slurm_records(text_.licences.text, "LicenseName", text_.licences.shown));
  for (const SlurmRecord& licence : licences) {
    const std::string& name = licence.values.front().second;
    const auto total = parse_integer(licence.value("Total"));
    if (!total || *total < 0) return fail("{}: licence {} has no number (Total).", text_.licences.shown, quoted(name));
    if (*total == 0) continue;
    if (name.find_first_of(":,") != std::string::npos) {
      remarks_.left_out("licences with a colon or comma in their name", name);
      continue;
    }
    licence_names_.push_back(name);
    if (licence.value("Remote") == "yes")
      remarks_.guessed("licences that other clusters use, too, are taken as all of this one", name);
    licences_ +=
        fmt::format("{}{}:{}", licences_.empty() ? "" : ",", called(names_, MadeUpNames::Of::licence, name), *total);
  }
  return {};
}

// Where there are partitions, jobs can run only on nodes that are in one.
void Writer::drop_idle_nodes() {
  std::set<std::string, std::less<>> used;
  for (const SlurmPartition& partition : partitions_) used.insert(partition.nodes.begin(), partition.nodes.end());
  std::erase_if(nodes_, [&](const SlurmNode& node) {
    const bool idle = !used.contains(node.name);
    if (idle) remarks_.left_out("nodes that are in no partition", node.name);
    return idle;
  });
}

void Writer::rename() {
  const auto rename = [&](MadeUpNames::Of kind, std::string& name) { name = called(names_, kind, name); };
  for (SlurmNode& node : nodes_) {
    rename(MadeUpNames::Of::node, node.name);
    for (std::string& feature : node.features) rename(MadeUpNames::Of::feature, feature);
  }
  for (SlurmPartition& partition : partitions_) {
    rename(MadeUpNames::Of::partition, partition.name);
    for (std::string& node : partition.nodes) rename(MadeUpNames::Of::node, node);
  }
}

void Writer::write_top() {
  const std::string version(setting("SLURM_VERSION"));
  out_.toml +=
      fmt::format("# Made by rota import slurm{}.\n", version.empty() ? "" : " from Slurm " + one_line(version));
  line("name", toml_text(names_ != nullptr ? "cluster" : setting("ClusterName")));
  if (!licences_.empty()) line("licences", toml_text(licences_));
}

void Writer::write_nodes() {
  const bool weighs = !nodes_.empty() && nodes_.front().weight != nodes_.back().weight;  // they stand in that order
  for (std::size_t i = 0; i < nodes_.size();) {
    std::vector<std::string> names;
    const SlurmNode& first = nodes_[i];
    for (; i < nodes_.size() && nodes_[i].alike(first); ++i) names.push_back(nodes_[i].name);
    out_.toml += "\n[[nodes]]\n";
    line("names", toml_text(format_host_list(names)));
    line("processors", std::to_string(first.processors));
    if (first.memory > 0) line("memory", toml_size(first.memory));
    if (first.accelerators > 0) line("accelerators", std::to_string(first.accelerators));
    if (!first.accelerator_type.empty()) line("accelerator_type", toml_text(first.accelerator_type));
    std::string features;
    for (const std::string& feature : first.features) features += (features.empty() ? "" : ",") + feature;
    if (!features.empty()) line("features", toml_text(features));
    if (weighs) line("weight", std::to_string(std::min<std::int64_t>(first.weight, 1'000'000'000)));
  }
}

void Writer::write_partitions() {
  const auto same = [&](const SlurmPartition& p) { return p.priority_tier == partitions_.front().priority_tier; };
  const bool tiers = !std::ranges::all_of(partitions_, same);
  const bool factors = std::ranges::any_of(partitions_, [](const SlurmPartition& p) { return p.job_factor != 1; });
  const bool any_default = std::ranges::any_of(partitions_, &SlurmPartition::by_default);
  if (!any_default && !partitions_.empty())
    remarks_.guessed("no partition is the default: jobs that name none go to the first", partitions_.front().name);
  for (const SlurmPartition& partition : partitions_) {
    out_.toml += "\n[[partitions]]\n";
    line("name", toml_text(partition.name));
    line("nodes", toml_text(format_host_list(partition.nodes)));
    if (partition.by_default) line("default", "true");
    if (partition.max_time < kLongest) line("max_time", toml_time(partition.max_time));
    if (partition.default_time < kLongest) line("default_time", toml_time(partition.default_time));
    if (partition.min_nodes > 1) line("min_nodes", std::to_string(partition.min_nodes));
    if (partition.max_nodes > 0) line("max_nodes", std::to_string(partition.max_nodes));
    if (tiers) line("priority", std::to_string(partition.priority_tier));
    if (factors) line("job_factor", std::to_string(partition.job_factor));
    write_billing(partition.billing);
  }
}

void Writer::write_billing(Billing billing) {
  const Billing plain;
  const auto factor = [&](const char* key, std::int64_t Billing::* weight) {
    if (billing.*weight != plain.*weight) line(key, toml_factor(billing.*weight));
  };
  factor("billing_processor", &Billing::processor);
  factor("billing_memory", &Billing::memory);
  factor("billing_accelerator", &Billing::accelerator);
  factor("billing_node", &Billing::node);
  const auto flags = split_slurm_list(setting("PriorityFlags"));
  if (!billing.by_processors() && std::ranges::find(flags, "MAX_TRES") != flags.end()) line("billing_most", "true");
}

// Names of people only where their shares or limits count.
Result<void> Writer::write_shares(const std::string& limits) {
  if (!text_.qos.text.empty()) {
    const auto qos = TRY(qos_of_slurm(text_.qos.text, text_.qos.shown, remarks_, names_));
    out_.toml += qos;
  }
  const auto policy = slurm_policy_of({out_.config.begin(), out_.config.end()}, {.qos = true, .accounts = true});
  const bool counts = policy.chain.contains("+weight-fairshare=") || limits.contains("\naccount = ");
  if (text_.associations.text.empty() || !counts) {
    out_.toml += limits;
    return {};
  }
  const auto accounts =
      accounts_of_slurm(text_.associations.text, text_.associations.shown, setting("ClusterName"), remarks_, names_);
  if (!accounts) return std::unexpected(accounts.error());
  out_.toml += *accounts + limits;
  return {};
}

void Writer::remark_on_config() {
  const auto tells = [&](std::string_view key, std::string_view plain) {
    const std::string_view value = setting(key);
    return !value.empty() && value != plain && value.find("/none") == std::string_view::npos;
  };
  if (setting("SelectType") == "select/linear")
    remarks_.guessed(
        "Slurm gives whole nodes here (select/linear): jobs are rehearsed with the processors that they got", "");
  const auto parameters = split_slurm_list(setting("SelectTypeParameters"));
  const auto chooses = [&](std::string_view how) { return std::ranges::find(parameters, how) != parameters.end(); };
  if (chooses("CR_LLN")) remarks_.left_out("the least loaded nodes first (CR_LLN)", "");
  if (chooses("CR_PACK_NODES")) remarks_.left_out("tasks packed onto few nodes (CR_PACK_NODES)", "");
  if (tells("BurstBufferType", "")) remarks_.left_out("burst buffers", "");
  if (tells("TopologyPlugin", "topology/none") && setting("TopologyPlugin") != "topology/default")
    remarks_.left_out(fmt::format("the topology of the network ({})", setting("TopologyPlugin")), "");
}

// What sacct does not tell of the jobs: GPUs and licences that are not accounted. Slurm accounts cpu, mem and node
// unasked, and by default no more.
void Writer::remark_on_accounting() {
  const auto accounted = split_slurm_list(setting("AccountingStorageTRES"));
  const auto lacks = [&](const std::string& resource) {
    return !accounted.empty() && std::ranges::none_of(accounted, [&](std::string_view each) {
      return each == resource || each.starts_with(resource + ":");
    });
  };
  const std::string mend =
      " in slurm.conf, and for jobs that have run SubmitLine in the --format of sacct (21.08 or later)";
  for (const SlurmNode& node : nodes_) {
    if (node.accelerators == 0 || !lacks("gres/gpu")) continue;
    out_.gpus_unaccounted = true;
    remarks_.guessed(
        "jobs have no GPUs but those that ReqGRES or SubmitLine tells of, for Slurm does not account GPUs: add "
        "gres/gpu "
        "to AccountingStorageTRES" +
            mend,
        node.name);
  }
  for (const std::string& licence : licence_names_)
    if (lacks("license/" + licence))
      remarks_.guessed(
          "jobs have none of some licences but those that SubmitLine tells of, for Slurm does not account them: add "
          "license/NAME of each to AccountingStorageTRES" +
              mend,
          licence);
  const auto hidden = split_slurm_list(setting("PrivateData"));
  if (std::ranges::find(hidden, "jobs") != hidden.end() || std::ranges::find(hidden, "all") != hidden.end())
    remarks_.guessed(
        "the jobs are taken as those of all users: slurm.conf has PrivateData=jobs, and where slurmdbd.conf has it, "
        "too, "
        "sacct shows the jobs of others to operators and administrators alone",
        "");
}

// Slurm keeps them where it is told to.
Result<std::string> Writer::limits() {
  const auto kept = split_slurm_list(setting("AccountingStorageEnforce"));
  const bool any = std::ranges::any_of(
      kept, [](std::string_view each) { return each == "limits" || each == "safe" || each == "all"; });
  if (!any) return std::string();
  LimitedParts parts{partitions_};
  for (const SlurmNode& node : nodes_) parts.types.insert(node.accelerator_type);
  return limits_of_slurm(text_, setting("ClusterName"), parts, remarks_, names_);
}

Result<SlurmCluster> Writer::write() {
  TRY(read());
  drop_idle_nodes();
  if (nodes_.empty()) return fail(text_.partitions.shown + ": no partition has a node.");
  rename();
  remark_on_config();
  remark_on_accounting();
  write_top();
  write_nodes();
  write_partitions();
  const std::string without_shares = out_.toml;
  const std::string limits_told = TRY(limits());
  TRY(write_shares(limits_told));
  auto machine = parse_cluster(out_.toml, "cluster.toml");
  if (!machine && !limits_told.empty()) {
    remarks_.left_out("limits: " + machine.error().message, "");
    out_.toml = without_shares;
    TRY(write_shares(""));
    machine = parse_cluster(out_.toml, "cluster.toml");
  }
  if (!machine && out_.toml != without_shares) {
    remarks_.left_out("QOS and the shares of accounts and users: " + machine.error().message, "");
    out_.toml = without_shares;
    machine = parse_cluster(out_.toml, "cluster.toml");
  }
  if (!machine)
    return fail("The cluster file that comes of {} and {} cannot be read: {}", text_.nodes.shown,
                text_.partitions.shown, machine.error().message);
  out_.machine = std::move(*machine);
  out_.left_out = remarks_.left_out();
  out_.left_out_of = remarks_.left_out_of();
  out_.guessed = remarks_.guessed();
  return std::move(out_);
}

}  // namespace

Result<SlurmCluster> cluster_of_slurm(const SlurmText& text, MadeUpNames* names) { return Writer(text, names).write(); }

}  // namespace rota::site
