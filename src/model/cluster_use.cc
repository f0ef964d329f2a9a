// Whose use counts how much.
#include "model/cluster.h"
#include "model/share_tree.h"

namespace rota {

// For a run, or a part of one, that is over now.
void Cluster::charge(const Job& job) {
  if (!use_.kept()) return;
  const JobSpec& spec = job.spec;
  Duration counts = now_ - job.start;
  if (options_.use_by_qos && spec.qos.valid()) {
    const std::int64_t factor = options_.machine->qos[spec.qos.value].usage_factor;
    counts = counts / 1000 * factor + counts % 1000 * factor / 1000;  // long runs times large factors fit
  }
  use_.add(options_.shares ? options_.shares->holder_of(spec) : spec.user, spec.processors, counts, now_);
}

bool Cluster::has_share(const JobSpec& spec) const { return !options_.shares || options_.shares->knows(spec); }

const std::vector<double>& View::share_factors() const {
  if (share_factors_.empty() || share_factors_of_ != use_.changes()) share_factors_ = options_.shares->factors(use_);
  share_factors_of_ = use_.changes();
  return share_factors_;
}

}  // namespace rota
