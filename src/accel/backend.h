// A device of a backend as a container uses it, and the one that lives in this process: the C interface of
// accel/backend_abi.h behind a C++ one that trusts no plan. accel/backend_process.h has one in a process apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accel/backend_abi.h"
#include "accel/memory.h"
#include "accel/wire.h"
#include "base/result.h"

namespace rota::accel {

class Device {
 public:
  // In this process. `named`: NAME, NAME=CONFIG, or a path with a '/' in place of the name. `librota-accel-NAME.so` is
  // searched beside the program and in ../lib/rota. Fails with a sentence.
  static Result<std::unique_ptr<Device>> open(const std::string& named);
  // One that is part of this program.
  static Result<std::unique_ptr<Device>> open(const rota_accel_backend& backend, const std::string& config);
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  virtual const std::vector<std::string>& operations() const = 0;
  virtual bool lost() const = 0;
  virtual std::uint64_t crashes() const { return 0; }
  virtual rota_accel_state state() = 0;
  // Whether plan() and state() may take long: as long as a backend is being opened, or stands still.
  virtual bool keeps_waiting() const { return false; }

  // The memory that buffer and scratch of all tasks lie in; before the first one runs.
  virtual void share(const SharedMemory& /*memory*/) {}
  // One thread, which may be another one than that of run(); so is state(). ROTA_ACCEL_DONE, or why the task is
  // refused.
  virtual Refusal plan(const rota_accel_header& header, rota_accel_plan& plan) = 0;
  // One thread, which is the one that closes it, or has ended before.
  virtual Refusal run(const rota_accel_run& run) = 0;
  // The container ends: what waits for a backend that is being opened, or does not answer, gives up. Any thread.
  virtual void stop() {}

 protected:
  // A plan that a backend has made, or why it cannot be right.
  static Refusal checked(const rota_accel_plan& plan, std::uint64_t payload);
};

}  // namespace rota::accel
