#include "study/inputs.h"

#include <sstream>

#include "log/json_lines.h"
#include "log/swf.h"
#include "log/swf_writer.h"

namespace rota::study {

std::string swf_text(const log::Workload& workload) {
  std::ostringstream out;
  log::write_swf(out, workload);
  return std::move(out).str();
}

std::string json_text(const log::Workload& workload, const TaskTable* tasks) {
  std::ostringstream out;
  {
    log::LogTop top;
    top.processors = workload.processors;
    log::JsonLinesWriter writer(out);
    writer.top(top);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      const JobSpec& job = workload.jobs[i];
      log::JobAttributes attributes;
      attributes.restart = job.restart;
      attributes.restart_cost = job.restart_cost;
      if (const TaskSpec* const spec = tasks ? tasks->of(job.number) : nullptr) attributes.tasks = *spec;
      writer.job(log::swf_row(job, workload.run_times[i]), attributes);
    }
  }
  return std::move(out).str();
}

std::string simulate_command(std::span<const std::string> workloads, const std::string& options,
                             std::span<const std::string> policies) {
  std::string command = "rota simulate";
  for (const std::string& workload : workloads) command += " " + workload;
  if (!options.empty()) command += " " + options;
  for (std::size_t i = 0; i < policies.size(); ++i) command += (i == 0 ? " --policy " : ",") + policies[i];
  return command + " --json";
}

}  // namespace rota::study
