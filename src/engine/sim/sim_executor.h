// The accelerators and CPUs of a simulated machine: when each task is read, computed and written. Physics only: which
// of them gets which task is for control/task_desk.h to say.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "control/executor.h"
#include "control/ports.h"
#include "engine/sim/pipeline.h"
#include "engine/sim/task_check.h"

namespace rota::sim {

// How the containers of a cluster work.
struct ContainerModel {
  PipelineShape pipeline;
  bool copies_all = false;  // tasks of a container's own node pass its link too
  Duration binding{0};      // from when a slot is bound until its tasks can be had
};

// Hears of what accelerators do.
class ComputingListener {
 public:
  virtual ~ComputingListener() = default;
  // An accelerator of the node is through with a task; job: invalid if the result was not wanted any more.
  virtual void computed(JobId job, NodeId node, Instant from, Instant to) = 0;
};

// Each accelerator is a container (engine/sim/pipeline.h) with a link of its own: tasks that lie on another node are
// read and written over it, those of its own node without it, as a rule. What an accelerator has begun it ends, even if
// the job is gone. So sharers are never told a share beforehand: tasks of several jobs pass one after the other, each
// exactly as long as it takes, and what comes or goes changes what happens from the next task on. A CPU drops what is
// cancelled at once.
class SimExecutor final : public Executor {
 public:
  SimExecutor(const Machine& machine, const ContainerModel& model, Loop& loop);
  void open(TaskAnswers& answers, ComputingListener& listener) { answers_ = &answers, listener_ = &listener; }

  void submit(const ComputeTask& task) override;
  void cancel(const TaskKey& key) override;
  std::span<const Card> cards() const override { return cards_; }

  // After so long the processes of this run of a job are up; so many bindings of slots can be used; or no more than
  // that tasks are handed out.
  void start_up(JobId job, std::uint32_t run, Duration after) {
    push(loop_.now() + after, Kind::ready, job.value, run);
  }
  void bind(std::uint64_t slot_bindings, Duration after) {
    push(loop_.now() + after, Kind::settled, static_cast<std::uint32_t>(slot_bindings), 0);
  }
  // A node that is there goes, with what its accelerators have begun; or comes back.
  void leave(NodeId node);
  void join(NodeId node);

  // Everything that happens until now.
  void advance(Instant now);
  Instant next() const { return events_.empty() ? kNever : events_.top().at; }  // when something happens

  Duration computing() const { return computing_; }  // of all accelerators together, so far
  TaskCheck& check() { return check_; }
  const TaskCheck& check() const { return check_; }

 private:
  struct Flight {  // a task that is begun
    ComputeTask task;
    Passage passage;
    enum class State : std::uint8_t { wanted, cancelled, lost } state = State::wanted;
  };
  enum class Kind : std::uint8_t { done, over_limit, room, ready, settled, hand_out };
  struct Event {
    Instant at;
    Kind kind;
    std::uint32_t what;  // a flight, a container, a job, or so many bindings
    std::uint32_t run;   // ready: of the job
    std::uint64_t order;
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  void push(Instant at, Kind kind, std::uint32_t what, std::uint32_t run);
  void happen(const Event& event);
  void done(std::uint32_t flight);
  void over_limit(std::uint32_t flight);
  Flight land(std::uint32_t flight);
  std::uint32_t board(const Flight& flight);
  void admit(const ComputeTask& task);
  StageTimes stages(const ComputeTask& task) const;

  const Machine& machine_;
  ContainerModel model_;
  Loop& loop_;
  TaskAnswers* answers_ = nullptr;
  ComputingListener* listener_ = nullptr;
  std::vector<Card> cards_;  // by container id, as are:
  std::vector<Pipeline> containers_;
  TaskCheck check_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> unused_flights_;
  std::vector<std::uint32_t> of_place_;  // of a key: its flight
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  Duration computing_{0};
};

}  // namespace rota::sim
