#include "site/cluster_keys.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "model/job_terms.h"
#include "model/machine.h"
#include "site/cluster_file.h"

namespace rota::site {
namespace {

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMostWatts = 100'000'000;         // milliwatts
constexpr std::int64_t kMostJoules = 1'000'000'000'000;  // millijoules

constexpr auto kTopKeys = std::to_array<Key<TopEntry>>({
    {"name", KeyType::text, &TopEntry::name, 0, 0, "cluster", "what the cluster is called, in tables and reports"},
    {"processors", KeyType::whole, &TopEntry::processors, 1, kMostProcessors, "the sum over the nodes",
     "interchangeable processors that are only counted; instead of `[[nodes]]`"},
    {"electricity_price", KeyType::factor, &TopEntry::price, 0, 1'000'000, "no cost is told",
     "what a kilowatt-hour costs, in any currency"},
    {"electricity_prices", KeyType::prices, &TopEntry::prices, 0, 0, "the same at all times",
     "what a kilowatt-hour costs from each time of the day on, every day; before the first one the last one's price "
     "holds; instead of `electricity_price`"},
    {"electricity_zone", KeyType::zone, &TopEntry::zone, 0, 0, "UTC",
     "how far the clock of `electricity_prices` is ahead of UTC"},
    {"co2", KeyType::factor, &TopEntry::co2, 0, 10'000'000, "no CO2 is told", "grams of CO2 for a kilowatt-hour"},
    {"licences", KeyType::licences, &TopEntry::licences, 0, 0, "none",
     "licences that running jobs share, and how many of each: \"matlab:4,fluent:12\"; with `[[nodes]]`"},
    {"boot_seed", KeyType::whole, &TopEntry::boot_seed, 0, 1'000'000'000, "1",
     "which boots fail, where some do: another number, other boots"},
});

constexpr auto kNodesKeys = std::to_array<Key<NodesEntry>>({
    {"names", KeyType::hosts, &NodesEntry::names, 0, 0, "", "nodes of one kind, each named once in the file"},
    {"processors", KeyType::whole, &NodesEntry::processors, 1, 1'000'000, "1", "processors of each of these nodes"},
    {"memory", KeyType::size, &NodesEntry::memory, 1, kMostMemory, "not looked at",
     "memory of each of these nodes that jobs can ask for"},
    {"rack", KeyType::text, &NodesEntry::rack, 0, 0, "one rack for all nodes that name none",
     "the rack in which these nodes stand; tables may name the same one"},
    {"site", KeyType::text, &NodesEntry::site, 0, 0, "must be there where there are `[[sites]]`",
     "the site at which these nodes stand"},
    {"accelerators", KeyType::whole, &NodesEntry::accelerators, 0, 64, "0", "accelerators of each of these nodes"},
    {"accelerator_type", KeyType::text, &NodesEntry::accelerator_type, 0, 0, "gpu", "what kind they are"},
    {"accelerator_speed", KeyType::factor, &NodesEntry::accelerator_speed, 1, 100'000, "1.0",
     "how fast they are beside one for which times of tasks are told"},
    {"accelerator_link", KeyType::size, &NodesEntry::accelerator_link, 1, kMostMemory, "transfers take no time",
     "what the link of each accelerator to other nodes carries in a second, each way"},
    {"features", KeyType::features, &NodesEntry::features, 0, 0, "none",
     "what these nodes have that jobs can ask for by name; up to 64 different ones in the file"},
    {"weight", KeyType::whole, &NodesEntry::weight, 0, 1'000'000'000, "1",
     "under policy slurm a job goes to the nodes with the least, of those that will do"},
    {"watts_off", KeyType::factor, &NodesEntry::watts_off, 0, kMostWatts, "0",
     "what each of these nodes draws when off"},
    {"watts_idle", KeyType::factor, &NodesEntry::watts_idle, 1, kMostWatts, "no energy is told",
     "what each draws when on and idle"},
    {"watts_busy", KeyType::factor, &NodesEntry::watts_busy, 0, kMostWatts, "0",
     "what each busy processor draws on top of that"},
    {"watts_accelerator", KeyType::factor, &NodesEntry::watts_accelerator, 0, kMostWatts, "0",
     "what each accelerator draws on top of that while a job holds it or it computes a task"},
    {"boot_time", KeyType::time, &NodesEntry::boot_time, kSecond, 86'400 * kSecond, "5m",
     "from the command to wake until jobs can start"},
    {"shutdown_time", KeyType::time, &NodesEntry::shutdown_time, 0, 86'400 * kSecond, "0",
     "from the command to sleep until the node is off"},
    {"boot_energy", KeyType::factor, &NodesEntry::boot_energy, 0, kMostJoules, "`watts_idle` all the time",
     "joules of a whole boot"},
    {"shutdown_energy", KeyType::factor, &NodesEntry::shutdown_energy, 0, kMostJoules, "`watts_idle` all the time",
     "joules of a whole shutdown"},
    {"cpu_factor", KeyType::factor, &NodesEntry::cpu_factor, 1, 100'000, "1.0",
     "how fast these nodes run jobs beside one for which run times are told"},
    {"boot_fails", KeyType::factor, &NodesEntry::boot_fails, 0, 1000, "0",
     "the chance that a boot fails: the node is off again when it should be on"},
    {"boot_retry", KeyType::time, &NodesEntry::boot_retry, kSecond, 86'400 * kSecond, "1m",
     "a node whose boot failed is left alone for so long, and twice as long after each further failure in a row, up to "
     "an hour"},
    {"suspend_command", KeyType::command, &NodesEntry::suspend_command, 0, 0, "nodes cannot be switched",
     "what a service runs to put one of these nodes to sleep; it ends with 0 where that is on its way"},
    {"resume_command", KeyType::command, &NodesEntry::resume_command, 0, 0, "nodes cannot be switched",
     "the same to wake one"},
    {"probe_command", KeyType::command, &NodesEntry::probe_command, 0, 0,
     "`boot_time` and `shutdown_time` are waited out",
     "ends with 0 if jobs can start on the node: asked again and again while it boots, until it says so, and while it "
     "shuts down, until it does no longer"},
    {"power_timeout", KeyType::time, &NodesEntry::power_timeout, kSecond, 86'400 * kSecond, "twice `boot_time`",
     "within so long a node must be on, or off, from the start of its command, or that has failed"},
    {"power_tries", KeyType::whole, &NodesEntry::power_tries, 1, 1000, "3",
     "so many boots may fail one after the other until the node is taken out of use, for an operator to look at it"},
});

constexpr auto kPartitionKeys = std::to_array<Key<PartitionEntry>>({
    {"name", KeyType::text, &PartitionEntry::name, 0, 0, "", "what jobs call the partition; unique"},
    {"nodes", KeyType::hosts, &PartitionEntry::nodes, 0, 0, "all nodes",
     "its nodes; a node can be in several partitions"},
    {"default", KeyType::yes_no, &PartitionEntry::by_default, 0, 0, "true of the first partition where none says so",
     "whether jobs that name no partition go here; true of one at most"},
    {"max_time", KeyType::time, &PartitionEntry::max_time, kSecond, kLongest.count(), "no limit",
     "the longest time limit of a job"},
    {"default_time", KeyType::time, &PartitionEntry::default_time, kSecond, kLongest.count(), "`max_time`",
     "the time limit of a job that asks for none; at most `max_time`"},
    {"min_nodes", KeyType::whole, &PartitionEntry::min_nodes, 1, kMostNodes, "1", "the fewest nodes of a job"},
    {"max_nodes", KeyType::whole, &PartitionEntry::max_nodes, 1, kMostNodes, "no limit", "the most nodes of a job"},
    {"max_processors", KeyType::whole, &PartitionEntry::max_processors, 1, kMostProcessors, "no limit",
     "the most processors of a job"},
    {"priority", KeyType::whole, &PartitionEntry::priority, -kMostPriority, kMostPriority, "0",
     "jobs of the partition with the higher number go first"},
    {"job_factor", KeyType::whole, &PartitionEntry::job_factor, 0, 1'000'000'000, "1",
     "`weight-partition` of policy slurm counts by this, beside the largest of all partitions"},
    {"billing_processor", KeyType::factor, &PartitionEntry::billing_processor, 0, kMostBilling, "1.0",
     "so much each processor of a job counts in the fair share of policy slurm (Slurm's TRESBillingWeights)"},
    {"billing_memory", KeyType::factor, &PartitionEntry::billing_memory, 0, kMostBilling, "0",
     "so much each GiB of a job's memory counts beside its processors"},
    {"billing_accelerator", KeyType::factor, &PartitionEntry::billing_accelerator, 0, kMostBilling, "0",
     "so much each accelerator of a job counts beside its processors"},
    {"billing_node", KeyType::factor, &PartitionEntry::billing_node, 0, kMostBilling, "0",
     "so much each node of a job counts beside its processors"},
    {"billing_most", KeyType::yes_no, &PartitionEntry::billing_most, 0, 0, "false",
     "the greatest of these parts counts alone, not their sum (Slurm's MAX_TRES)"},
    {"power_close", KeyType::factor, &PartitionEntry::power_close, 0, 100'000, "as the policy's knob",
     "`power-close` of power=load-factor for its nodes, as are the next three"},
    {"power_open", KeyType::factor, &PartitionEntry::power_open, 0, 100'000, "as the policy's knob", "`power-open`"},
    {"power_close_to", KeyType::factor, &PartitionEntry::power_close_to, 0, 100'000, "as the policy's knob",
     "`power-close-to`"},
    {"power_open_to", KeyType::factor, &PartitionEntry::power_open_to, 0, 100'000, "as the policy's knob",
     "`power-open-to`"},
    {"power_least", KeyType::whole, &PartitionEntry::power_least, 0, kMostNodes, "0",
     "so many of its nodes power=load-factor leaves on, at least"},
    {"power_most", KeyType::whole, &PartitionEntry::power_most, 1, kMostNodes, "all of them",
     "so many of its nodes power=load-factor has on, at most"},
    {"power_load", KeyType::text, &PartitionEntry::power_load, 0, 0, "share",
     "the load as power=load-factor reckons it: share, root or log, or a formula of work, nodes and longest"},
});

constexpr auto kQosKeys = std::to_array<Key<QosEntry>>({
    {"name", KeyType::text, &QosEntry::name, 0, 0, "", "what jobs call the quality of service (QOS); unique"},
    {"priority", KeyType::whole, &QosEntry::priority, 0, UINT32_MAX, "0",
     "`weight-qos` of policy slurm counts by this, beside the largest of all QOS"},
    {"usage_factor", KeyType::factor, &QosEntry::usage_factor, 0, 1'000'000, "1.0",
     "so much what its jobs use counts in the fair share of policy slurm"},
    {"preempts", KeyType::features, &QosEntry::preempts, 0, 0, "none",
     "running jobs of these QOS give way to its jobs, under policy slurm with preempt and preempt-by=qos"},
    {"users", KeyType::features, &QosEntry::users, 0, 0, "all",
     "which users of a service may ask for it; operators may always"},
});

constexpr auto kAccountKeys = std::to_array<Key<AccountEntry>>({
    {"name", KeyType::text, &AccountEntry::name, 0, 0, "", "what jobs call the account (group); unique"},
    {"parent", KeyType::text, &AccountEntry::parent, 0, 0, "it stands at the top",
     "the account that it is a part of; described before it"},
    {"shares", KeyType::whole, &AccountEntry::shares, 0, kMostShares, "1",
     "beside those of the others below the same parent, users among them"},
    {"inherits", KeyType::yes_no, &AccountEntry::inherits, 0, 0, "false",
     "whether what is below it counts as below its parent (Slurm's fairshare=parent)"},
    {"users", KeyType::shares, &AccountEntry::users, 0, 0, "those that jobs name, with 1 share each",
     "who can charge the account, each with his shares or `parent`: before all others"},
});

constexpr std::int64_t kMostOfJobs = 1'000'000'000;  // together

constexpr auto kLimitKeys = std::to_array<Key<LimitEntry>>({
    {"user", KeyType::text, &LimitEntry::user, 0, 0, "any",
     "whose jobs: those of this user, or with \"*\" those of each user by himself"},
    {"account", KeyType::text, &LimitEntry::account, 0, 0, "any",
     "and of this account (group) and, unless `user` names one, those below it, or \"*\": of each by itself"},
    {"qos", KeyType::text, &LimitEntry::qos, 0, 0, "any", "and of this QOS, or \"*\": of each by itself"},
    {"partition", KeyType::text, &LimitEntry::partition, 0, 0, "any",
     "and of this partition, or \"*\": of each by itself"},
    {"accelerator_type", KeyType::text, &LimitEntry::accelerator_type, 0, 0, "any",
     "and that ask for accelerators of this type"},
    {"except_qos", KeyType::features, &LimitEntry::except_qos, 0, 0, "none",
     "jobs of these QOS count under the limit, and do not break it"},
    {"except_partitions", KeyType::features, &LimitEntry::except_partitions, 0, 0, "none",
     "nor do jobs of these partitions"},
    {"jobs", KeyType::whole, &LimitEntry::jobs, 0, kMostOfJobs, "no limit", "so many of these jobs at one time"},
    {"processors", KeyType::whole, &LimitEntry::processors, 0, kMostOfJobs, "no limit",
     "so many processors for them together, at one time"},
    {"nodes", KeyType::whole, &LimitEntry::nodes, 0, kMostOfJobs, "no limit",
     "so many nodes, each counted once for each job on it; a job that names no number counts as on one"},
    {"memory", KeyType::size, &LimitEntry::memory, 0, kMostMemory, "no limit", "so much memory"},
    {"accelerators", KeyType::whole, &LimitEntry::accelerators, 0, kMostOfJobs, "no limit", "so many accelerators"},
    {"processor_minutes", KeyType::whole, &LimitEntry::processor_minutes, 0, kMostOfJobs, "no limit",
     "so many processors times minutes of the time limits, under policy slurm less the time that jobs have run"},
    {"reason", KeyType::text, &LimitEntry::reason, 0, 0, "none", "what Slurm calls it; written by `rota import slurm`"},
});

constexpr auto kSiteKeys = std::to_array<Key<SiteEntry>>({
    {"name", KeyType::text, &SiteEntry::name, 0, 0, "", "what nodes and jobs call the site; unique"},
    {"bandwidth", KeyType::size, &SiteEntry::bandwidth, 1, kMostMemory, "inputs take no time",
     "bytes a second between this site and the others; between two sites the lesser counts"},
    {"processors", KeyType::whole, &SiteEntry::processors, 1, kMostProcessors, "the sum over its nodes",
     "interchangeable processors that are only counted; where there are no `[[nodes]]`"},
    {"licences", KeyType::licences, &SiteEntry::licences, 0, 0, "none", "licences of this site, as at the top"},
    {"electricity_price", KeyType::factor, &SiteEntry::price, 0, 1'000'000, "as at the top",
     "what a kilowatt-hour costs here"},
    {"electricity_prices", KeyType::prices, &SiteEntry::prices, 0, 0, "as at the top",
     "the same by time of day; instead of `electricity_price`"},
    {"electricity_zone", KeyType::zone, &SiteEntry::zone, 0, 0, "as at the top",
     "how far the clock of these `electricity_prices` is ahead of UTC"},
    {"co2", KeyType::factor, &SiteEntry::co2, 0, 10'000'000, "as at the top", "grams of CO2 for a kilowatt-hour here"},
});

constexpr auto kReservationKeys = std::to_array<Key<ReservationEntry>>({
    {"start", KeyType::moment, &ReservationEntry::start, 0, 2 * kLongest.count(), "",
     "from here on jobs run there only if they take longer than was expected of them"},
    {"end", KeyType::moment, &ReservationEntry::end, 0, 2 * kLongest.count(), "", "when jobs can run there again"},
    {"nodes", KeyType::hosts, &ReservationEntry::nodes, 0, 0, "must be there with `[[nodes]]`",
     "the nodes, all of each"},
    {"processors", KeyType::whole, &ReservationEntry::processors, 1, kMostProcessors,
     "must be there without `[[nodes]]`", "how many processors, where these are only counted"},
    {"name", KeyType::text, &ReservationEntry::name, 0, 0, "none",
     "by which jobs of a log ask for it, to run in it; without one it keeps nodes free. Of a dated one: `rota reserve "
     "--name --users` makes those"},
});

// Thousandths, as people write them: "1", "0.5", "0.001".
std::string format_factor(std::int64_t thousandths) {
  std::string text = std::to_string(thousandths / 1000);
  if (thousandths % 1000 == 0) return text;
  text += "." + std::to_string(1000 + thousandths % 1000).substr(1);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

template <class Of>
void add_rows(std::vector<ClusterKey>& rows, const char* table, std::span<const Key<Of>> keys) {
  for (const Key<Of>& key : keys) {
    rows.push_back({table, std::string(key.name), takes_text(key.type, key.low, key.high), std::string(key.fallback),
                    std::string(key.meaning)});
  }
}

}  // namespace

std::uint32_t Entry::line_of(std::string_view key) const {
  for (const auto& [name, where] : lines) {
    if (name == key) return where;
  }
  return 0;
}

std::span<const Key<TopEntry>> top_keys() { return kTopKeys; }
std::span<const Key<NodesEntry>> nodes_keys() { return kNodesKeys; }
std::span<const Key<PartitionEntry>> partition_keys() { return kPartitionKeys; }
std::span<const Key<QosEntry>> qos_keys() { return kQosKeys; }
std::span<const Key<AccountEntry>> account_keys() { return kAccountKeys; }
std::span<const Key<LimitEntry>> limit_keys() { return kLimitKeys; }
std::span<const Key<SiteEntry>> site_keys() { return kSiteKeys; }
std::span<const Key<ReservationEntry>> reservation_keys() { return kReservationKeys; }

std::string takes_text(KeyType type, std::int64_t low, std::int64_t high) {
  switch (type) {
    case KeyType::text:
      return "text in quotes, of 1 to 200 bytes";
    case KeyType::command:
      return "a command for /bin/sh, in quotes, of 1 to 4096 bytes";
    case KeyType::hosts:
      return R"(a host list in quotes, such as "n[001-128],login")";
    case KeyType::licences:
      return R"(names with how many, in quotes, such as "matlab:4,fluent:12")";
    case KeyType::features:
      return R"(names in quotes, such as "avx512,rack1")";
    case KeyType::shares:
      return R"(names with how many shares, in quotes, such as "anna:2,bob,eve:parent")";
    case KeyType::whole:
      return fmt::format("a whole number from {} to {}", low, high);
    case KeyType::size:
      return fmt::format("a size, in bytes such as 68719476736 or as text such as \"64G\" (at most {})",
                         format_size(high));
    case KeyType::time:
      if (low < kSecond) return R"(a time, in seconds such as 90 or as text such as "1.5m"; 0 is none)";
      return R"(a time of at least a second, in seconds such as 3600 or as text such as "1h", "2d" or "1-12:00:00")";
    case KeyType::factor:
      return fmt::format("a number from {} to {}, to three decimals", format_factor(low), format_factor(high));
    case KeyType::yes_no:
      return "true or false";
    case KeyType::prices:
      return R"(times of the day with prices from 0 to 1000, in quotes, such as "07:00=0.31, 21:00=0.18")";
    case KeyType::zone:
      return R"(hours and minutes in quotes, such as "+01:00")";
    case KeyType::moment:
      return R"(a time from second 0 of the log on, in seconds such as 86400 or as text such as "1d" or "1-12:00:00", )"
             R"(or for a service a date such as "2026-12-01T08:00Z" or "2026-12-01T08:00+01:00")";
  }
  return {};
}

std::vector<ClusterKey> cluster_keys() {
  std::vector<ClusterKey> rows;
  add_rows(rows, "", top_keys());
  add_rows(rows, "nodes", nodes_keys());
  add_rows(rows, "partitions", partition_keys());
  add_rows(rows, "qos", qos_keys());
  add_rows(rows, "accounts", account_keys());
  add_rows(rows, "limits", limit_keys());
  add_rows(rows, "sites", site_keys());
  add_rows(rows, "reservations", reservation_keys());
  return rows;
}

}  // namespace rota::site
