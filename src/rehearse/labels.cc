#include "rehearse/labels.h"

namespace rota {

std::shared_ptr<const report::JobLabels> labels_of(const log::Workload& workload) {
  auto labels = std::make_shared<report::JobLabels>();
  labels->users = workload.users;
  labels->groups = workload.groups;
  labels->partitions = workload.partitions;
  labels->queues = workload.queues;
  labels->partition.reserve(workload.jobs.size());
  for (const JobSpec& spec : workload.jobs) labels->partition.push_back(spec.partition.value);
  labels->queue.reserve(workload.recorded.size());
  for (const log::RecordedJob& job : workload.recorded) labels->queue.push_back(job.queue);
  return labels;
}

}  // namespace rota
