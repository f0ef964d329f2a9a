// How many processors the jobs ask for that arrive within one boot time: lately, and hour of the week by hour of the
// week; from which it is reckoned how many nodes to keep ready. What is long past counts less. O(1) for each job. Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/fact.h"

namespace rota {

class DemandHistory {
 public:
  explicit DemandHistory(Duration window) : window_(window) {}

  void add(Instant at, std::int64_t processors);

  // Processors that were asked for in one window, on average over the last half hour or so: what was asked for a time t
  // ago counts about e^(-t/30 min), and after a gap g without jobs all of it 1 / (1 + g/30 min).
  double lately(Instant now) const {
    return lately_ * faded(now - latest_) * static_cast<double>(window_.count()) / static_cast<double>(kFading.count());
  }

  // For a snapshot: what is known, nothing of hours of which nothing is, and how it is put back.
  DemandKept kept() const { return {lately_, latest_, open_, asked_}; }
  std::vector<DemandHourKept> kept_hours() const;
  void put_back(const DemandKept& kept);
  void put_back(const DemandHourKept& kept);

  // So many that, in this hour of the week, the jobs of one window asked for no more with this probability; demand is
  // rounded down to a power of two, and with each week counts half as much. 0 as long as nothing is known, or under a
  // probability of 0.
  std::int64_t reserve(Instant now, double probability) const;

 private:
  static constexpr Duration kFading = seconds(1800);
  static constexpr std::size_t kHours = 168;
  static constexpr std::size_t kLevels = 33;  // level 0: none; level l: 2^(l-1) to 2^l - 1
  struct Hour {
    std::array<float, kLevels> windows{};  // by level, those past weighing less
    std::int64_t week = 0;                 // when it was last brought up to date
  };

  static std::int64_t hour_at(Instant at) { return at.time_since_epoch().count() / 3'600'000; }
  // Arithmetic that is the same on every machine, which an exponential is not.
  static double faded(Duration gap) {
    const auto fading = static_cast<double>(kFading.count());
    return fading / (fading + static_cast<double>(gap.count()));
  }
  void close_window();
  void count(std::int64_t hour, std::size_t level, float windows);

  Duration window_;
  double lately_ = 0;  // processors asked for, faded as of latest_
  Instant latest_ = kEpoch;
  std::int64_t open_ = -1;  // the window that is being added up, by number; -1: none yet
  std::int64_t asked_ = 0;  // in it
  std::array<Hour, kHours> hours_{};
};

}  // namespace rota
