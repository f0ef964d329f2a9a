#include "site/slurm_partitions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/letters.h"
#include "base/text.h"
#include "site/cluster_keys.h"

namespace rota::site {
namespace {

// Keys of a partition that say something where their value is not one of these.
struct Unused {
  const char* key;
  const char* plain;  // values that say nothing, between bars
  const char* what;
};
constexpr std::array<Unused, 15> kUnused{{
    {"AllowAccounts", "|ALL|", "AllowAccounts"},
    {"DenyAccounts", "||", "DenyAccounts"},
    {"AllowGroups", "|ALL|", "AllowGroups"},
    {"AllowQos", "|ALL|", "AllowQos"},
    {"DenyQos", "||", "DenyQos"},
    {"AllocNodes", "|ALL|", "AllocNodes"},
    {"ExclusiveUser", "|NO|", "ExclusiveUser"},
    {"OverSubscribe", "|NO|YES:4|YES|", "OverSubscribe=FORCE or EXCLUSIVE"},
    {"MaxCPUsPerNode", "|UNLIMITED|", "MaxCPUsPerNode"},
    {"MaxCPUsPerSocket", "|UNLIMITED|", "MaxCPUsPerSocket"},
    {"MaxMemPerNode", "|UNLIMITED|", "MaxMemPerNode"},
    {"MaxMemPerCPU", "|UNLIMITED|", "MaxMemPerCPU"},
    {"OverTimeLimit", "|0|", "OverTimeLimit"},
    {"GraceTime", "|0|", "GraceTime: jobs give way at once"},
    {"LLN", "|NO|", "LLN: the least loaded nodes first"},
}};

Result<std::int64_t> count_of(const SlurmRecord& record, const char* key, std::int64_t most) {
  const std::string_view value = record.value(key);
  if (value.empty() || value == "UNLIMITED" || value == "INFINITE") return 0;
  const auto number = parse_integer(value);
  if (!number || *number < 0) return fail("{} is {}, which is not a number", key, quoted(value));
  return std::min(*number, most);
}

// Its nodes in the order of the cluster's; those that are FUTURE are not described.
Result<std::vector<std::string>> nodes_of(std::string_view list, const std::vector<SlurmNode>& nodes,
                                          SlurmRemarks& remarks) {
  std::vector<std::string> names;
  if (list.empty()) return names;
  if (list == "ALL") {
    for (const SlurmNode& node : nodes) names.push_back(node.name);
    return names;
  }
  const auto named = TRY(parse_host_list(list));
  std::set<std::string, std::less<>> wanted(named.begin(), named.end());
  for (const SlurmNode& node : nodes)
    if (wanted.erase(node.name) > 0) names.push_back(node.name);
  for (const std::string& name : wanted)
    remarks.left_out("nodes of partitions that `scontrol show node` does not describe", name);
  return names;
}

// What each resource is called and counts by in a weight without a unit: memory by MiB.
struct Billed {
  std::string_view name;
  std::int64_t Billing::* weight;
};
constexpr Billed kBilled[]{{"cpu", &Billing::processor},
                           {"node", &Billing::node},
                           {"mem", &Billing::memory},
                           {"gres/gpu", &Billing::accelerator}};

// "0.25G" for memory, which is for a GiB; a number alone is for a MiB. Per mille, at most what a cluster file takes.
Result<std::int64_t> weight_of(std::string_view text, bool memory) {
  constexpr std::string_view kUnits = "KMGT";
  double scale = memory ? 1024 : 1;
  if (memory && !text.empty()) {
    if (const auto unit = kUnits.find(text.back()); unit != std::string_view::npos) {
      scale = std::pow(1024.0, 2 - static_cast<double>(unit));
      text.remove_suffix(1);
    }
  }
  const double weight = TRY(parse_number(text));
  if (weight < 0) return fail("is negative");
  return std::llround(std::min(weight * scale * 1000, static_cast<double>(kMostBilling)));
}

// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0": what is not named counts nothing.
Result<Billing> billing_of(std::string_view weights, const std::string& partition, SlurmRemarks& remarks) {
  if (weights.empty()) return Billing{};
  Billing billing{.processor = 0};
  std::set<std::string> types;
  for (const std::string_view part : split(weights, ',')) {
    const auto equals = std::min(part.find('='), part.size());
    std::string name = lower(trimmed(part.substr(0, equals)));
    const auto weight = weight_of(trimmed(part.substr(std::min(equals + 1, part.size()))), name == "mem");
    if (!weight) return fail("TRESBillingWeights is {}, which has no number in {}", quoted(weights), quoted(part));
    if (name.starts_with("gres/gpu:")) {
      types.insert(name);
      name = "gres/gpu";
    }
    const auto known = std::ranges::find(kBilled, name, &Billed::name);
    if (known != std::end(kBilled)) {
      billing.*known->weight = std::max(billing.*known->weight, *weight);
    } else if (*weight > 0) {
      remarks.left_out("TRESBillingWeights of other than processors, memory, nodes and accelerators", partition);
    }
  }
  if (!types.empty())
    remarks.guessed("TRESBillingWeights of a type of accelerators, the greatest, is taken as that of all", partition);
  return billing;
}

Result<void> take_limits(const SlurmRecord& record, SlurmPartition& partition) {
  constexpr std::int64_t kMostNodes = 1'000'000;
  const auto least = count_of(record, "MinNodes", kMostNodes);
  const auto most = count_of(record, "MaxNodes", kMostNodes);
  const auto tier = count_of(record, "PriorityTier", kMostNodes);
  const std::string_view factor = record.value("PriorityJobFactor");
  const auto job_factor =
      factor.empty() ? Result<std::int64_t>(1) : count_of(record, "PriorityJobFactor", 1'000'000'000);
  for (const auto* number : {&least, &most, &tier, &job_factor})
    if (!*number) return std::unexpected(number->error());
  partition.min_nodes = std::max<std::int64_t>(*least, 1);
  partition.max_nodes = *most;
  partition.priority_tier = *tier;
  partition.job_factor = *job_factor;
  for (const auto& [key, into] :
       {std::pair{"MaxTime", &SlurmPartition::max_time}, std::pair{"DefaultTime", &SlurmPartition::default_time}}) {
    const auto time = parse_slurm_time(record.value(key));
    if (!time) return fail("{}: {}", key, time.error().message);
    if (*time && (*time)->count() > 0) partition.*into = **time;
  }
  partition.default_time = partition.default_time > partition.max_time ? kLongest : partition.default_time;
  return {};
}

void remark_on(const SlurmRecord& record, const std::string& name, SlurmRemarks& remarks) {
  for (const Unused& unused : kUnused) {
    const std::string value = fmt::format("|{}|", record.value(unused.key));
    if (value != "||" && std::string(unused.plain).find(value) == std::string::npos)
      remarks.left_out(std::string(unused.what) + " of partitions", name);
  }
  const std::string_view state = record.value("State");
  if (!state.empty() && state != "UP") remarks.guessed("partitions that were not up are taken as up", name);
}

}  // namespace

Result<std::vector<SlurmPartition>> partitions_of_slurm(const std::vector<SlurmRecord>& records,
                                                        const std::vector<SlurmNode>& nodes, SlurmRemarks& remarks) {
  std::vector<SlurmPartition> partitions;
  bool has_default = false;
  for (const SlurmRecord& record : records) {
    SlurmPartition partition;
    partition.name = record.values.front().second;
    const auto wrong = [&](const Error& error) {
      return fail("partition {}: {}", quoted(partition.name), error.message);
    };
    auto names = nodes_of(record.value("Nodes"), nodes, remarks);
    if (!names) return wrong(names.error());
    partition.nodes = std::move(*names);
    if (partition.nodes.empty()) {
      remarks.left_out("partitions without nodes", partition.name);
      continue;
    }
    partition.qos = record.value("QoS");
    if (auto taken = take_limits(record, partition); !taken) return wrong(taken.error());
    const auto billing = billing_of(record.value("TRESBillingWeights"), partition.name, remarks);
    if (!billing) return wrong(billing.error());
    partition.billing = *billing;
    partition.by_default = record.value("Default") == "YES" && !has_default;
    has_default = has_default || partition.by_default;
    remark_on(record, partition.name, remarks);
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace rota::site
