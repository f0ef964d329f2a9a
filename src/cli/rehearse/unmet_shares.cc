#include "cli/rehearse/unmet_shares.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

template <class Named>
std::set<std::string> names_of(const std::vector<Named>& all) {
  std::set<std::string> names;
  for (const Named& each : all) names.insert(each.name);
  return names;
}

// Jobs whose number has another name than these.
class Unmet {
 public:
  Unmet(std::set<std::string> known, const log::NumberedNames& names) : known_(std::move(known)), names_(names) {}

  void count_job(std::uint32_t number) {
    const std::string name = number == UINT32_MAX ? "unknown" : name_by_number(names_, number);
    if (known_.contains(name)) return;
    if (jobs_++ == 0) first_ = name;
  }
  void tell(const std::string& what, const std::string& so, std::vector<std::string>& sentences) const {
    if (jobs_ == 0) return;
    sentences.push_back(fmt::format("{}{}{} such as {}, which the cluster file does not have: {}", amount(jobs_, "job"),
                                    jobs_ == 1 ? " is of " : " are of ", what, rota::quoted(first_), so));
  }

 private:
  std::set<std::string> known_;
  const log::NumberedNames& names_;
  std::int64_t jobs_ = 0;
  std::string first_;
};

// Sentences; `machine` is nullptr where there is no cluster file.
std::vector<std::string> unmet_shares(const log::Workload& workload, const SlurmKnobs& knobs, const Machine* machine) {
  std::vector<std::string> sentences;
  if (!knobs.planner || !knobs.multifactor) return sentences;
  const SlurmWeights& weights = knobs.weights;
  const auto idle = [&](std::int64_t weight, bool told, const std::string& name, const std::string& lacking) {
    if (weight > 0 && !told) sentences.push_back(fmt::format("{} changes nothing here, for {}", name, lacking));
  };
  idle(weights.qos, machine && !machine->qos.empty(), "weight-qos", "no cluster file has [[qos]]");
  idle(weights.partition, machine && !machine->partitions.empty(), "weight-partition", "there are no partitions");
  idle(weights.memory, machine && machine->memory > 0, "weight-tres-mem", "no cluster file tells memory of nodes");
  idle(weights.accelerators, machine && machine->accelerators > 0, "weight-tres-gpu", "no node has accelerators");
  if (!machine) return sentences;
  Unmet qos(names_of(machine->qos), workload.queues), accounts(names_of(machine->accounts), workload.groups);
  const bool by_qos = !machine->qos.empty() && (weights.qos > 0 || weights.fair_share > 0);
  const bool by_accounts = !machine->accounts.empty() && weights.fair_share > 0;
  for (const JobSpec& job : workload.jobs) {
    if (by_qos && job.qos.valid()) qos.count_job(workload.qos[job.qos.value]);
    if (by_accounts) accounts.count_job(job.group);
  }
  qos.tell("a QOS (queue)", "they count as of none", sentences);
  accounts.tell("an account (group)", "they stand at the top, with 1 share for each user", sentences);
  return sentences;
}

}  // namespace

void report_unmet_shares(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.chain == nullptr) continue;
    for (const std::string& line : unmet_shares(*run.workload, run.chain->knobs().slurm, run.options.machine.get()))
      remark(fmt::format("{}, {}: {}", run.workload->name, run.chain->text(), line));
  }
}

}  // namespace rota::cli
