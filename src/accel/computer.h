// The compute thread: the only one that uses the devices.
#pragma once

#include "accel/pipeline.h"

namespace rota::accel {

class Computer {
 public:
  explicit Computer(Pipeline& pipeline) : pipeline_(pipeline) {}
  void run();  // until the queues are closed

 private:
  Refusal compute(Task& task);

  Pipeline& pipeline_;
};

}  // namespace rota::accel
