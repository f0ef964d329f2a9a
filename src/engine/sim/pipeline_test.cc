#include "engine/sim/pipeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace rota::sim {
namespace {

StageTimes stages(std::int64_t read, std::int64_t compute, std::int64_t write) {
  return {Duration{read}, Duration{compute}, Duration{write}};
}

Duration makespan(const PipelineShape& shape, const std::vector<StageTimes>& chunks) {
  Pipeline pipeline(shape);
  Duration end{0};
  for (const StageTimes& times : chunks) end = pipeline.admit(kEpoch, times).write_end - kEpoch;
  return end;
}

// Three threads and two blocking queues, a millisecond at a time.
class Threads {
 public:
  Threads(const PipelineShape& shape, const std::vector<StageTimes>& chunks)
      : slots_{shape.read_slots, shape.write_slots}, chunks_(chunks) {}

  Duration run() {
    std::int64_t now = 0;
    for (settle(); finished_ < chunks_.size(); ++now, settle()) {
      for (Thread& t : threads_) t.remaining -= t.chunk && t.remaining > 0 ? 1 : 0;
    }
    return Duration{now};
  }

 private:
  struct Thread {
    std::optional<std::size_t> chunk;
    std::int64_t remaining = 0;
  };

  std::int64_t time_of(std::size_t thread, std::size_t chunk) const {
    const StageTimes& t = chunks_[chunk];
    return (thread == 0 ? t.read : thread == 1 ? t.compute : t.write).count();
  }
  void give(std::size_t thread, std::size_t chunk) { threads_[thread] = {chunk, time_of(thread, chunk)}; }

  // Until no thread can hand over or take anything.
  void settle() {
    for (bool more = true; more;)
      more = write() || begin_next(2) || hand_over(1) || begin_next(1) || hand_over(0) || read();
  }
  bool write() {
    Thread& t = threads_[2];
    if (!t.chunk || t.remaining > 0) return false;
    t.chunk.reset();
    ++finished_;
    return true;
  }
  bool begin_next(std::size_t thread) {
    std::vector<std::size_t>& queue = queues_[thread - 1];
    if (threads_[thread].chunk || queue.empty()) return false;
    give(thread, queue.front());
    queue.erase(queue.begin());
    return true;
  }
  bool hand_over(std::size_t thread) {
    Thread& t = threads_[thread];
    if (!t.chunk || t.remaining > 0) return false;
    std::vector<std::size_t>& queue = queues_[thread];
    if (queue.size() < slots_[thread]) {
      queue.push_back(*t.chunk);
    } else if (queue.empty() && !threads_[thread + 1].chunk) {
      give(thread + 1, *t.chunk);
    } else {
      return false;
    }
    t.chunk.reset();
    return true;
  }
  bool read() {
    if (threads_[0].chunk || next_ == chunks_.size()) return false;
    give(0, next_++);
    return true;
  }

  std::array<std::size_t, 2> slots_;
  const std::vector<StageTimes>& chunks_;
  std::array<Thread, 3> threads_;
  std::array<std::vector<std::size_t>, 2> queues_;
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
};

TEST(Pipeline, equal_chunks_take_all_stages_once_and_the_slowest_for_each_further_chunk) {
  EXPECT_EQ(makespan({}, {stages(3, 5, 2)}), Duration{10});
  EXPECT_EQ(makespan({}, std::vector(4, stages(3, 5, 2))), Duration{10 + 3 * 5});
}

TEST(Pipeline, without_overlap_every_chunk_takes_all_stages) {
  EXPECT_EQ(makespan({.overlap = false}, std::vector(4, stages(3, 5, 2))), Duration{40});
}

TEST(Pipeline, a_reader_before_a_full_queue_waits_with_its_chunk) {
  Pipeline pipeline({.read_slots = 1, .write_slots = 1});
  pipeline.admit(kEpoch, stages(1, 10, 1));  // computed from 1 to 11
  pipeline.admit(kEpoch, stages(1, 10, 1));  // read until 2, in the queue
  EXPECT_EQ(pipeline.reader_free(), Instant{Duration{2}});
  pipeline.admit(kEpoch, stages(1, 10, 1));  // read until 3, handed over at 11
  EXPECT_EQ(pipeline.reader_free(), Instant{Duration{11}});
}

TEST(Pipeline, more_slots_even_out_chunks_of_different_kinds) {
  const std::vector<StageTimes> chunks{stages(1, 9, 1), stages(1, 9, 1), stages(9, 1, 1), stages(9, 1, 1)};
  EXPECT_EQ(makespan({.read_slots = 0, .write_slots = 0}, chunks), Duration{30});
  EXPECT_EQ(makespan({.read_slots = 4, .write_slots = 4}, chunks), Duration{22});
}

RC_GTEST_PROP(PipelineLaws, TheClosedFormHoldsForEqualChunksWhateverTheSlots, ()) {
  const std::int64_t a = *rc::gen::inRange(0, 50);
  const std::int64_t b = *rc::gen::inRange(0, 50);
  const std::int64_t c = *rc::gen::inRange(0, 50);
  const std::size_t n = *rc::gen::inRange<std::size_t>(1, 40);
  const PipelineShape shape{*rc::gen::inRange<std::size_t>(0, 5), *rc::gen::inRange<std::size_t>(0, 5), true};
  const std::int64_t others = static_cast<std::int64_t>(n) - 1;
  RC_ASSERT(makespan(shape, std::vector(n, stages(a, b, c))) == Duration{a + b + c + others * std::max({a, b, c})});
}

RC_GTEST_PROP(PipelineLaws, PassesAsThreeThreadsWithBlockingQueuesWould, ()) {
  const PipelineShape shape{*rc::gen::inRange<std::size_t>(0, 4), *rc::gen::inRange<std::size_t>(0, 4), true};
  std::vector<StageTimes> chunks;
  for (int i = *rc::gen::inRange(1, 15); i > 0; --i) {
    chunks.push_back(stages(*rc::gen::inRange(0, 12), *rc::gen::inRange(0, 12), *rc::gen::inRange(0, 12)));
  }
  RC_ASSERT(makespan(shape, chunks) == Threads(shape, chunks).run());
}

}  // namespace
}  // namespace rota::sim
