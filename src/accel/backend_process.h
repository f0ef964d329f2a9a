// A backend in a process of its own, so that a task that crashes it ends alone: the task that ran ends as lost, and the
// process is started anew, five times in a minute at most. It maps the container's memory, so that no payload is
// copied. A task that goes on computing for ten seconds after it was cancelled, or after its time limit, is ended with
// its process.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "accel/backend.h"
#include "accel/backend_messages.h"

namespace rota::accel {

class DeviceApart : public Device {
 public:
  struct Options {
    std::string named;                 // as in Device::open()
    std::vector<std::string> program;  // with the name behind it, it calls run_backend() (accel/backend_main.h)
    std::chrono::milliseconds grace;
  };
  static Result<std::unique_ptr<Device>> open(Options options);
  ~DeviceApart() override;

  std::string name() const override { return name_; }
  std::string description() const override { return description_; }
  const std::vector<std::string>& operations() const override { return operations_; }
  bool lost() const override { return lost_; }
  std::uint64_t crashes() const override { return crashes_; }
  rota_accel_state state() override;
  bool keeps_waiting() const override { return true; }
  void share(const SharedMemory& memory) override;
  Refusal plan(const rota_accel_header& header, rota_accel_plan& plan) override;
  Refusal run(const rota_accel_run& run) override;
  void stop() override { stops_ = true; }

 private:
  class Process;
  using ProcessPtr = std::shared_ptr<Process>;
  using SteadyTime = std::chrono::steady_clock::time_point;

  explicit DeviceApart(Options options);
  // Starts it; what it says of itself, or why it ended. The lock is held.
  Result<BackendAnswer> start();
  // The process; none: it has crashed too often.
  ProcessPtr process();
  // This one has ended, or is to end; and another one in its place.
  void let_go(const ProcessPtr& gone);
  ProcessPtr instead_of(const ProcessPtr& gone);
  Refusal crashes_often() const;
  // The answer of a process to a question; false: there is none.
  bool ask(const BackendRequest& request, BackendAnswer& answer);
  // Until it can be read from, or that is over, or the container ends.
  bool answers_within(int socket, std::chrono::milliseconds patience) const;
  bool wait_for_answer(Process& process, const rota_accel_run& run, BackendAnswer& answer);

  const Options options_;
  std::string name_;
  std::string description_;
  std::vector<std::string> operations_;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> lost_ = false;   // there is no process, or it is not open yet
  std::mutex mutex_;                 // held while one is opened
  ProcessPtr process_;               // what may be none is started when it is asked for
  std::deque<SteadyTime> restarts_;  // of the last minute
  std::atomic<std::uint64_t> crashes_ = 0;
  SharedMemory memory_;
};

}  // namespace rota::accel
