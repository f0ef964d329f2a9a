// A process of its own that reads a piece of a file as a job's user would: a file may hang, and a process that reads it
// hangs along, often so that the system cannot even end it. No other process waits for this one.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

inline constexpr std::int64_t kMostRead = 1 << 20;  // bytes in one piece

// What comes before the bytes, as one line.
struct PieceHead {
  int error = 0;          // errno; EINVAL: it is no plain file
  std::int64_t size = 0;  // of the whole file
};

template <class Visit, class Record>
  requires std::is_same_v<std::remove_const_t<Record>, PieceHead>
void fields(Visit&& visit, Record& head) {
  visit("error", head.error);
  visit("size", head.size);
}

// The whole of such a process, after the fork: sends what `order` asks for, and gives its exit code. It ends with
// `parent`.
int give_piece(const Order& order, const process::Descriptor& connection, pid_t parent);

}  // namespace rota::local
