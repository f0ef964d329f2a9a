#include "accel/computer.h"

#include <algorithm>
#include <utility>

namespace rota::accel {
namespace {

// What run() asks whether it should go on.
struct Wish {
  const Task& task;
  const Pipeline& pipeline;
  SteadyTime limit;
  bool over = false;

  static int gone(void* context) {
    auto& wish = *static_cast<Wish*>(context);
    wish.over = wish.over || std::chrono::steady_clock::now() >= wish.limit;
    const bool unwanted = wish.task.cancelled || wish.task.session->broken() || wish.pipeline.stops;
    return wish.over || unwanted ? 1 : 0;
  }
};

}  // namespace

void Computer::run() {
  while (auto next = pipeline_.ready.pop()) {
    TaskPtr task = std::move(*next);
    if (pipeline_.place_wanted.exchange(false)) pipeline_.reader.ring();
    if (task->session->broken()) {
      ++pipeline_.counts.dropped;
      task->release();
      continue;
    }
    task->outcome = task->cancelled ? Refusal{ROTA_ACCEL_CANCELLED, "cancelled by its client"} : compute(*task);
    task->state = TaskState::answering;
    if (task->outcome.outcome != ROTA_ACCEL_DONE) task->release();
    if (!pipeline_.computed.push(std::move(task))) return;
    pipeline_.writer.ring();
  }
}

Refusal Computer::compute(Task& task) {
  const SteadyTime begin = std::chrono::steady_clock::now();
  const std::uint32_t limit = task.submit.limit_ms;
  Wish wish{task, pipeline_, limit == 0 ? SteadyTime::max() : begin + std::chrono::milliseconds(limit)};
  const auto buffer = task.buffer.bytes();
  std::byte* scratch = task.plan.scratch_bytes == 0 ? nullptr : pipeline_.memory.scratch(task.plan.scratch_bytes);
  // What a backend does not write must not be another task's.
  const auto behind = buffer.first(task.plan.buffer_bytes).subspan(task.submit.header.payload_bytes);
  std::ranges::fill(behind, std::byte{0});
  Refusal outcome =
      task.planner->device().run({task.submit.header, task.plan, buffer.data(), scratch, &Wish::gone, &wish});
  if (outcome.outcome == ROTA_ACCEL_CANCELLED && wish.over)
    outcome = {ROTA_ACCEL_TIME_LIMIT, "the task computed for longer than its limit"};
  pipeline_.counts.computed_us += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count());
  return outcome;
}

}  // namespace rota::accel
