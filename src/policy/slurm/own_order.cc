#include "policy/slurm/own_order.h"

#include <algorithm>
#include <utility>

namespace rota {
namespace {

constexpr std::pair<std::string_view, std::string_view> kPolicies[]{
    {"fcfs", "planner=slurm+depth=0+tick=0+bf-interval=no+batch-sched-delay=0+default-queue-depth=1000000000"},
    {"easy",
     "planner=slurm+depth=0+tick=0+bf-interval=1s+bf-resolution=1s+bf-window=3650d+bf-max-job-test=1000000"
     "+bf-job-part-count-reserve=1+batch-sched-delay=0+default-queue-depth=1000000000"},
    {"conservative",
     "planner=slurm+depth=0+tick=0+bf-interval=1s+bf-resolution=1s+bf-window=3650d+bf-max-job-test=1000000"
     "+batch-sched-delay=0+default-queue-depth=1000000000"},
};

}  // namespace

std::string_view in_order_of_site(std::string_view policy) {
  const auto* const found = std::ranges::find(kPolicies, policy, [](const auto& known) { return known.first; });
  return found == std::end(kPolicies) ? "" : found->second;
}

}  // namespace rota
