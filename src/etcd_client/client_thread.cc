#include "etcd_client/client_thread.h"

#include <memory>
#include <utility>

namespace rota::etcd {

gpr_timespec from_now(milliseconds delay) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(delay.count(), GPR_TIMESPAN));
}

ClientThread::ClientThread() : thread_([this] { run(); }) {}

void ClientThread::post(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) alarm_.Set(&queue_, gpr_time_0(GPR_CLOCK_MONOTONIC), this);
}

void ClientThread::close() {
  if (!thread_.joinable()) return;
  post([this] { cancel_operations(); });
  thread_.join();
}

void ClientThread::after(milliseconds delay, Task task) {
  if (!closing_) timers_.emplace(Clock::now() + delay, std::move(task));
}

void* ClientThread::tag(Event event) {
  ++tags_;
  return new Event(std::move(event));
}

void ClientThread::cancel_operations() {
  closing_ = true;
  timers_.clear();
  for (Operation* operation : operations_) operation->context.TryCancel();
}

void ClientThread::run() {
  while (!closing_ || tags_ > 0) turn();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) continue;  // as gRPC demands
}

void ClientThread::turn() {
  void* tag = nullptr;
  bool ok = false;
  const gpr_timespec until = timers_.empty()
                                 ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                                 : from_now(std::chrono::ceil<milliseconds>(timers_.begin()->first - Clock::now()));
  if (queue_.AsyncNext(&tag, &ok, until) == grpc::CompletionQueue::GOT_EVENT) {
    if (tag == this) {
      run_tasks();
    } else {
      const std::unique_ptr<Event> event(static_cast<Event*>(tag));
      --tags_;
      (*event)(ok);
    }
  }
  run_timers();
}

void ClientThread::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) {
    if (!closing_) task();
  }
}

void ClientThread::run_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
}

}  // namespace rota::etcd
