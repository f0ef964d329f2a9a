// The options that say how to rehearse: shared by `rota simulate` and `rota verify`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "log/swf.h"
#include "rehearse/rehearse.h"

namespace rota::cli {

struct RehearseFlags {
  enum class Policies { one, several };

  std::string policy = "easy";  // several: a list with commas
  std::string cluster;          // file; empty: processors are counted
  std::string attributes;       // file; empty: none
  std::int64_t processors = 0;  // 0: as the workload's header says
  std::string estimates = "user";
  std::string ties = "batch";
  std::string container_stages = "pipelined";
  std::string container_copies = "others";
  bool clamp = false;
  bool skip_bad_rows = false;
  bool keep_cancelled = false;
  std::string time_zone;  // of local times in logs; empty: not told

  void declare(Command command, Policies policies);
  Result<log::SwfOptions> swf() const;
  // `of_workload`: the machine that it tells of itself, where no other is given; nullptr: none.
  Result<RehearseOptions> options(const log::Workload& workload, const Machine* of_workload = nullptr) const;
  Result<std::vector<Chain>> chains() const;  // several: all that sweeps stand for (policy/sweep.h)
  bool wants_recorded() const;                // the row of what really happened is among the policies
  // Whether the policies make sense on this machine (nullptr: processors are counted); what would have no effect, or
  // lacks what it needs, is refused with a sentence.
  Result<void> policies_suit(const Machine* machine) const;

 private:
  bool several_ = false;  // policies may be named
  Result<std::vector<Chain>> chains_of(std::string_view text) const;
  Result<void> check_ties(const Chain& chain) const;
  RehearseOptions with_switches(RehearseOptions options) const;
  Result<RehearseOptions> with_attributes(RehearseOptions options, const log::Workload& workload) const;
  Result<RehearseOptions> with_attributes(RehearseOptions options, log::Attributes of_jobs) const;
  Result<void> tasks_suit(const log::Attributes& of_jobs) const;
  Result<void> partitions_known(const log::Workload& workload, const Machine& machine) const;
  Result<void> factors_suit(const Machine* machine) const;
  Result<void> nodes_suit(const Machine& machine) const;
  Result<void> sites_suit(const Machine* machine) const;
  Result<void> reservations_suit(const Machine* machine) const;
  Result<void> accelerators_suit(const Machine* machine) const;  // nullptr: processors are counted
  Result<void> power_suits(const Machine* machine) const;        // likewise
};

}  // namespace rota::cli
