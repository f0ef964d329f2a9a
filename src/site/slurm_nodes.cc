#include "site/slurm_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "model/machine.h"
#include "model/node_wish.h"

namespace rota::site {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 40U;  // so many megabytes are all that a node can have
constexpr std::int64_t kMostOfNode = 1'000'000;               // processors, as in a cluster file
constexpr std::size_t kNamed = 5;                             // nodes or partitions that a sentence names

// The first of these keys that tells a number.
Result<std::int64_t> number_of(const SlurmRecord& record, std::initializer_list<const char*> keys,
                               std::int64_t by_default) {
  for (const char* key : keys) {
    const std::string_view value = record.value(key);
    if (value.empty()) continue;
    const auto number = parse_integer(value);
    if (!number || *number < 0 || *number > kMostNumber)
      return fail("{} is {}, which is not a number", key, quoted(value));
    return *number;
  }
  return by_default;
}

struct Gpus {
  std::int64_t count = 0;
  std::map<std::string, std::int64_t> by_type;
};

// "gpu:a100:2(S:0-1)" or "gpu:2" or "gpu" into `gpus`; of other resources the name.
std::string take_gres(std::string_view item, Gpus& gpus) {
  item = item.substr(0, item.find('('));
  const auto parts = split(item, ':');
  if (parts[0] != "gpu") return std::string(parts[0]);
  const auto last = parse_integer(parts.back());
  const std::int64_t told = parts.size() > 1 && last ? *last : 1;
  const std::int64_t count = std::clamp<std::int64_t>(told, 0, kMostAccelerators + 1);  // more are refused anyway
  const bool typed = parts.size() > 2 || (parts.size() == 2 && !last);
  gpus.count += count;
  if (typed) gpus.by_type[std::string(parts[1])] += count;
  return {};
}

// With AutoDetect they may stand only in CfgTRES: gres/gpu=4,gres/gpu:a100=4.
void take_configured_gpus(const SlurmRecord& record, Gpus& gpus) {
  constexpr std::string_view kGpu = "gres/gpu";
  std::int64_t typed = 0;
  for (const std::string_view item : split_slurm_list(record.value("CfgTRES"))) {
    const auto equals = item.find('=');
    if (!item.starts_with(kGpu) || equals == std::string_view::npos) continue;
    const auto count = parse_integer(item.substr(equals + 1));
    if (!count || *count <= 0) continue;
    const std::string_view type = item.substr(kGpu.size(), equals - kGpu.size());
    if (type.empty()) gpus.count = *count;
    if (!type.starts_with(':')) continue;
    gpus.by_type[std::string(type.substr(1))] += *count;
    typed += *count;
  }
  gpus.count = std::max(gpus.count, typed);
}

Result<void> take_gpus(const SlurmRecord& record, SlurmNode& node, SlurmRemarks& remarks) {
  Gpus gpus;
  for (const std::string_view item : split_slurm_list(record.value("Gres"))) {
    const std::string other = take_gres(item, gpus);
    if (other.empty()) continue;
    remarks.left_out(
        fmt::format("the resource (gres) {}of nodes", remarks.names() ? quoted(other) + " " : "other than GPUs "),
        node.name);
  }
  if (gpus.count == 0) take_configured_gpus(record, gpus);
  if (gpus.count > kMostAccelerators)
    return fail("node {} has {} GPUs, and Rota knows {} at most", node.name, gpus.count, kMostAccelerators);
  node.accelerators = gpus.count;
  if (gpus.by_type.empty()) return {};
  const auto most = std::ranges::max_element(gpus.by_type, {}, [](const auto& type) { return type.second; });
  node.accelerator_type = most->first;
  if (gpus.by_type.size() > 1 || most->second < gpus.count)
    remarks.guessed("GPUs of several types in one node are taken as all of the type of which it has most", node.name);
  return {};
}

// What a cluster file cannot say, told while it is known where it stands.
Result<void> check_size(const SlurmNode& node, std::int64_t processors_so_far) {
  if (node.processors > kMostOfNode) {
    return fail("node {} has {} processors (CPUTot), and Rota knows {} at most", quoted(node.name),
                grouped(node.processors), grouped(kMostOfNode));
  }
  if (node.processors > kMostProcessors - processors_so_far) {
    return fail("with node {} there are more than {} processors (CPUTot), and Rota knows no more", quoted(node.name),
                grouped(kMostProcessors));
  }
  return {};
}

// Those that it has now; what a configuration calls `Feature`.
void take_features(const SlurmRecord& record, SlurmNode& node, SlurmRemarks& remarks) {
  for (const char* key : {"ActiveFeatures", "AvailableFeatures", "Features", "Feature"}) {
    for (const std::string_view name : split_slurm_list(record.value(key))) {
      std::vector<std::string> one;
      if (add_features(name, one)) {
        node.features.emplace_back(name);
      } else {
        remarks.left_out("features with odd names", node.name);
      }
    }
    if (!node.features.empty()) return;
  }
}

// As many as a cluster file can have, those of the most nodes.
void keep_some_features(std::vector<SlurmNode>& nodes, SlurmRemarks& remarks) {
  std::map<std::string, std::size_t> count;
  for (const SlurmNode& node : nodes)
    for (const std::string& feature : node.features) ++count[feature];
  std::vector<std::pair<std::size_t, std::string>> rare;
  for (const auto& [feature, of] : count) rare.emplace_back(of, feature);
  std::ranges::stable_sort(rare, std::greater<>(), [](const auto& each) { return each.first; });
  rare.erase(rare.begin(), rare.begin() + static_cast<std::ptrdiff_t>(std::min(rare.size(), kMostFeatures)));
  for (const auto& [of, feature] : rare) {
    for (SlurmNode& node : nodes) {
      if (std::erase(node.features, feature) > 0)
        remarks.left_out(fmt::format("features beyond the {} that most nodes have", kMostFeatures), node.name);
    }
  }
}

void remark_on(const SlurmRecord& record, const std::string& name, SlurmRemarks& remarks) {
  bool away = false, powered = false;
  for (std::string_view word : split(record.value("State"), '+')) {  // IDLE+CLOUD+POWERED_DOWN, DOWN*+DRAIN
    word = word.substr(0, word.find_first_of("*~#!%$@^-"));
    away = away || word == "DOWN" || word == "MAINT" || word.starts_with("DRAIN") || word.starts_with("FAIL");
    powered = powered || word == "CLOUD" || word.starts_with("POWER");
  }
  if (away) remarks.guessed("nodes that were down, drained or in maintenance are taken as there all the time", name);
  if (powered) remarks.guessed("nodes that Slurm switches off and on are taken as on all the time", name);
}

}  // namespace

