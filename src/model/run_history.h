// What is known of one user's past jobs.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace rota {

struct RunHistory {
  Duration last{0};         // run time of the job that ended last
  Duration before_last{0};  // and of the one before
  std::int64_t runs = 0;    // jobs that have ended
};

}  // namespace rota
