// A share of the thread's time for what clients may ask for as often as they like and what takes long: a client that
// asks while nothing of it is left is told less. Counted in CPU time, so that a busy computer refuses no client.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/cpu_time.h"

namespace rota::serve {

class TimeShare {
 public:
  using Clock = std::chrono::steady_clock;

  // So many seconds may be spent ahead; of each second that goes by this part comes back.
  constexpr TimeShare(double ahead, double part) : ahead_(ahead), part_(part) {}

  // Does the work to its end, unless more than that is spent. Whether it was done.
  template <class Work>
  bool run(const Work& work, Clock::time_point now = Clock::now()) {
    spent_ = std::max(0.0, spent_ - std::chrono::duration<double>(now - looked_).count() * part_);
    looked_ = now;
    if (spent_ > ahead_) return false;
    const double begin = cpu_seconds();
    work();
    spent_ += cpu_seconds() - begin;
    return true;
  }

 private:
  double ahead_;
  double part_;
  double spent_ = 0;
  Clock::time_point looked_{};
};

}  // namespace rota::serve
