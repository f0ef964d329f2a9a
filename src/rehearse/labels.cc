#include "rehearse/labels.h"

namespace rota {

std::shared_ptr<const report::JobLabels> labels_of(const log::Workload& workload) {
  auto labels = std::make_shared<report::JobLabels>();
  labels->users = workload.users;
  labels->groups = workload.groups;
  labels->partitions = workload.partitions;
  labels->queues = workload.queues;
  // Only the jobs that are counted.
  for (std::size_t i = workload.warm_up; i < workload.jobs.size(); ++i)
    labels->partition.push_back(workload.jobs[i].partition.value);
  for (std::size_t i = workload.warm_up; i < workload.jobs.size(); ++i) {
    const QosId qos = workload.jobs[i].qos;
    labels->queue.push_back(i < workload.recorded.size() ? workload.recorded[i].queue
                            : qos.valid()                ? workload.qos[qos.value]
                                                         : UINT32_MAX);
  }
  return labels;
}

}  // namespace rota