void SlurmRemarks::left_out(const std::string& what, std::string_view of) { left_out_[what].emplace_back(of); }

void SlurmRemarks::guessed(const std::string& what, std::string_view of) { guessed_[what].emplace_back(of); }

std::vector<std::string> SlurmRemarks::sentences(const About& about) const {
  std::vector<std::string> out;
  for (const auto& [what, names] : about) {
    std::vector<std::string> unique;  // each once, in the order in which they came
    std::set<std::string_view> seen;
    for (const std::string& name : names)
      if (!name.empty() && seen.insert(name).second) unique.push_back(name);
    std::string text = what;
    if (!unique.empty() && !names_) {
      text += fmt::format(" ({})", grouped(static_cast<std::int64_t>(unique.size())));
    } else if (!unique.empty()) {
      const std::size_t shown = std::min(unique.size(), kNamed);
      text += " (" + format_host_list({unique.begin(), unique.begin() + static_cast<std::ptrdiff_t>(shown)});
      if (unique.size() > shown)
        text += fmt::format(" and {} more", grouped(static_cast<std::int64_t>(unique.size() - shown)));
      text += ")";
    }
    out.push_back(std::move(text));
  }
  return out;
}

bool SlurmNode::alike(const SlurmNode& other) const {
  const auto all = [](const SlurmNode& n) {
    return std::tie(n.weight, n.processors, n.memory, n.accelerators, n.accelerator_type, n.features);
  };
  return all(*this) == all(other);
}

Result<std::vector<SlurmNode>> nodes_of_slurm(const std::vector<SlurmRecord>& records, bool memory_counts,
                                              SlurmRemarks& remarks) {
  std::vector<SlurmNode> nodes;
  std::set<std::string, std::less<>> described;
  std::int64_t processors_of_all = 0;
  for (const SlurmRecord& record : records) {
    SlurmNode node;
    node.name = record.values.front().second;
    if (!described.insert(node.name).second)
      return fail("node {} is described twice: leave one of its records in the file", quoted(node.name));
    const auto wrong = [&](const Error& error) { return fail("node {}: {}", quoted(node.name), error.message); };
    const std::string_view state = record.value("State");
    if (state.find("FUTURE") != std::string_view::npos) {
      remarks.left_out("nodes in state FUTURE", node.name);
      continue;
    }
    const auto all = number_of(record, {"CPUTot"}, -1);
    if (all && *all < 0) return wrong({"it does not tell CPUTot (is the file cut off?)"});
    const auto processors = all ? number_of(record, {"CPUEfctv", "CPUTot"}, 1) : all;
    const auto weight = number_of(record, {"Weight"}, 1);
    const auto memory = number_of(record, {"RealMemory"}, 0);
    const auto withheld = number_of(record, {"MemSpecLimit"}, 0);
    for (const auto* number : {&processors, &weight, &memory, &withheld})
      if (!*number) return wrong(number->error());
    node.processors = std::max<std::int64_t>(*processors, 1);
    node.weight = *weight;
    if (memory_counts && *memory > *withheld) node.memory = (*memory - *withheld) << 20U;
    TRY(check_size(node, processors_of_all));
    processors_of_all += node.processors;
    TRY(take_gpus(record, node, remarks));
    take_features(record, node, remarks);
    remark_on(record, node.name, remarks);
    nodes.push_back(std::move(node));
  }
  keep_some_features(nodes, remarks);
  std::ranges::stable_sort(nodes, {}, &SlurmNode::weight);
  return nodes;
}

}  // namespace rota::site
