// The tasks of simulated jobs: the desk that binds them to accelerators (control/task_desk.h) with simulated ones below
// it (engine/sim/sim_executor.h), for an engine that tells which job runs where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/task_desk.h"
#include "engine/sim/sim_executor.h"

namespace rota::sim {

// What became of tasks and accelerators.
struct TaskUse : TaskCounts {
  std::int64_t accelerators = 0;  // of the machine
  Duration computing{0};          // of all accelerators together
  Duration length{0};             // from the first arrival until the last job was gone
  std::int64_t checks = 0;        // of TaskCheck

  // Those of another site, over the same time.
  void add(const TaskUse& o) {
    TaskCounts::add(o);
    accelerators += o.accelerators;
    computing += o.computing;
    length = std::max(length, o.length);
    checks += o.checks;
  }
};

class TaskListener : public ComputingListener {
 public:
  virtual void tasks_done(JobId job) = 0;  // at the instant at which the last task of a job is finished
  virtual void task_facts() = 0;           // take_facts() has some
};

// A job whose node goes to sleep does not exist; an accelerator that is sent to sleep while it computes for others
// loses what it has begun, and others do it again.
class JobTasks final : public Alarm, private TaskDeskListener {
 public:
  JobTasks(Bind bind, const Machine& machine, const TaskTable& table, const ContainerModel& containers, Loop& loop);
  void open(TaskListener& listener);  // before anything arrives; must outlive this

  // A job has come that would run for so long on CPUs, if the table says that it has tasks; `run_time` is used where
  // the table does not say how long a task takes there.
  void arrive(JobId id, std::int64_t number, Duration run_time);
  bool has(JobId id) const { return desk_.has(id); }
  // On these nodes, after so long: then come its start-up and those of its tasks that are not finished.
  void start(JobId id, const Placement& where, Duration pause);
  // It leaves its nodes; what is finished of its tasks is kept or is not.
  void stop(JobId id, bool kept);
  void forget(JobId id);  // it will not come back, if it has any

  void leave(NodeId node);
  void join(NodeId node);
  bool present(NodeId node) const { return desk_.present(node); }

  // Everything that happens until now.
  void advance(Instant now);
  void ring() override { advance(loop_.now()); }
  bool idle() const { return executor_.next() == kNever; }
  std::vector<TaskFact> take_facts() { return desk_.take_facts(); }

  const std::optional<std::string>& breach() const { return executor_.check().breach(); }
  TaskUse use(Instant now) const;

 private:
  void tasks_done(JobId job) override;
  void settle();

  Bind bind_;
  const TaskTable& table_;
  Duration binding_;
  Loop& loop_;
  SimExecutor executor_;
  TaskDesk desk_;
  TaskListener* listener_ = nullptr;
  std::optional<Instant> opened_;
  std::uint64_t awaited_bindings_ = 0;
};

}  // namespace rota::sim
