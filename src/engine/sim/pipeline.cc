#include "engine/sim/pipeline.h"

#include <algorithm>

namespace rota::sim {
namespace {

// Notes when the chunk left the queue, and says when the stage before has handed over its chunk: when that chunk is
// ready and the one that was `slots` before it has left the queue.
Instant handed_over(std::deque<Instant>& left_queue, Instant left, std::size_t slots, Instant ready) {
  left_queue.push_back(left);
  if (left_queue.size() > slots + 1) left_queue.pop_front();
  return left_queue.size() == slots + 1 ? std::max(ready, left_queue.front()) : ready;
}

}  // namespace

Passage Pipeline::admit(Instant now, const StageTimes& times) {
  Passage p;
  p.read_begin = std::max(now, reader_free_);
  p.read_end = p.read_begin + times.read;
  p.compute_begin = std::max(p.read_end, computer_free_);
  p.compute_end = p.compute_begin + times.compute;
  p.write_begin = std::max(p.compute_end, writer_free_);
  p.write_end = p.write_begin + times.write;
  if (!shape_.overlap) {
    reader_free_ = p.write_end;
    return p;
  }
  writer_free_ = p.write_end;
  reader_free_ = handed_over(compute_begins_, p.compute_begin, shape_.read_slots, p.read_end);
  computer_free_ = handed_over(write_begins_, p.write_begin, shape_.write_slots, p.compute_end);
  return p;
}

}  // namespace rota::sim
