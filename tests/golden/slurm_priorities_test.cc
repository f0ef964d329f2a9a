// What sprio of a real Slurm 22.05 said of jobs that waited (tests/live/slurm_priority_test.py), held factor by factor
// against what policy slurm makes of the outputs that were saved beside it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "log/sacct.h"
#include "model/cluster.h"
#include "model/share_tree.h"
#include "policy/chain.h"
#include "policy/slurm/job_queue.h"
#include "site/date.h"
#include "site/slurm_cluster.h"
#include "site/slurm_policy.h"

namespace rota {
namespace {

// What the files of one recording say.
class Folder {
 public:
  explicit Folder(const std::string& name) {
    const char* others = std::getenv("ROTA_SLURM_PRIORITIES");
    path_ = fmt::format("{}/{}/", others ? std::string(others) : std::string(ROTA_SOURCE_DIR "/tests/slurm"), name);
  }
  std::string text(const std::string& name) const {
    auto text = read_file(path_ + name, std::size_t{1} << 24U);
    if (!text) throw std::runtime_error(text.error().message);
    return std::move(*text);
  }

 private:
  std::string path_;
};

template <class Of>
Of value(Result<Of> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

site::SlurmCluster described(const Folder& folder) {
  const auto file = [&](const std::string& name) { return site::SlurmText::File{name, folder.text(name)}; };
  return value(site::cluster_of_slurm({file("config.txt"), file("nodes.txt"), file("partitions.txt"),
                                       file("licences.txt"), file("qos.txt"), file("assoc.txt")}));
}

// "cpu=2,mem=200M,gres/gpu=1" into numbers; memory in bytes.
std::map<std::string, std::int64_t> resources_of(std::string_view text) {
  std::map<std::string, std::int64_t> all;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    all[std::string(part.substr(0, equals))] = value(parse_size(part.substr(equals + 1)));
  }
  return all;
}

std::uint32_t number_of(std::map<std::uint32_t, std::string>& names, std::string_view name) {
  for (const auto& [number, known] : names)
    if (known == name) return number;
  const std::uint32_t next = names.empty() ? 1 : names.rbegin()->first + 1;
  names[next] = name;
  return next;
}

template <class Named>
auto index_of(const std::vector<Named>& all, std::string_view name) {
  const auto at = std::ranges::find(all, name, &Named::name);
  if (at == all.end()) throw std::runtime_error("unknown: " + std::string(name));
  return at - all.begin();
}

// What sprio printed of a job, rounded to whole numbers; the priority is cut.
using Printed = std::map<std::string, std::int64_t>;

std::map<std::int64_t, Printed> printed(const Folder& folder) {
  constexpr const char* kColumns[]{"age", "fair share", "job size", "partition", "qos", "resources", "priority"};
  std::map<std::int64_t, Printed> all;
  const std::string text = folder.text("sprio.txt");
  for (const std::string_view line : split(trimmed(text), '\n')) {
    const auto cells = split(line, '|');
    Printed& of = all[value(parse_integer(cells.at(0)))];
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      if (std::string_view(kColumns[i]) != "resources") {
        of[kColumns[i]] = value(parse_integer(cells.at(i + 1)));
        continue;
      }
      for (const auto& [name, part] : resources_of(cells.at(i + 1))) of["resources"] += part;
    }
  }
  return all;
}

class Saved {
 public:
  explicit Saved(const Folder& folder)
      : slurm_(described(folder)), log_(value(log::parse_sacct(folder.text("sacct.txt"), "sacct.txt"))) {
    at_ = value(parse_integer(trimmed(folder.text("at.txt"))));
    users_ = log_.users;
    groups_ = log_.groups;
    for (const site::SlurmRecord& record : value(site::slurm_records(folder.text("jobs.txt"), "JobId", "jobs.txt")))
      if (record.value("JobState") == "PENDING") take(record);
  }

  std::string policy() const {
    return slurm_policy_of({slurm_.config.begin(), slurm_.config.end()},
                           {.qos = !slurm_.machine.qos.empty(), .accounts = !slurm_.machine.accounts.empty()})
        .chain;
  }
  const std::vector<JobSpec>& pending() const { return pending_; }

  // visit(spec, parts, priority) for each job that waits.
  template <class Visit>
  void for_each(const Visit& visit) const {
    auto all = log_.jobs;
    all.insert(all.end(), pending_.begin(), pending_.end());
    const auto& accounts = slurm_.machine.accounts;
    const ShareTree shares(accounts, sharers_of(accounts, users_, groups_, all));
    const Chain chain = value(Chain::parse(policy()));
    ClusterOptions options;
    options.processors = slurm_.machine.processors;
    options.machine = &slurm_.machine;
    options.use.shares = &shares;
    chain.ask(options);
    Cluster cluster(options);
    RecentUse use(options.use.half_life);
    for (std::size_t i = 0; i < log_.jobs.size(); ++i) charge(i, shares, use);
    for (const auto& [holder, spent] : use.all())
      cluster.fold(kEpoch, cluster.sequence() + 1, UserKept{.user = holder, .runs = {}, .spent = spent});
    cluster.open_cycle(moment(at_));
    SlurmWeights weights = chain.knobs().slurm.weights;
    weights.calc_period = seconds(1);  // whenever Slurm did
    const SlurmPriorities priorities(cluster, weights);
    for (const JobSpec& spec : pending_) {
      Job job;
      job.spec = spec;
      visit(spec, priorities.parts_of(job), priorities.of(job));
    }
  }

