// What a device is asked: plans of tasks and its state. Where it may keep the answer for long (Device::keeps_waiting)
// a thread of its own asks, and the reader thread never waits: else no ping and no sign of life would be answered
// meanwhile.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "accel/task.h"

namespace rota::accel {

class Planner {
 public:
  // `answered` is called by the thread, when there is something to take.
  Planner(Device& device, std::function<void()> answered);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;
  ~Planner();  // the device was asked to stop

  // The reader thread alone:
  // True: the task has its plan, or why it is refused (Task::planned). False: it will be among those to take. O(log n)
  // where the like was planned before.
  bool plan(const TaskPtr& task);
  std::vector<TaskPtr> take_answered();
  // It is not wanted any more. O(n) in those that wait.
  void withdraw(const TaskPtr& task);

  Device& device() const { return device_; }
  // As the device said last, which is a second ago unless it stands still. Any thread.
  rota_accel_state state() const;

 private:
  void run();
  TaskPtr next();  // null: it is time to ask for the state

  Device& device_;
  const std::function<void()> answered_;
  std::map<std::string, rota_accel_plan> known_;  // by the bytes of the header; the reader thread's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TaskPtr> asked_;
  std::vector<TaskPtr> done_;
  rota_accel_state state_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace rota::accel
