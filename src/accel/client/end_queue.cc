#include "accel/client/end_queue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace rota::accel {

using std::chrono::steady_clock;

EndQueue::EndQueue() : ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

std::optional<End> EndQueue::next(int timeout_ms) {
  pollfd waits{ended_.get(), POLLIN, 0};
  const auto until = steady_clock::now() + std::chrono::milliseconds(std::max(timeout_ms, 0));
  while (true) {
    std::uint64_t one = 0;
    if (::read(ended_.get(), &one, sizeof one) == sizeof one) {  // one end is this caller's
      const std::lock_guard lock(mutex_);
      End end = std::move(ends_.front());
      ends_.pop_front();
      return end;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    if (timeout_ms >= 0 && left <= 0) return std::nullopt;
    ::poll(&waits, 1, timeout_ms < 0 ? -1 : static_cast<int>(left));
  }
}

void EndQueue::put(std::vector<End> ends) {
  if (ends.empty()) return;
  const std::uint64_t count = ends.size();
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(ends, std::back_inserter(ends_));
  }
  [[maybe_unused]] const ssize_t written = ::write(ended_.get(), &count, sizeof count);
}

}  // namespace rota::accel
