// The process at a person's terminal that waits for a job (`rota run`): control/attach.h has what it and the engine
// send each other.
#pragma once

#include <cstdint>
#include <string>

namespace rota {

struct Attach {
  std::string socket = {};   // where that process listens: an abstract name that cannot be guessed; empty: none does
  std::uint32_t user = 0;    // whose process that must be
  bool terminal = false;     // the job gets a terminal of its own; else pipes
  bool error_apart = false;  // with a terminal: errors go through a pipe all the same
  bool keep = false;         // the job goes on if that process ends
  std::uint16_t rows = 0;    // of the terminal
  std::uint16_t columns = 0;

  bool operator==(const Attach&) const = default;
};

}  // namespace rota
