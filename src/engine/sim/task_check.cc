#include "engine/sim/task_check.h"

namespace rota::sim {

void TaskCheck::expect(bool holds, const char* what) {
  ++checks_;
  if (!holds && !breach_) breach_ = what;
}

void TaskCheck::finished(JobId job) {
  Ledger& ledger = jobs_[job];
  --ledger.begun;
  ++ledger.finished;
  expect(ledger.begun >= 0, "a task was finished that was never begun");
  expect(ledger.finished <= ledger.tasks, "a task was done twice");
}

void TaskCheck::lost(JobId job) { expect(--jobs_[job].begun >= 0, "a task was lost that was never begun"); }

void TaskCheck::stopped(JobId job, bool all) {
  Ledger& ledger = jobs_[job];
  ledger.begun = 0;
  if (all) ledger.finished = 0;
}

void TaskCheck::ended(JobId job) {
  const Ledger& ledger = jobs_[job];
  expect(ledger.begun == 0 && ledger.finished == ledger.tasks, "a job ended before all its tasks were done");
}

void TaskCheck::admitted(ContainerId id, Instant now, const Passage& passage) {
  Container& container = containers_[id.value];
  expect(passage.compute_begin >= container.computed, "an accelerator computed two tasks at a time");
  expect(passage.read_begin >= now && passage.compute_begin >= passage.read_end &&
             passage.write_begin >= passage.compute_end,
         "a task was computed before it was read, or written before it was computed");
  container.computed = passage.compute_end;
  std::deque<Instant>& inside = container.writes_end;
  while (!inside.empty() && inside.front() <= passage.read_begin) inside.pop_front();
  inside.push_back(passage.write_end);
  expect(inside.size() <= most_inside_, "a container held more tasks than it has room for");
}

}  // namespace rota::sim
