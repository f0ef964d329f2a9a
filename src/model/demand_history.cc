#include "model/demand_history.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rota {

void DemandHistory::add(Instant at, std::int64_t processors) {
  if (window_ <= Duration{0}) return;
  lately_ = lately_ * faded(at - latest_) + static_cast<double>(processors);
  latest_ = at;
  const std::int64_t window = at.time_since_epoch() / window_;
  if (window != open_) {
    close_window();
    // The windows since then in which nothing was asked for, at most those of a week.
    const std::int64_t first = std::max(open_ + 1, window - (seconds(604'800) / window_));
    for (std::int64_t w = first; open_ >= 0 && w < window; ++w) count(hour_at(kEpoch + window_ * w), 0, 1);
    open_ = window;
    asked_ = 0;
  }
  asked_ += processors;
}

void DemandHistory::close_window() {
  if (open_ < 0) return;
  const auto level = std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(asked_)), kLevels - 1);
  count(hour_at(kEpoch + window_ * open_), level, 1);
}

void DemandHistory::count(std::int64_t hour, std::size_t level, float windows) {
  Hour& slot = hours_[static_cast<std::size_t>(hour) % kHours];
  const std::int64_t week = hour / static_cast<std::int64_t>(kHours);
  if (week != slot.week) {
    const auto weight =
        static_cast<float>(std::ldexp(1.0, static_cast<int>(std::max<std::int64_t>(slot.week - week, -60))));
    for (float& w : slot.windows) w *= weight;
    slot.week = week;
  }
  slot.windows[level] += windows;
}

std::vector<DemandHourKept> DemandHistory::kept_hours() const {
  std::vector<DemandHourKept> all;
  for (std::uint32_t h = 0; h < kHours; ++h) {
    const Hour& slot = hours_[h];
    const bool known = std::any_of(slot.windows.begin(), slot.windows.end(), [](float w) { return w > 0; });
    if (known || slot.week != 0) all.push_back({h, slot.week, {slot.windows.begin(), slot.windows.end()}});
  }
  return all;
}

void DemandHistory::put_back(const DemandKept& kept) {
  lately_ = kept.lately;
  latest_ = kept.latest;
  open_ = kept.open;
  asked_ = kept.asked;
}

void DemandHistory::put_back(const DemandHourKept& kept) {
  Hour& slot = hours_[kept.hour % kHours];
  slot.week = kept.week;
  std::copy_n(kept.windows.begin(), std::min(kept.windows.size(), kLevels), slot.windows.begin());
}

std::int64_t DemandHistory::reserve(Instant now, double probability) const {
  if (probability <= 0) return 0;
  const Hour& slot = hours_[static_cast<std::size_t>(hour_at(now)) % kHours];
  float all = 0;
  for (const float w : slot.windows) all += w;
  if (all <= 0) return 0;
  float sum = 0;
  for (std::size_t level = 0; level < kLevels; ++level) {
    sum += slot.windows[level];
    if (sum >= static_cast<float>(probability) * all) return level == 0 ? 0 : std::int64_t{1} << (level - 1);
  }
  return 0;
}

}  // namespace rota
