// A backend for benchmarks whose device is modelled by its time. `model` waits for as many microseconds as
// the parameter says whose number the configuration is, from 0, and gives its payload back: one task takes each kind of
// device as long as it would.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "accel/backend_abi.h"

struct rota_accel_device {
  int parameter = 0;
};

namespace {

using Clock = std::chrono::steady_clock;

int open_device(const char* config, rota_accel_device** device, char* why, std::size_t size) {
  const int parameter = std::atoi(config);
  if (parameter < 0 || parameter >= ROTA_ACCEL_PARAMETERS) {
    std::snprintf(why, size, "a task has %d parameters", ROTA_ACCEL_PARAMETERS);
    return ROTA_ACCEL_BAD_TASK;
  }
  *device = new rota_accel_device{parameter};
  return ROTA_ACCEL_DONE;
}

int plan_task(rota_accel_device* /*device*/, const rota_accel_header* header, rota_accel_plan* plan, char* /*why*/,
              std::size_t /*size*/) {
  *plan = {std::max<std::uint64_t>(1, header->payload_bytes), 0, header->payload_bytes, 0};
  return ROTA_ACCEL_DONE;
}

int run_task(rota_accel_device* device, const rota_accel_run* run, char* /*why*/, std::size_t /*size*/) {
  constexpr std::chrono::milliseconds kLook{10};
  const auto end = Clock::now() + std::chrono::microseconds(run->header.parameters[device->parameter]);
  while (Clock::now() < end) {
    if (run->cancelled(run->context) != 0) return ROTA_ACCEL_CANCELLED;
    std::this_thread::sleep_until(std::min(end, Clock::now() + kLook));
  }
  return ROTA_ACCEL_DONE;
}

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) {
  static constexpr const char* kOperations[] = {"model", nullptr};
  static const rota_accel_backend backend{
      .abi = ROTA_ACCEL_BACKEND_ABI,
      .name = "model",
      .operations = kOperations,
      .open = &open_device,
      .describe = [](rota_accel_device*, char* text, std::size_t size) { std::snprintf(text, size, "modelled"); },
      .plan = &plan_task,
      .run = &run_task,
      .state = [](rota_accel_device*, rota_accel_state*) {},
      .close = [](rota_accel_device* device) { delete device; },
      .share = nullptr};
  return &backend;
}
