#include "accel/client/task_book.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "accel/client/task_client.h"

namespace rota::accel {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

void FreeBytes::operator()(std::byte* bytes) const { std::free(bytes); }

void TaskBook::add(std::uint64_t number, const Order& order) {
  tasks_[number].order = order;
  to_submit_.push_back(number);
}

std::vector<End> TaskBook::ends() { return std::exchange(ends_, {}); }

std::optional<std::vector<std::byte>> TaskBook::next_submit(std::uint32_t most) {
  if (to_submit_.empty() || under_way_ >= most) return std::nullopt;
  const std::uint64_t number = to_submit_.front();
  to_submit_.pop_front();
  Task& task = tasks_.at(number);
  task.state = State::submitted;
  ++task.attempt;
  task.moved = 0;
  ++under_way_;
  return framed({.type = FrameType::submit, .task = number, .attempt = task.attempt}, encoded(task.order.submit));
}

Piece TaskBook::next_piece(std::size_t most) {
  const std::uint64_t number = to_send_.front();
  Task& task = tasks_.at(number);
  const auto left = task.order.payload.subspan(task.moved);
  const auto payload = left.first(std::min(left.size(), most));
  const bool last = payload.size() == left.size();
  task.moved += payload.size();
  if (last) {
    task.state = State::sent;
    task.moved = 0;
    to_send_.pop_front();
  }
  const FrameHeader header{.type = FrameType::data,
                           .flags = last ? kLast : std::uint16_t{0},
                           .task = number,
                           .attempt = task.attempt,
                           .length = static_cast<std::uint32_t>(payload.size())};
  return {header, payload};
}

bool TaskBook::cancel(std::uint64_t number, FrameHeader& header) {
  const auto at = tasks_.find(number);
  if (at == tasks_.end() || at->second.unwanted) return false;
  Refusal cancelled{ROTA_ACCEL_CANCELLED, "cancelled by the caller"};
  if (at->second.state == State::queued) {
    std::erase(to_submit_, number);
    end(at, std::move(cancelled));
    return false;
  }
  at->second.unwanted = std::move(cancelled);
  std::erase(to_send_, number);  // nothing more of it may follow the request to cancel it
  header = {.type = FrameType::cancel, .task = number, .attempt = at->second.attempt};
  return true;
}

TaskBook::Tasks::iterator TaskBook::current(const FrameHeader& header) {
  const auto at = tasks_.find(header.task);
  const bool fits = at != tasks_.end() && at->second.state != State::queued && at->second.attempt == header.attempt;
  return fits ? at : tasks_.end();
}

bool TaskBook::granted(const FrameHeader& header, std::uint64_t result_bytes, bool& unwanted) {
  const auto at = current(header);
  if (at == tasks_.end() || at->second.state != State::submitted) return false;
  Task& task = at->second;
  task.result_bytes = result_bytes;
  unwanted = false;
  if (!task.unwanted) {
    task.unwanted = make_room(task);
    unwanted = task.unwanted.has_value();
  }
  task.state = task.order.payload.empty() ? State::sent : State::sending;
  if (task.state == State::sending && !task.unwanted) to_send_.push_back(header.task);
  return true;
}

std::optional<Refusal> TaskBook::make_room(Task& task) {
  const std::uint64_t bytes = task.result_bytes;
  if (task.order.result.data() != nullptr) {
    if (bytes > task.order.result.size())
      return Refusal{ROTA_ACCEL_BAD_TASK, "the result has " + std::to_string(bytes) +
                                              " bytes, and the caller has room for " +
                                              std::to_string(task.order.result.size())};
    task.result = task.order.result.first(bytes);
    return std::nullopt;
  }
  if (bytes > PTRDIFF_MAX / 2) return Refusal{ROTA_ACCEL_NO_MEMORY, "no memory for the result"};
  const std::uint64_t rounded = std::max<std::uint64_t>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment;
  task.own.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!task.own) return Refusal{ROTA_ACCEL_NO_MEMORY, "no memory for the result"};
  task.result = {task.own.get(), bytes};
  return std::nullopt;
}

bool TaskBook::place_for(const FrameHeader& header, std::span<std::byte>& place) {
  const auto at = current(header);
  if (at == tasks_.end()) return false;
  const Task& task = at->second;
  // A task that was cancelled while its payload went out may still end with a result, but no other one.
  if (task.state != State::sent && !task.unwanted) return false;
  if (task.unwanted) {
    scrap_.resize(header.length);
    place = scrap_;
    return true;
  }
  const std::uint64_t left = task.result_bytes - task.moved;
  const bool last = (header.flags & kLast) != 0;
  if (header.length > left || last != (header.length == left)) return false;
  place = task.result.subspan(task.moved, header.length);
  return true;
}

bool TaskBook::received(const FrameHeader& header) {
  const auto at = current(header);
  if (at == tasks_.end()) return false;
  at->second.moved += header.length;
  if ((header.flags & kLast) == 0) return true;
  auto unwanted = std::move(at->second.unwanted);
  end(at, unwanted ? std::move(*unwanted) : Refusal{ROTA_ACCEL_DONE, ""});
  return true;
}

bool TaskBook::refused(const FrameHeader& header, const Refusal& refusal) {
  const auto at = current(header);
  if (at == tasks_.end()) return false;
  Task& task = at->second;
  std::erase(to_send_, header.task);
  if (task.unwanted) {
    const Refusal why = *task.unwanted;
    end(at, why);
  } else if (refusal.outcome == ROTA_ACCEL_LEAVING) {
    task.state = State::queued;  // the container that follows may run it
    --under_way_;
    to_submit_.push_front(header.task);
  } else {
    end(at, refusal);
  }
  return true;
}

void TaskBook::connection_lost() {
  to_send_.clear();
  to_submit_.clear();
  for (auto next = tasks_.begin(); next != tasks_.end();) {
    const auto at = next++;
    Task& task = at->second;
    if (task.state != State::queued && task.unwanted) {
      const Refusal why = *task.unwanted;
      end(at, why);
    } else if (task.state != State::queued && task.attempt >= kMostRuns) {
      end(at, {ROTA_ACCEL_DEVICE_LOST, "the container was lost each time that it had this task"});
    } else {
      if (task.state != State::queued) --under_way_;
      task.state = State::queued;
      task.own.reset();
      to_submit_.push_back(at->first);
    }
  }
}

void TaskBook::end_all(const Refusal& why) {
  while (!tasks_.empty()) end(tasks_.begin(), why);
  to_send_.clear();
  to_submit_.clear();
}

void TaskBook::end(Tasks::iterator at, Refusal outcome) {
  Task& task = at->second;
  if (task.state != State::queued) --under_way_;
  End& end = ends_.emplace_back();
  end.task = at->first;
  end.tag = task.order.tag;
  end.runs = task.attempt;
  end.outcome = std::move(outcome);
  if (end.outcome.outcome == ROTA_ACCEL_DONE) {
    end.result = task.result;
    end.own = std::move(task.own);
  }
  tasks_.erase(at);
}

}  // namespace rota::accel
