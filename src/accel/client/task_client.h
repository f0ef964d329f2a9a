// What the C interface (client_abi.h) asks of a client, whatever container computes a task. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "accel/address.h"
#include "accel/client/task_book.h"

namespace rota::accel {

struct ClientOptions {
  std::string shown;  // the address, for messages
  Address address;
  std::string token;
  std::chrono::milliseconds patience{10'000};  // without a sign of the container
  std::chrono::milliseconds give_up{60'000};   // without one that accepts tasks
};

// A task that a container was lost with so often may be what kills it.
inline constexpr std::uint32_t kMostRuns = 20;

class TaskClient {
 public:
  TaskClient() = default;
  TaskClient(const TaskClient&) = delete;
  TaskClient& operator=(const TaskClient&) = delete;
  virtual ~TaskClient() = default;

  virtual std::uint64_t submit(const Order& order) = 0;
  virtual std::uint64_t ask_state(void* tag) = 0;
  virtual void cancel(std::uint64_t task) = 0;
  virtual int event_file() const = 0;
  virtual std::optional<End> next(int timeout_ms) = 0;
};

}  // namespace rota::accel
