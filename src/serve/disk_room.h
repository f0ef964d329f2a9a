// What is left on the disk that holds the state is kept for what has yet to be written down of the jobs that are here:
// a service that cannot write ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "base/result.h"

namespace rota::serve {

enum class DiskUse : std::uint8_t { submission, start, change };

// Whether there is room for so many bytes more. Starts, and changes by users, may use half of what is kept; submissions
// of operators none of it; those of users leave as much again. Fails with a sentence. Cost: a system call. Any thread.
Result<void> disk_room(const std::string& folder, std::uint64_t bytes, DiskUse use, bool operates);

// What is just being written by others, of which the disk may not tell yet. One thread.
class LargeWrites {
 public:
  using Clock = std::chrono::steady_clock;
  void begin(std::uint64_t bytes, Clock::time_point now) { begun_.push_back({now, bytes}); }
  // Bytes of all that began within ten seconds; some may be there by now.
  std::uint64_t under_way(Clock::time_point now);

 private:
  struct Write {
    Clock::time_point at;
    std::uint64_t bytes;
  };
  std::deque<Write> begun_;
};

}  // namespace rota::serve
