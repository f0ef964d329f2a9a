#include "model/placements.h"

namespace rota {

void Placements::add_job(JobId job) { slot_of_.add(job.value) = kNone; }

void Placements::retire_job(JobId job) {
  erase(job);
  slot_of_.retire(job.value);
}

void Placements::set(JobId job, const Placement& where) {
  std::uint32_t& slot = slot_of_[job.value];
  if (slot == kNone && unused_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else if (slot == kNone) {
    slot = unused_.back();
    unused_.pop_back();
  }
  slots_[slot] = where;
}

void Placements::erase(JobId job) {
  std::uint32_t& slot = slot_of_[job.value];
  if (slot != kNone) unused_.push_back(slot);
  slot = kNone;
}

}  // namespace rota
