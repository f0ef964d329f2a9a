// How tasks ended, from the thread of a client to those that ask. Any thread.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "accel/client/task_book.h"
#include "process/descriptor.h"

namespace rota::accel {

class EndQueue {
 public:
  EndQueue();
  void put(std::vector<End> ends);
  std::optional<End> next(int timeout_ms);         // as rota_accel_next()
  int event_file() const { return ended_.get(); }  // readable while one waits

 private:
  process::Descriptor ended_;  // counts the ends that wait
  std::mutex mutex_;
  std::deque<End> ends_;
};

}  // namespace rota::accel
