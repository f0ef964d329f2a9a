// The tasks of jobs, and which accelerator or CPU computes each: the same desk in a rehearsal and over real containers.
// What is bound to what is decided by policy/bind; what becomes of a task is for the executor to say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "control/executor.h"
#include "model/accelerator_bindings.h"
#include "model/fact.h"
#include "model/tasks.h"
#include "policy/bind/bind_jobs.h"

namespace rota {

// What became of tasks.
struct TaskCounts {
  std::int64_t jobs = 0;     // that have tasks and started
  std::int64_t on_cpu = 0;   // tasks that were finished there
  std::int64_t local = 0;    // on an accelerator of the node where they lay
  std::int64_t remote = 0;   // of another node
  std::int64_t redone = 0;   // begun, and not finished: a job was stopped, a node went, or they were at their limit
  std::int64_t bytes = 0;    // moved between nodes, there and back
  std::int64_t bound = 0;    // nodes or slots, to an accelerator node
  std::int64_t rebound = 0;  // how often one of them, to another

  void add(const TaskCounts& o) {
    jobs += o.jobs;
    on_cpu += o.on_cpu;
    local += o.local;
    remote += o.remote;
    redone += o.redone;
    bytes += o.bytes;
    bound += o.bound;
    rebound += o.rebound;
  }
};

// What a desk goes on from after a restart.
struct TaskDeskStart {
  AcceleratorBindings kept = {};
  std::uint32_t epoch = 0;  // of its controller; higher than that of each desk before
};

// Hears of jobs whose last task is finished, from within an answer of the executor.
class TaskDeskListener {
 public:
  virtual ~TaskDeskListener() = default;
  virtual void tasks_done(JobId job) = 0;
};

// What the desk has to say to the intake.
using TaskFact = std::variant<TasksAsked, Bound, Unbound, Serving>;

// A job with tasks computes them on the CPUs of its nodes, one at a time on each, and on the accelerators that its
// nodes may use. Knows no time: jobs come and go by calls, and the executor says when tasks are through and what has
// room. It never blocks and takes no fact in itself: what it has to say waits in take_facts(), since a job may be
// started or stopped in the middle of a decision.
//
// A task that a CPU has not finished at the job's limit for a task is given up, and done again on another of the job's
// nodes in its rack, if there is one: before those that are new, and for as long as it takes.
//
// What it tells is not each task, of which there may be a million, and which under most rules go from a node to its
// accelerators without the service: it is that a job has tasks, and each binding of a node, or of a job's node, to a
// node with accelerators. Under rules that bind nothing beforehand a job's node counts as bound from its first task
// there on.
class TaskDesk final : public TaskAnswers {
 public:
  // The cards are those of the machine. All must outlive the desk.
  TaskDesk(Bind bind, const Machine& machine, Executor& executor, TaskDeskListener& listener)
      : TaskDesk(bind, machine, executor, listener, {}) {}
  // After a restart: jobs have the tasks that are left of them, and nodes stay bound as they are. What jobs
  // had bound is told to be over: those that run are to be started again, as the engine finds them.
  TaskDesk(Bind bind, const Machine& machine, Executor& executor, TaskDeskListener& listener,
           const TaskDeskStart& from);

  // A job wants these tasks computed wherever it will run. `on_cpus`: how long it runs without accelerators, by which
  // it is reckoned what a task takes on a CPU where the spec does not say that.
  void ask(JobId job, const TaskSpec& spec, Duration on_cpus);
  bool has(JobId job) const { return jobs_.contains(job); }
  const TaskSpec& spec(JobId job) const { return jobs_.at(job).spec; }
  // It has these nodes, each once, and computes once the executor says that this run of it is ready.
  std::uint32_t start(JobId job, const Placement& where);
  // It leaves its nodes; what is finished of its tasks is kept or is not.
  void stop(JobId job, bool kept);
  void forget(JobId job);  // it will not come back

  bool present(NodeId node) const { return binding_.present(node); }
  std::uint64_t slot_bindings() const { return binding_.slot_bindings(); }
  TaskCounts counts() const;
  std::int64_t answers_in_vain() const { return answers_in_vain_; }

  // What was not told yet, in order.
  bool has_facts() const { return !facts_.empty() || binding_.bindings_changed() || binding_.serving_changed(); }
  std::vector<TaskFact> take_facts();

  void done(const TaskKey& key) override;
  void over_limit(const TaskKey& key) override;
  void lost(const TaskKey& key) override;
  void room(ContainerId container) override {
    if (container.value < binding_.containers()) asking_.insert(container);
  }
  void came(NodeId node) override;
  void went(NodeId node) override;
  void ready(JobId job, std::uint32_t run) override;
  void settled(std::uint64_t slot_bindings) override;
  void hand_out() override;

 private:
  struct GivenUp {  // at its limit, and not begun again
    JobBinding::Task task;
    NodeId on;
  };
  struct Job {
    TaskSpec spec;  // what a task takes on a CPU is known from the first start on
    Duration on_cpus{0};
    std::uint32_t tasks = 0;                   // not finished when it was last started or stopped
    std::uint32_t run = 0;                     // which start; 0: not running
    std::uint32_t told = 0;                    // so many are not finished, as was told last
    bool started = false;                      // at least once
    std::uint32_t bound = 0;                   // so many of its slots are, or of its nodes as in:
    std::set<std::pair<NodeId, NodeId>> uses;  // its nodes, and those with accelerators that had tasks from there,
                                               // where nothing is bound beforehand
    std::vector<std::uint32_t> begun;          // places of its tasks that are begun, and not finished
    std::vector<NodeId> nodes;                 // of this run
    std::set<NodeId> busy_cpus;                // of them
    std::vector<GivenUp> given_up;
  };
  struct Flight {  // a task that the executor has; by place
    JobBinding::Task task;
    ContainerId container;  // invalid: on the CPU of `on`
    NodeId on;
    std::uint32_t attempt = 0;
    std::uint32_t of_job = 0;  // its place in Job::begun
    enum class State : std::uint8_t { none, wanted, cancelled } state = State::none;
  };

  void note_changes();
  void tell_left(JobId id, Job& job);
  void use(JobId id, Job& job, NodeId home, NodeId accelerators);
  std::optional<Flight> land(const TaskKey& key);
  void lose(const Flight& flight);
  void submit(Job& job, const JobBinding::Task& task, ContainerId container, NodeId on, Duration limit);
  void leave_nodes(JobId id, Job& job);
  void complete(JobId id);
  void count(const Flight& flight);
  std::optional<JobBinding::Task> take_again(Job& job, NodeId node);
  void ask_all(RackId rack);
  void offer_cpu(JobId id, NodeId node);
  bool feed(ContainerId id);

  const Machine& machine_;
  Executor& executor_;
  TaskDeskListener& listener_;
  std::uint32_t epoch_;
  JobBinding binding_;
  std::map<JobId, Job> jobs_;
  std::set<JobId> computing_;  // their start-up is over
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> unused_places_;
  std::set<std::pair<JobId, NodeId>> asking_cpus_;
  std::set<ContainerId> asking_;
  std::vector<TaskFact> facts_;
  std::uint32_t runs_ = 0;
  TaskCounts counts_;
  std::int64_t answers_in_vain_ = 0;
};

}  // namespace rota
