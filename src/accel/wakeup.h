// Wakes a thread that waits in epoll or poll. Any thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "process/descriptor.h"

namespace rota::accel {

class Wakeup {
 public:
  int file() const { return file_.get(); }
  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(file_.get(), &one, sizeof one);  // full: it rings already
  }
  void clear() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(file_.get(), &count, sizeof count);
  }

 private:
  process::Descriptor file_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace rota::accel
