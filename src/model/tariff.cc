#include "model/tariff.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

Tariff::Tariff(std::vector<Step> steps, Duration zone) : steps_(std::move(steps)), zone_(zone) {
  if (steps_.empty()) return;
  if (steps_.front().from > Duration{0}) steps_.insert(steps_.begin(), {Duration{0}, steps_.back().price});
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Duration end = i + 1 < steps_.size() ? steps_[i + 1].from : kDay;
    CHECK(end > steps_[i].from, "the steps of a day ascend");
    before_.push_back(day_);
    day_ += steps_[i].price * (end - steps_[i].from).count();
  }
}

Duration Tariff::time_of_day(std::int64_t unix_time) const {
  if (unix_time == 0) return Duration{0};
  const Duration into = (seconds(unix_time % 86'400) + zone_) % kDay;
  return into < Duration{0} ? into + kDay : into;
}

std::int64_t Tariff::until(Duration time) const {
  std::int64_t days = time / kDay;
  Duration into = time % kDay;
  if (into < Duration{0}) {
    into += kDay;
    --days;
  }
  const auto next = std::ranges::upper_bound(steps_, into, {}, &Step::from);
  const auto step = static_cast<std::size_t>(next - steps_.begin()) - 1;
  return days * day_ + before_[step] + steps_[step].price * (into - steps_[step].from).count();
}

}  // namespace rota
