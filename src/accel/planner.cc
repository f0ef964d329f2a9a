#include "accel/planner.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace rota::accel {
namespace {

constexpr std::chrono::seconds kStatePeriod{1};
constexpr std::size_t kMostKnown = 256;

std::string key_of(const rota_accel_header& header) { return {reinterpret_cast<const char*>(&header), sizeof header}; }

}  // namespace

Planner::Planner(Device& device, std::function<void()> answered)
    : device_(device), answered_(std::move(answered)), state_(device.state()) {
  if (!device_.keeps_waiting()) return;
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "accel-ask");
}

Planner::~Planner() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

bool Planner::plan(const TaskPtr& task) {
  if (!thread_.joinable()) {
    task->planned = device_.plan(task->submit.header, task->plan);
    return true;
  }
  if (const auto known = known_.find(key_of(task->submit.header)); known != known_.end()) {
    task->plan = known->second;
    task->planned = {ROTA_ACCEL_DONE, ""};
    return true;
  }
  const std::lock_guard lock(mutex_);
  asked_.push_back(task);
  changed_.notify_one();
  return false;
}

std::vector<TaskPtr> Planner::take_answered() {
  std::vector<TaskPtr> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(done_);
  }
  for (const TaskPtr& task : tasks) {
    if (task->planned.outcome != ROTA_ACCEL_DONE) continue;
    if (known_.size() >= kMostKnown) known_.clear();
    known_.emplace(key_of(task->submit.header), task->plan);
  }
  return tasks;
}

void Planner::withdraw(const TaskPtr& task) {
  const std::lock_guard lock(mutex_);
  std::erase(asked_, task);
}

rota_accel_state Planner::state() const {
  if (!thread_.joinable()) return device_.state();
  const std::lock_guard lock(mutex_);
  return state_;
}

TaskPtr Planner::next() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kStatePeriod, [this] { return stops_ || !asked_.empty(); });
  if (stops_ || asked_.empty()) return nullptr;
  TaskPtr task = std::move(asked_.front());
  asked_.pop_front();
  return task;
}

void Planner::run() {
  auto looked = std::chrono::steady_clock::now();
  while (true) {
    if (const TaskPtr task = next()) {
      task->planned = device_.plan(task->submit.header, task->plan);
      {
        const std::lock_guard lock(mutex_);
        done_.push_back(task);
      }
      answered_();
    }
    const auto now = std::chrono::steady_clock::now();
    const bool due = now - looked >= kStatePeriod;
    if (due) looked = now;
    rota_accel_state state = due ? device_.state() : rota_accel_state{};
    const std::lock_guard lock(mutex_);
    if (due) state_ = state;
    if (stops_) return;
  }
}

}  // namespace rota::accel
