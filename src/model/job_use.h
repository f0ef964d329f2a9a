// What one dispatch of a job has used, with all its processes, as far as its engine knows.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace rota {

struct JobUse {
  Duration processors{0};   // of their time, in its own code and in the kernel,
  Duration in{0};           // for as long as its processes ran, under earlier dispatches too where they were suspended;
                            // 0: that is not known
  std::int64_t memory = 0;  // bytes, the most at one time: of all its processes where they are counted together, else
                            // of the largest; 0: nothing of all this is known

  bool operator==(const JobUse&) const = default;
};

}  // namespace rota
