// A share of the thread's time for what clients may ask for as often as they like and what takes long: who asks while
// nothing of it is left is told less. Counted in CPU time, so that a busy computer refuses nobody.
#pragma once

#include <algorithm>
#include <chrono>

namespace rota::serve {

class TimeShare {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // So many seconds may be spent at once; of each second that goes by this part comes back.
  constexpr TimeShare(double at_once, double part) : at_once_(at_once), part_(part) {}

  bool any_left(Instant now) {
    spent_ = std::max(0.0, spent_ - std::chrono::duration<double>(now - looked_).count() * part_);
    looked_ = now;
    return spent_ < at_once_;
  }
  void spend(double seconds) { spent_ += seconds; }

 private:
  double at_once_;
  double part_;
  double spent_ = 0;
  Instant looked_{};
};

}  // namespace rota::serve
