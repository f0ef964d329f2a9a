// What callers ask of a client's thread, in the order in which they ask, with a number for each. Any thread adds; the
// client's thread takes all, and waits at the wakeup for more.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "accel/client/task_book.h"
#include "accel/wakeup.h"

namespace rota::accel {

struct AskState {
  void* tag;
};
struct Cancel {};

struct Request {
  std::uint64_t number;  // of the task: of a new one, or of that to cancel
  std::variant<Order, AskState, Cancel> what;
};

// The functions that a visit of such a variant chooses from.
template <class... Call>
struct Overloaded : Call... {
  using Call::operator()...;
};

class RequestQueue {
 public:
  std::uint64_t add_task(std::variant<Order, AskState, Cancel> what) {
    return add([this] { return ++last_number_; }, std::move(what));
  }
  void add_cancel(std::uint64_t task) {
    add([task] { return task; }, Cancel{});
  }
  std::vector<Request> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }
  const Wakeup& wakeup() const { return wakeup_; }

 private:
  template <class Number>
  std::uint64_t add(const Number& number_of, std::variant<Order, AskState, Cancel> what) {
    std::uint64_t number = 0;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      number = number_of();
      first = requests_.empty();
      requests_.push_back({number, std::move(what)});
    }
    if (first) wakeup_.ring();
    return number;
  }

  Wakeup wakeup_;
  std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  std::vector<Request> requests_;
};

}  // namespace rota::accel
