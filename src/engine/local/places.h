// Which of this machine's cores and accelerators a job gets: the nodes of the cluster that it plays get consecutive
// ones, each its own while they last, and so do the jobs on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/local/processor_units.h"
#include "model/machine.h"
#include "model/node_space.h"

namespace rota::local {

struct Place {
  std::vector<std::uint32_t> cores;    // as the system numbers them; empty: it is not pinned
  std::vector<std::uint32_t> devices;  // accelerators, as their drivers number them
};

class Places {
 public:
  // Looks at this machine. Jobs are pinned if that is wanted, and if there are processors enough.
  Places(const Machine& machine, bool pins);
  // Takes these processors instead of looking at this machine.
  Places(const Machine& machine, bool pins, ProcessorUnits units);

  // Takes so much of each node of the place, or of the whole machine where processors are counted; accelerators to be
  // avoided only where no others are free.
  Place occupy(const Placement& where, std::uint32_t processors, const std::vector<std::uint32_t>& avoided = {});
  bool are_free(const std::vector<std::uint32_t>& devices) const;
  // What was handed out before: by an earlier life of the service.
  void occupy(const Place& place) { mark(place, true); }
  void give(const Place& place) { mark(place, false); }

  bool pins() const { return !units_.empty(); }
  const std::string& warning() const { return warning_; }  // empty: none

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  void mark(const Place& place, bool taken);
  std::vector<std::uint32_t> take_devices(const Range& of_node, std::uint32_t count,
                                          const std::vector<std::uint32_t>& avoided);

  std::vector<std::vector<std::uint32_t>> units_;
  std::vector<bool> unit_taken_;
  std::vector<bool> device_taken_;
  std::vector<Range> node_units_;  // by node; one where processors are counted
  std::vector<Range> node_devices_;
  std::string warning_;
};

}  // namespace rota::local