 private:
  Instant moment(std::int64_t unix) const { return at_seconds(unix - log_.unix_start); }

  void charge(std::size_t job, const ShareTree& shares, RecentUse& use) const {
    const JobSpec& spec = log_.jobs[job];
    const auto& qos = slurm_.machine.qos.at(
        static_cast<std::size_t>(index_of(slurm_.machine.qos, log_.queues.at(log_.qos.at(spec.qos.value)))));
    const Duration run = log_.run_times[job];
    const auto partition =
        static_cast<std::size_t>(index_of(slurm_.machine.partitions, log_.partitions.at(spec.partition.value)));
    const auto billed = static_cast<std::uint64_t>(slurm_.machine.partitions[partition].billing.of(spec));
    const auto counts = static_cast<std::uint64_t>((run * qos.usage_factor / 1000).count());
    use.add(shares.holder_of(spec), RecentUse::Work{billed} * counts / 1000, spec.submit + run);
  }

  void take(const site::SlurmRecord& record) {
    const std::string_view told = record.value("TRES");  // with words behind it that have no key
    auto asked = resources_of(told.substr(0, told.find(' ')));
    JobSpec& spec = pending_.emplace_back();
    spec.number = value(parse_integer(record.value("JobId")));
    spec.processors = static_cast<std::uint32_t>(asked["cpu"]);
    spec.nodes = static_cast<std::uint32_t>(asked["node"]);
    spec.memory = asked["mem"] / asked["node"];
    spec.accelerators = static_cast<std::uint8_t>(asked["gres/gpu"] / asked["node"]);
    const std::string_view user = record.value("UserId");
    spec.user = number_of(users_, user.substr(0, user.find('(')));
    spec.group = number_of(groups_, record.value("Account"));
    spec.partition.value = static_cast<std::uint32_t>(index_of(slurm_.machine.partitions, record.value("Partition")));
    spec.qos.value = static_cast<std::uint8_t>(index_of(slurm_.machine.qos, record.value("QOS")));
    if (const auto limit = value(site::parse_slurm_time(record.value("TimeLimit")))) spec.limit = *limit;
    spec.submit = moment(site::unix_milliseconds_of(std::string(record.value("SubmitTime")) + "Z").value() / 1000);
  }

  site::SlurmCluster slurm_;
  log::Workload log_;
  std::int64_t at_ = 0;  // Unix time at which sprio was asked
  std::map<std::uint32_t, std::string> users_, groups_;
  std::vector<JobSpec> pending_;
};

// Those of the folder's name: as they are, and with PriorityFlags=SMALL_RELATIVE_TO_TIME.
class PrioritiesOfSlurm : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Of, PrioritiesOfSlurm, testing::Values("priorities", "priorities-by-time"),
                         [](const auto& named) { return std::string(named.index == 0 ? "size" : "size_by_time"); });

TEST_P(PrioritiesOfSlurm, AreThoseOfARealSlurm) {
  const Folder folder(GetParam());
  const Saved saved(folder);
  const auto sprio = printed(folder);
  ASSERT_EQ(sprio.size(), saved.pending().size());
  std::map<std::int64_t, int> later;  // so many seconds after Slurm had reckoned ages sprio was asked
  saved.for_each([&](const JobSpec& spec, const SlurmPriorities::Parts& parts, std::int64_t priority) {
    SCOPED_TRACE("job " + std::to_string(spec.number));
    const Printed& told = sprio.at(spec.number);
    const auto near = [&](const char* name, double ours, double within) {
      EXPECT_NEAR(ours, static_cast<double>(told.at(name)), within) << name;
    };
    near("fair share", parts.fair_share, 0.51);
    near("job size", parts.job_size, 0.51);
    near("partition", parts.partition, 0.51);
    near("qos", parts.qos, 0.51);
    near("resources", parts.resources, 2);  // each of the four is rounded
    const auto age = std::lround(parts.age);
    ++later[age - told.at("age")];
    EXPECT_NEAR(static_cast<double>(priority - age), static_cast<double>(told.at("priority") - told.at("age")), 1);
  });
  EXPECT_EQ(later.size(), 1U) << "all ages are reckoned at the same moment";
  EXPECT_GE(later.begin()->first, 0);
  EXPECT_LE(later.begin()->first, 60);
}

// So that there is something to be held against.
TEST_P(PrioritiesOfSlurm, AreOfAllFactors) {
  const Folder folder(GetParam());
  const Saved saved(folder);
  std::map<std::string, std::map<std::int64_t, int>> values;
  for (const auto& [job, of] : printed(folder))
    for (const auto& [name, part] : of) ++values[name][part];
  for (const auto& [name, parts] : values) EXPECT_GE(parts.size(), 2U) << name;
  EXPECT_EQ(saved.policy(),
            "slurm+bf-interval=2s+batch-sched-delay=0d+priority=multifactor+weight-job-size=1000+weight-partition=10000"
            "+weight-qos=20000+weight-tres-cpu=1000+weight-tres-mem=2000+weight-tres-node=500+weight-tres-gpu=3000"
            "+weight-age=86400+weight-fairshare=100000+max-age=1d+calc-period=1m+fair-half-life=1d" +
                std::string(GetParam() == std::string("priorities") ? "" : "+small-relative-to-time=yes"));
}

}  // namespace
}  // namespace rota
