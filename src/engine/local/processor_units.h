// This machine's processors as jobs are pinned to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota::local {

struct ProcessorUnits {
  std::vector<std::vector<std::uint32_t>> units;  // of each that can be handed out: the system's numbers of its threads
  std::string warning;                            // a sentence on what is not known of them; empty: all is
};

// In the order in which cores lie beside each other, as the library hwloc knows it; whole cores, each with all its
// threads, if there are as many as are wanted, else threads. The library is opened on demand. Without it: each
// processor on which this process may run, in the order of the system's numbers, and a warning that says so.
ProcessorUnits processor_units(std::int64_t wanted, const char* library = "libhwloc.so.15");

}  // namespace rota::local
