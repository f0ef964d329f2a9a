// The one thread of a client, and what it waits for: events of gRPC's completion queue, tasks of other threads, times.
// All of the client but post() and close() is used on this thread only.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace rota::etcd {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

gpr_timespec from_now(milliseconds delay);

class Operation;

class ClientThread {
 public:
  using Task = std::move_only_function<void()>;
  using Event = std::move_only_function<void(bool ok)>;

  ClientThread();
  ClientThread(const ClientThread&) = delete;
  ClientThread& operator=(const ClientThread&) = delete;
  ~ClientThread() { close(); }

  void post(Task task);  // on any thread; the tasks run in this order
  // On any other thread: cancels all operations and returns when the thread has ended. No more than what has begun
  // runs.
  void close();

  void after(milliseconds delay, Task task);
  bool closing() const { return closing_; }
  grpc::CompletionQueue& queue() { return queue_; }
  void* tag(Event event);  // for one operation on the queue, which runs the event once

 private:
  friend class Operation;

  void run();
  void turn();
  void run_tasks();
  void run_timers();
  void cancel_operations();

  grpc::CompletionQueue queue_;
  std::size_t tags_ = 0;  // operations whose event has not come
  std::set<Operation*> operations_;
  std::multimap<Clock::time_point, Task> timers_;
  bool closing_ = false;

  std::mutex mutex_;         // guards what follows
  std::vector<Task> tasks_;  // not empty: the alarm is set
  grpc::Alarm alarm_;

  std::thread thread_;
};

// A call of gRPC, which ends when the client closes, at the latest.
class Operation {
 public:
  explicit Operation(ClientThread& thread) : thread_(thread) { thread_.operations_.insert(this); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() { thread_.operations_.erase(this); }

  grpc::ClientContext context;

 protected:
  ClientThread& thread() { return thread_; }

 private:
  ClientThread& thread_;
};

}  // namespace rota::etcd
