// The tasks of simulated jobs, and the accelerators that they share: when each task is read, computed and written, and
// so when such a job ends. Physics only: which executor gets which task is for policy/bind/bind_jobs.h to say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "control/ports.h"
#include "engine/sim/pipeline.h"
#include "engine/sim/task_check.h"
#include "model/tasks.h"
#include "policy/bind/bind_jobs.h"

namespace rota::sim {

// How the containers of a cluster work.
struct ContainerModel {
  PipelineShape pipeline;
  bool copies_all = false;  // tasks of a container's own node pass its link too
  Duration binding{0};      // from when a slot is bound until its tasks can be had
};

// What became of tasks and accelerators.
struct TaskUse {
  std::int64_t jobs = 0;     // that have tasks and started
  std::int64_t on_cpu = 0;   // tasks that were finished there
  std::int64_t local = 0;    // on an accelerator of the node where they lay
  std::int64_t remote = 0;   // of another node
  std::int64_t redone = 0;   // begun, and not finished: a job was stopped, a node went, or they were at their limit
  std::int64_t bytes = 0;    // moved between nodes, there and back
  std::int64_t bound = 0;    // nodes or slots, to an accelerator node
  std::int64_t rebound = 0;  // how often one of them, to another
  std::int64_t accelerators = 0;  // of the machine
  Duration computing{0};          // of all accelerators together
  Duration length{0};             // from the first arrival until the last job was gone
  std::int64_t checks = 0;        // of TaskCheck

  // Those of another site, over the same time.
  void add(const TaskUse& o) {
    jobs += o.jobs;
    on_cpu += o.on_cpu;
    local += o.local;
    remote += o.remote;
    redone += o.redone;
    bytes += o.bytes;
    bound += o.bound;
    rebound += o.rebound;
    accelerators += o.accelerators;
    computing += o.computing;
    length = std::max(length, o.length);
    checks += o.checks;
  }
};

// Who wants to know.
class TaskListener {
 public:
  virtual ~TaskListener() = default;
  virtual void tasks_done(JobId job) = 0;  // at the instant at which the last task of a job is finished
  virtual void serving_changed() = 0;      // take_serving_changes() has some
  // An accelerator of the node is through with a task; job: invalid if it has gone meanwhile.
  virtual void computed(JobId job, NodeId node, Instant from, Instant to) = 0;
};

// A job with tasks computes them on the CPUs of its nodes, one at a time on each, and on the accelerators that its
// nodes may use. Each accelerator is a container (engine/sim/pipeline.h) with a link of its own: tasks that lie on
// another node are read and written over it, those of its own node without it, as a rule. What an accelerator has begun
// it ends, even if the job is gone. So sharers are never told a share beforehand: tasks of several jobs pass one after
// the other, each exactly as long as it takes, and whoever comes or goes changes what happens from the next task on.
//
// A task that a CPU has not finished at the job's limit for a task is given up, and done again on another of the job's
// nodes in its rack, if there is one: before those that are new, and for as long as it takes.
//
// A job whose node goes to sleep does not exist; an accelerator that is sent to sleep while it computes for others
// loses what it has begun, and others do it again.
class JobTasks final : public Alarm {
 public:
  JobTasks(Bind bind, const Machine& machine, const TaskTable& table, const ContainerModel& containers, Loop& loop);
  void open(TaskListener& listener) { listener_ = &listener; }  // before anything arrives; must outlive this

  // A job has come that would run for so long on CPUs, if the table says that it has tasks; `run_time` is used where
  // the table does not say how long a task takes there.
  void arrive(JobId id, std::int64_t number, Duration run_time);
  bool has(JobId id) const { return jobs_.contains(id); }
  // On these nodes, after so long: then come its start-up and those of its tasks that are not finished.
  void start(JobId id, const Placement& where, Duration pause);
  // It leaves its nodes; what is finished of its tasks is kept or is not.
  void stop(JobId id, bool kept);
  void forget(JobId id);  // it will not come back, if it has any

  void leave(NodeId node);
  void join(NodeId node);
  bool present(NodeId node) const { return binding_.present(node); }

  // Everything that happens until now.
  void advance(Instant now);
  void ring() override { advance(loop_.now()); }
  bool idle() const { return events_.empty(); }
  // Nodes that have begun or ceased to serve others.
  std::vector<NodeId> take_serving_changes() { return binding_.take_serving_changes(); }
  bool serves(NodeId node) const { return binding_.serves(node); }

  const std::optional<std::string>& breach() const { return check_.breach(); }
  TaskUse use(Instant now) const;

 private:
  struct GivenUp {  // at its limit, and not begun again
    JobBinding::Task task;
    NodeId on;
  };
  struct Job {
    TaskSpec spec;
    Duration run_time{0};
    Duration cpu{0};             // what a task takes on a CPU of factor 1; 0: not known before the first start
    std::uint32_t tasks = 0;     // not finished when it was last started or stopped
    std::uint32_t run = 0;       // which start; 0: not running
    std::uint32_t begun = 0;     // tasks, and not finished
    bool started = false;        // at least once
    bool computing = false;      // its start-up is over
    std::vector<NodeId> nodes;   // of this run
    std::set<NodeId> busy_cpus;  // of them
    std::vector<GivenUp> given_up;
  };
  struct Flight {  // a task that is begun
    JobBinding::Task task;
    ContainerId container;  // invalid: on the CPU of `on`
    NodeId on;
    std::uint32_t run = 0;
    Passage passage;
    bool aboard = true;  // false: the container went
  };
  enum class Kind : std::uint8_t { finished, given_up, ready, begin, ask, bound };
  struct Event {
    Instant at;
    Kind kind;
    std::uint32_t who;  // a flight, a container, a job, or so many bindings
    std::uint32_t run;  // begin: of the job
    std::uint64_t order;
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  void push(Instant at, Kind kind, std::uint32_t who, std::uint32_t run);
  void happen(const Event& event);
  void begin(JobId id);
  void finished(std::uint32_t flight);
  void given_up(std::uint32_t flight);
  std::optional<JobBinding::Task> take_again(Job& job, NodeId node);
  void complete(JobId id);
  void count(const Flight& flight);
  void lose_flights(NodeId node);
  Job* owner(const Flight& flight);  // nullptr: the job has gone, or was started anew
  std::uint32_t board(const Flight& flight);
  void ask_all(RackId rack);
  void wait_for_bindings();
  void offer(Instant now);
  void offer_cpu(JobId id, NodeId node, Instant now);
  bool feed(ContainerId id, Instant now);
  StageTimes stages(const Job& job, const JobBinding::Task& task, ContainerId container) const;
  void settle();

  Bind bind_;
  const Machine& machine_;
  const TaskTable& table_;
  ContainerModel model_;
  Loop& loop_;
  TaskListener* listener_ = nullptr;
  JobBinding binding_;
  TaskCheck check_;
  std::vector<Pipeline> containers_;  // by id
  std::map<JobId, Job> jobs_;
  std::set<JobId> computing_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> unused_flights_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::set<std::pair<JobId, NodeId>> asking_cpus_;
  std::set<ContainerId> asking_;
  std::optional<Instant> opened_;
  std::uint64_t order_ = 0;
  std::uint64_t awaited_bindings_ = 0;
  std::uint32_t runs_ = 0;
  TaskUse use_;
};

}  // namespace rota::sim
