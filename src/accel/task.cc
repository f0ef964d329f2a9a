#include "accel/task.h"

#include <sys/socket.h>

namespace rota::accel {

void Session::break_off() {
  if (!broken_.exchange(true)) ::shutdown(channel_.socket(), SHUT_RDWR);
}

void Session::offer(std::unique_ptr<SharedRings> rings) {
  rings_ = std::move(rings);
  if (rings_) channel_.attach(rings_->file());
}

bool Session::accepted() { return rings_ != nullptr && !client_shares_.exchange(true); }

bool Session::add_message(std::vector<std::byte> frame) {
  constexpr std::size_t kMostMessages = 4096;  // only a client that asks and never reads has more
  const std::lock_guard lock(mutex_);
  if (messages_.size() >= kMostMessages) {
    break_off();
    return false;
  }
  messages_.push_back(std::move(frame));
  return messages_.size() == 1;
}

std::deque<std::vector<std::byte>> Session::messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

}  // namespace rota::accel
