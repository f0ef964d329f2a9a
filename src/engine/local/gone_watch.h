// Waits for a process that was killed, beside the event loop: it is told once, when the process is gone or takes too
// long about it (the system may have it wait for a disk). Not thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "process/descriptor.h"

namespace rota::local {

class GoneWatch {
 public:
  using Gone = std::function<void()>;  // may destroy the watch

  GoneWatch(boost::asio::io_context& io, process::Descriptor process, Gone gone);  // a pidfd
  GoneWatch(const GoneWatch&) = delete;
  GoneWatch& operator=(const GoneWatch&) = delete;
  ~GoneWatch();  // nothing is told any more

 private:
  struct Waiting;
  std::shared_ptr<Waiting> waiting_;
};

}  // namespace rota::local
