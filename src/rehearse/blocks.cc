#include "rehearse/blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/readable.h"

namespace rota {

std::size_t LogBlocks::of(Instant submitted) const {
  const auto place = std::max<std::int64_t>(0, (submitted - begin) / length);
  return std::min(static_cast<std::size_t>(place), count - 1);
}

LogBlocks blocks_of(const log::Workload& workload, std::size_t fewest) {
  LogBlocks blocks;
  blocks.begin = workload.jobs[std::min<std::size_t>(workload.warm_up, workload.jobs.size() - 1)].submit;
  const Duration span = workload.jobs.back().submit - blocks.begin;
  blocks.count = static_cast<std::size_t>(span / kWeek);
  if (blocks.count >= fewest) return blocks;
  const auto parts = static_cast<std::int64_t>(fewest);
  blocks.count = span.count() < parts ? 1 : fewest;
  blocks.length = std::max(Duration{1}, span / static_cast<std::int64_t>(blocks.count));
  return blocks;
}

std::string told(const LogBlocks& blocks, std::size_t count) {
  const auto number = static_cast<std::int64_t>(count);
  if (blocks.weeks()) return amount(number, "week");
  return fmt::format("{} of {}", amount(number, "part"), report::readable(blocks.length));
}

void BlockCollector::job_gone(JobId id, const Job& job) {
  if (id.value < workload_.warm_up) return;
  report::Block& block = blocks_[cut_.of(workload_.jobs[id.value].submit)];
  block.add(job);
  const auto& recorded = workload_.recorded;
  if (id.value < recorded.size() && recorded[id.value].start_is_known())
    block.add_recorded(job, recorded[id.value].wait);
}

// The first block begins with what was drawn before it, if jobs of a warm-up came before.
std::vector<Instant> BlockCollector::readings() const {
  std::vector<Instant> all;
  for (std::size_t block = workload_.warm_up > 0 ? 0 : 1; block < cut_.count; ++block)
    all.push_back(cut_.begin + static_cast<std::int64_t>(block) * cut_.length);
  return all;
}

void BlockCollector::drew(std::size_t reading, const report::PowerUse& so_far) {
  const double kilowatt_hours = so_far.used().value_or(NAN);
  const double cost = so_far.cost.value_or(NAN);
  const std::size_t warm_up = workload_.warm_up > 0 ? 1 : 0;
  if (reading >= warm_up) {
    report::Block& block = blocks_[reading - warm_up];
    block.kilowatt_hours = kilowatt_hours - kilowatt_hours_;
    block.cost = cost - cost_;
  }
  kilowatt_hours_ = kilowatt_hours;
  cost_ = cost;
}

}  // namespace rota
