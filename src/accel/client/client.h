// A client of one accelerator container, or of that which the service binds its node to: what the C interface
// (client_abi.h) describes, with one thread that has the connection and the tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "accel/address.h"
#include "accel/client/end_queue.h"
#include "accel/client/link.h"
#include "accel/client/request_queue.h"
#include "accel/client/task_book.h"
#include "accel/client/task_client.h"
#include "accel/wire.h"

namespace rota::accel {

class Client final : public TaskClient, private FrameReader::Receiver {
 public:
  explicit Client(ClientOptions options);
  ~Client() override;

  std::uint64_t submit(const Order& order) override;
  std::uint64_t ask_state(void* tag) override;
  void cancel(std::uint64_t task) override;
  int event_file() const override { return ends_.event_file(); }
  std::optional<End> next(int timeout_ms) override { return ends_.next(timeout_ms); }
  // As the container has said, which it has not before the first connection. Any thread.
  bool on_cores() const { return on_cores_; }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Away {  // no connection; tried again then
    SteadyTime retry;
  };
  enum class Phase : std::uint8_t { connecting, greeting, up, draining };
  struct Connected {
    std::unique_ptr<Link> link;
    Phase phase = Phase::connecting;
    Welcome welcome{};
    SteadyTime heard;
    SteadyTime pinged;
  };

  void run();
  void carry_out_requests();
  void keep_connection();
  void connect();
  bool follows_service() const { return std::holds_alternative<NodeAddress>(options_.address); }
  void lose(const std::string& why);
  bool is_to_be_left(const Connected& to);
  void check_silence(Connected& to);
  void send_what_is_due(Connected& to);
  void wait();
  void serve_link(Connected& to, bool readable);
  void end_link(const Connected& to);  // it is of no use any more
  void end_all(const Refusal& why);
  bool idle() const { return book_.empty() && states_.empty(); }

  bool begin(const FrameHeader& header, std::span<std::byte>& place) override;
  bool receive(const FrameHeader& header, std::span<const std::byte> payload) override;
  bool granted(const FrameHeader& header, std::span<const std::byte> payload);
  bool refused(const FrameHeader& header, std::span<const std::byte> payload);
  bool state_came(const FrameHeader& header, std::span<const std::byte> payload);
  void acknowledge(const FrameHeader& header);

  const ClientOptions options_;
  RequestQueue requests_;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> on_cores_ = false;
  EndQueue ends_;

  // The thread's alone.
  TaskBook book_;
  std::deque<std::pair<std::uint64_t, void*>> states_;  // asked for, with their tags
  std::variant<Away, Connected> connection_;
  std::uint64_t epoch_ = 0;
  std::string token_;                      // for the container that it is connected to
  std::optional<SteadyTime> idle_since_;   // with a connection
  std::chrono::milliseconds pause_{0};     // until the next try to connect
  std::optional<SteadyTime> waits_since_;  // for a container that accepts tasks
  std::string trouble_ = "no connection";  // the last one
  std::thread thread_;
};

}  // namespace rota::accel
