// An accelerator container as a simulated resource: three threads (read, compute, write) with a blocking queue behind
// the first and behind the second, as in Li, Zhu, Liu and Qian (2016); or one thread that does all three in turn.
#pragma once

#include <cstddef>
#include <deque>

#include "base/time.h"

namespace rota::sim {

// What each stage takes for one chunk of data; >= 0.
struct StageTimes {
  Duration read{0};
  Duration compute{0};
  Duration write{0};
};

struct PipelineShape {
  std::size_t read_slots = 2;   // of the queue between reader and computing; 0: handed over directly
  std::size_t write_slots = 2;  // of the queue between computing and writer
  bool overlap = true;          // false: no stage begins before the last one of the chunk before has ended
};

// When a chunk is in each stage.
struct Passage {
  Instant read_begin;
  Instant read_end;
  Instant compute_begin;
  Instant compute_end;
  Instant write_begin;
  Instant write_end;
};

// Chunks pass in the order of admission. A thread that finds the queue behind it full keeps its chunk until there is
// room, and takes no other meanwhile. So whatever comes later delays nothing, and a chunk's passage is known when it is
// admitted. n equal chunks with stages a, b, c take a + b + c + (n - 1) max(a, b, c), whatever the slots; without
// overlap n (a + b + c).
class Pipeline {
 public:
  explicit Pipeline(const PipelineShape& shape) : shape_(shape) {}

  // Read from `now` on, or from reader_free() on if that is later.
  Passage admit(Instant now, const StageTimes& times);

  // When the reader can begin with another chunk.
  Instant reader_free() const { return reader_free_; }

 private:
  PipelineShape shape_;
  Instant reader_free_ = kEpoch;
  Instant computer_free_ = kEpoch;  // has handed over its last chunk
  Instant writer_free_ = kEpoch;
  std::deque<Instant> compute_begins_;  // of the last read_slots + 1 chunks
  std::deque<Instant> write_begins_;    // of the last write_slots + 1 chunks
};

}  // namespace rota::sim
