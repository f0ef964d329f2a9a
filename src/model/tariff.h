// What electricity costs by time of day, and sums of money. Prices are thousandths of the currency for a kilowatt-hour,
// draw is milliwatts, times are milliseconds: all whole numbers, and what is left below a unit is carried.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace rota {

// A sum of money, exact: power of which each part has its price.
struct Cost {
  // So many units of `fraction` make a millionth; one is a microjoule at a price of one thousandth for a kilowatt-hour.
  static constexpr std::int64_t kMillionth = 3'600'000'000;

  std::int64_t millionths = 0;  // of the currency
  std::int64_t fraction = 0;    // of a millionth, below kMillionth

  // A constant draw, of up to 2.5 MW, over a time by its price (Tariff::until).
  void add(std::int64_t milliwatts, std::int64_t priced_time) {
    millionths += milliwatts * (priced_time / kMillionth);
    carry(milliwatts * (priced_time % kMillionth));
  }
  Cost& operator+=(const Cost& other) {
    millionths += other.millionths;
    carry(other.fraction);
    return *this;
  }
  friend bool operator==(const Cost&, const Cost&) = default;

  std::int64_t rounded() const { return millionths + (fraction >= kMillionth / 2 ? 1 : 0); }
  double value() const {  // in the currency
    return (static_cast<double>(millionths) + static_cast<double>(fraction) / static_cast<double>(kMillionth)) * 1e-6;
  }

 private:
  void carry(std::int64_t more) {
    fraction += more;
    millionths += fraction / kMillionth;
    fraction %= kMillionth;
  }
};

// A step function over the day, the same every day. Empty: nothing is said.
class Tariff {
 public:
  static constexpr Duration kDay = seconds(86'400);

  struct Step {
    Duration from{0};        // since midnight, below a day
    std::int64_t price = 0;  // from then until the next step; >= 0
    friend bool operator==(const Step&, const Step&) = default;
  };

  Tariff() = default;
  // Steps ascending; before the first one the last one's price holds. `zone`: how far their clock is ahead of UTC.
  explicit Tariff(std::vector<Step> steps, Duration zone = Duration{0});

  bool has_steps() const { return !steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }  // the first from midnight
  Duration zone() const { return zone_; }

  // The time of day, by the clock of the steps, when it is so many seconds after 1970 in UTC. 0, not known: midnight.
  Duration time_of_day(std::int64_t unix_time) const;

  // The integral of the price from midnight on, over any number of days: thousandths times milliseconds. What a
  // constant draw costs between two times is draw x (until(to) - until(from)). O(log steps). Fits for 290 years at a
  // price of 1,000. There must be steps.
  std::int64_t until(Duration time) const;

 private:
  std::vector<Step> steps_;
  std::vector<std::int64_t> before_;  // the integral from midnight until each step
  std::int64_t day_ = 0;              // over a day
  Duration zone_{0};
};

}  // namespace rota
