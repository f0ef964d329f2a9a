// A client of all containers of a node's rack: each task goes to the container that will have it done first, which is
// the rule `late` of a rehearsal (policy/bind/bind_jobs.h) for accelerators: one with room takes the next task if it
// would be done with it no later than all together could be through with all that are left, give or take one task of
// the fastest. So a slow one leaves the last tasks to a fast one. How fast each is the service says, and no task's
// length has to be known.
//
// A task of a container that computes on cores, which takes much longer than its like (slow_tasks.h), is sent a second
// time, to another such container that has nothing to do. The first result counts, and is reported once the other run
// has ended, which is cancelled: it may read the payload or write the result until then. Tasks of accelerators never
// run twice at a time.
//
// A container that cannot do a task (unsupported, no-memory) or is lost with it is left out for that task. When none is
// left, those count again that were lost, but not for ever; if there were none, the task has failed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "accel/client/client.h"
#include "accel/client/request_queue.h"
#include "accel/client/slow_tasks.h"

namespace rota::accel {

class LateClient final : public TaskClient {
 public:
  // `options.address` is a NodeAddress.
  explicit LateClient(ClientOptions options);
  ~LateClient() override;

  std::uint64_t submit(const Order& order) override;
  std::uint64_t ask_state(void* tag) override;
  void cancel(std::uint64_t task) override;
  int event_file() const override { return ends_.event_file(); }
  std::optional<End> next(int timeout_ms) override { return ends_.next(timeout_ms); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using LeftOut = std::map<std::string, int>;  // containers, by address, and what a task ended with there
  struct Task {
    std::variant<Order, AskState> what;
    std::uint32_t runs = 0;    // at containers
    std::uint32_t tries = 0;   // that have ended, also with containers that accepted no tasks
    std::uint32_t losses = 0;  // that lost the device
    bool cancelled = false;
    std::uint32_t flights = 0;          // containers that have it
    std::optional<End> answer;          // what is reported
    std::optional<End> failure;         // the last one that another container may do better than
    LeftOut left_out;                   // changes only while it does not wait
    std::optional<SteadyTime> lost_at;  // with a container, or by one that accepts no tasks; the last time
  };
  struct Place {  // a container
    std::unique_ptr<Client> client;
    std::int64_t weight = 1;
    bool listed = true;                              // the service knows it; else it gets no more tasks
    SteadyTime rests{};                              // likewise until then, since it has lost some
    std::map<std::uint64_t, std::uint64_t> flights;  // its numbers: ours
    SteadyTime since{};                              // it computes the first of them
    bool asked = false;                              // for its state, so that it says what it computes on
  };
  using Places = std::map<std::string, Place>;  // by address

  void run();
  void carry_out_requests();
  void cancel_task(std::uint64_t number);
  void collect(const std::string& address, Place& place);
  void take_end(const std::string& address, Place& place, End end);
  void look_for_containers();
  void end_what_none_can_do();
  void hand_out();
  Place* fastest_with_room(const LeftOut& left_out);
  static bool takes_tasks(const Place& place);
  void give(Place& place, std::uint64_t number);
  void cancel_flights(std::uint64_t number);
  void report(std::uint64_t number);
  static double seconds_of_first(const Place& place);
  void run_again_what_is_slow();
  Place* idle_cores(const LeftOut& left_out);
  void give_up_if_none();
  void wait();
  std::size_t waiting() const;
  bool idle() const { return waiting() == 0 && in_flight_ == 0; }

  const ClientOptions options_;
  EndQueue ends_;
  RequestQueue requests_;
  std::atomic<bool> stops_ = false;

  // The thread's alone.
  std::map<std::uint64_t, Task> tasks_;                   // that have not ended
  std::map<LeftOut, std::deque<std::uint64_t>> waiting_;  // those that no container has
  std::size_t in_flight_ = 0;
  SlowTasks slow_;
  Places places_;
  SteadyTime looks_{};                    // for containers again then, while there are tasks
  std::optional<SteadyTime> none_since_;  // tasks wait, and no container has any
  std::string trouble_ = "no container";
  std::thread thread_;
};

}  // namespace rota::accel
