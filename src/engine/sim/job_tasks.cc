#include "engine/sim/job_tasks.h"

namespace rota::sim {

JobTasks::JobTasks(Bind bind, const Machine& machine, const TaskTable& table, const ContainerModel& containers,
                   Loop& loop)
    : bind_(bind),
      table_(table),
      binding_(containers.binding),
      loop_(loop),
      executor_(machine, containers, loop),
      desk_(bind, machine, executor_, *this) {}

void JobTasks::open(TaskListener& listener) {
  listener_ = &listener;
  executor_.open(desk_, listener);
}

void JobTasks::arrive(JobId id, std::int64_t number, Duration run_time) {
  if (!opened_) opened_ = loop_.now();
  const TaskSpec* spec = table_.of(number);
  if (!spec || (bind_ == Bind::none && spec->cpu == Duration{0})) return;  // it runs as long as its log says
  desk_.ask(id, *spec, run_time);
  executor_.check().came(id, spec->count);
}

void JobTasks::start(JobId id, const Placement& where, Duration pause) {
  const std::uint32_t run = desk_.start(id, where);
  executor_.start_up(id, run, pause + desk_.spec(id).start_up);
  settle();
}

void JobTasks::stop(JobId id, bool kept) {
  desk_.stop(id, kept);
  executor_.check().stopped(id, !kept);
  settle();
}

void JobTasks::forget(JobId id) {
  if (!has(id)) return;
  desk_.forget(id);
  executor_.check().forgot(id);
  settle();
}

void JobTasks::tasks_done(JobId id) {
  executor_.check().ended(id);
  listener_->tasks_done(id);
}

void JobTasks::leave(NodeId node) {
  executor_.leave(node);
  settle();
}

void JobTasks::join(NodeId node) {
  executor_.join(node);
  settle();
}

void JobTasks::advance(Instant now) {
  executor_.advance(now);
  settle();
}

// Slots that have been bound meanwhile can be used after a moment, and in the order in which they were bound.
void JobTasks::settle() {
  if (desk_.has_facts()) listener_->task_facts();
  if (desk_.slot_bindings() != awaited_bindings_) {
    awaited_bindings_ = desk_.slot_bindings();
    executor_.bind(awaited_bindings_, binding_);
  }
  loop_.set(*this, idle() ? kNever : std::max(executor_.next(), loop_.now()));
}

TaskUse JobTasks::use(Instant now) const {
  TaskUse use;
  static_cast<TaskCounts&>(use) = desk_.counts();
  use.accelerators = static_cast<std::int64_t>(executor_.cards().size());
  use.computing = executor_.computing();
  use.length = opened_ ? now - *opened_ : Duration{0};
  use.checks = executor_.check().checks();
  return use;
}

}  // namespace rota::sim
