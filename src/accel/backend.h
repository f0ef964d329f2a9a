// One device of a backend, opened: the C interface of accel/backend_abi.h behind a C++ one that trusts no plan.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accel/backend_abi.h"
#include "accel/wire.h"
#include "base/result.h"

namespace rota::accel {

class Device {
 public:
  // `named`: NAME, NAME=CONFIG, or a path with a '/' in place of the name. `librota-accel-NAME.so` is searched beside
  // the program and in ../lib/rota. Fails with a sentence.
  static Result<std::unique_ptr<Device>> open(const std::string& named);
  // One that is part of this program.
  static Result<std::unique_ptr<Device>> open(const rota_accel_backend& backend, const std::string& config);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  std::string name() const { return backend_->name; }
  std::string description() const;
  const std::vector<std::string>& operations() const { return operations_; }
  bool lost() const { return lost_; }
  rota_accel_state state() const;

  // Any thread. ROTA_ACCEL_DONE, or why the task is refused.
  Refusal plan(const rota_accel_header& header, rota_accel_plan& plan) const;
  // One thread, which is the one that closes it, or has ended before.
  Refusal run(const rota_accel_run& run);

 private:
  struct Unload {
    void operator()(void* object) const;
  };
  using Object = std::unique_ptr<void, Unload>;
  Device(Object object, const rota_accel_backend& backend, rota_accel_device* device);
  static Result<std::unique_ptr<Device>> opened(Object object, const rota_accel_backend& backend,
                                                const std::string& config);

  Object object_;  // none: it is part of the program
  const rota_accel_backend* backend_;
  rota_accel_device* device_;
  std::vector<std::string> operations_;
  std::atomic<bool> lost_ = false;
};

}  // namespace rota::accel
