// A client of one accelerator container: what the C interface (client_abi.h) describes, with one thread that has the
// connection and the tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "accel/address.h"
#include "accel/client/link.h"
#include "accel/client/task_book.h"
#include "accel/wakeup.h"
#include "accel/wire.h"

namespace rota::accel {

struct ClientOptions {
  std::string shown;  // the address, for messages
  Address address;
  std::string token;
  std::chrono::milliseconds patience{10'000};  // without a sign of the container
  std::chrono::milliseconds give_up{60'000};   // without one that accepts tasks
};

class Client final : private FrameReader::Receiver {
 public:
  explicit Client(ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override;

  // Any thread.
  std::uint64_t submit(const Order& order);
  std::uint64_t ask_state(void* tag);
  void cancel(std::uint64_t task);
  int event_file() const { return ended_.get(); }
  std::optional<End> next(int timeout_ms);  // as rota_accel_next()

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct AskState {
    void* tag;
  };
  struct Cancel {};
  struct Request {
    std::uint64_t number;
    std::variant<Order, AskState, Cancel> what;
  };
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

  std::uint64_t request(std::uint64_t number, const std::variant<Order, AskState, Cancel>& what);
  void run();
  void carry_out_requests();
  void keep_connection();
  void connect();
  void lose(const std::string& why);
  void check_silence(Connected& to);
  void send_what_is_due(Connected& to);
  void wait();
  void serve_link(Connected& to, bool readable);
  void end_all(const Refusal& why);
  void report(std::vector<End> ends);
  bool idle() const { return book_.empty() && states_.empty(); }

  bool begin(const FrameHeader& header, std::span<std::byte>& place) override;
  bool receive(const FrameHeader& header, std::span<const std::byte> payload) override;
  bool granted(const FrameHeader& header, std::span<const std::byte> payload);
  bool refused(const FrameHeader& header, std::span<const std::byte> payload);
  bool state_came(const FrameHeader& header, std::span<const std::byte> payload);
  void acknowledge(const FrameHeader& header);

  const ClientOptions options_;
  Wakeup wakeup_;
  process::Descriptor ended_;  // counts the ends that wait
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  std::vector<Request> requests_;
  std::deque<End> ends_;

  // of the thread
  TaskBook book_;
  std::deque<std::pair<std::uint64_t, void*>> states_;  // asked for, with their tags
  std::variant<Away, Connected> connection_;
  std::uint64_t epoch_ = 0;
  std::chrono::milliseconds pause_{0};     // until the next try to connect
  std::optional<SteadyTime> waits_since_;  // for a container that accepts tasks
  std::string trouble_ = "no connection";  // the last one
  std::thread thread_;
};

}  // namespace rota::accel
