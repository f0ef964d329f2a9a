// A backend for tests, whose device does what the test says, and a container with it in this process.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "accel/client/client_abi.h"
#include "accel/container.h"

namespace rota::accel {

// Operations: `next` adds one to each byte; `gate` waits until the test opens it, or the task is cancelled; `lose`
// loses the device; `think` waits likewise when it is planned; `empty` has a result of no bytes; `room` plans a result
// of parameter 0 bytes and writes none of them.
class Gate {
 public:
  static void close() { set(false); }
  static void open() { set(true); }
  static void wait_until_entered(int count) {
    std::unique_lock lock(mutex());
    changed().wait(lock, [&] { return entered() >= count; });
  }
  static void wait_until_open() {
    const rota_accel_run wanted{.header = {},
                                .plan = {},
                                .buffer = nullptr,
                                .scratch = nullptr,
                                .cancelled = [](void*) { return 0; },
                                .context = nullptr};
    pass(wanted);
  }
  static int pass(const rota_accel_run& run) {
    std::unique_lock lock(mutex());
    ++entered();
    changed().notify_all();
    while (!is_open()) {
      if (run.cancelled(run.context) != 0) return ROTA_ACCEL_CANCELLED;
      changed().wait_for(lock, std::chrono::milliseconds(1));
    }
    return ROTA_ACCEL_DONE;
  }

 private:
  static void set(bool open) {
    const std::lock_guard lock(mutex());
    is_open() = open;
    entered() = 0;
    changed().notify_all();
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::condition_variable& changed() {
    static std::condition_variable one;
    return one;
  }
  static bool& is_open() {
    static bool open = true;
    return open;
  }
  static int& entered() {
    static int count = 0;
    return count;
  }
};

inline const rota_accel_backend& test_backend() {
  static constexpr std::array<const char*, 7> kOperations{"next", "gate", "think", "lose", "empty", "room", nullptr};
  static const rota_accel_backend backend{
      .abi = ROTA_ACCEL_BACKEND_ABI,
      .name = "test",
      .operations = kOperations.data(),
      .open = [](const char*, rota_accel_device**, char*, std::size_t) -> int { return ROTA_ACCEL_DONE; },
      .describe = [](rota_accel_device*, char* text, std::size_t size) { std::strncpy(text, "a \"test\"", size); },
      .plan = [](rota_accel_device*, const rota_accel_header* header, rota_accel_plan* plan, char*,
                 std::size_t) -> int {
        const std::string_view name = header->operation;
        if (name == "think") Gate::wait_until_open();
        const std::uint64_t payload = header->payload_bytes;
        const std::uint64_t result = name == "empty"  ? 0
                                     : name == "room" ? static_cast<std::uint64_t>(header->parameters[0])
                                                      : payload;
        if (payload > 1U << 30U || result > 1U << 30U) return ROTA_ACCEL_BAD_TASK;
        *plan = {std::max({std::uint64_t{1}, payload, result}), 0, result, name == "room" ? result : 0};
        return ROTA_ACCEL_DONE;
      },
      .run = [](rota_accel_device*, const rota_accel_run* run, char*, std::size_t) -> int {
        const std::string_view name = run->header.operation;
        auto* bytes = static_cast<unsigned char*>(run->buffer);
        if (name == "lose") return ROTA_ACCEL_DEVICE_LOST;
        if (name == "gate") return Gate::pass(*run);
        if (name == "next")
          for (std::uint64_t i = 0; i < run->header.payload_bytes; ++i) ++bytes[i];
        return ROTA_ACCEL_DONE;
      },
      .state = [](rota_accel_device*, rota_accel_state*) {},
      .close = [](rota_accel_device*) {},
      .share = nullptr};
  return backend;
}

inline bool comes_true(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

inline std::unique_ptr<Container> test_container(const std::string& address, ContainerOptions options = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(*Device::open(test_backend(), ""));
  auto container = Container::start(options, std::move(devices), {address});
  EXPECT_TRUE(container) << container.error().message;
  return container ? std::move(*container) : nullptr;
}

struct CloseClient {
  void operator()(rota_accel_client* client) const { rota_accel_close(client); }
};
using TestClient = std::unique_ptr<rota_accel_client, CloseClient>;

inline TestClient test_client(const std::string& address, const char* token = nullptr, std::int64_t give_up = 0) {
  std::array<char, 256> why{};
  const rota_accel_options options{address.c_str(), token, 0, give_up};
  return TestClient(rota_accel_open(&options, why.data(), why.size()));
}

inline std::uint64_t submit(const TestClient& client, const char* operation, std::string_view payload,
                            std::int64_t parameter = 0) {
  const rota_accel_order order{operation, {parameter}, payload.data(), payload.size(), nullptr, 0, 0, nullptr};
  return rota_accel_submit(client.get(), &order);
}

struct Ended {
  std::uint64_t task = 0;
  int outcome = -1;
  std::uint32_t runs = 0;
  std::string result;
};

inline Ended next_end(const TestClient& client) {
  rota_accel_end end{};
  if (rota_accel_next(client.get(), &end, 240'000) == 0) return {};
  const std::unique_ptr<void, void (*)(void*)> own(end.result, &rota_accel_free);
  return {end.task, end.outcome, end.runs, std::string(static_cast<const char*>(end.result), end.result_bytes)};
}

}  // namespace rota::accel
