#include "engine/sim/pipeline.h"

#include <algorithm>

namespace rota::sim {
namespace {

// Notes when the chunk left the queue, and says when the stage before has handed over its chunk: when that chunk is
// ready and the one that was `slots` before it has left the queue.
Instant handed_over(std::deque<Instant>& departures, Instant departure, std::size_t slots, Instant ready) {
  departures.push_back(departure);
  if (departures.size() > slots + 1) departures.pop_front();
  return departures.size() == slots + 1 ? std::max(ready, departures.front()) : ready;
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
