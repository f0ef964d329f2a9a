// What stands at the top of a job log, before its jobs, in whichever format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/node_lists.h"

namespace rota::log {

using NumberedNames = std::map<std::uint32_t, std::string>;

inline constexpr std::string_view kMadeBy = "made by: ";                 // begins the note that names the command,
inline constexpr std::string_view kSitePolicy = "policy of the site: ";  // the one that names what the site has,
inline constexpr std::string_view kLeftOut = "left out or taken as: ";   // each of what the log could not take over,
inline constexpr std::string_view kTurnaround = "turnaround in milliseconds: ";  // and Workload::turnaround
inline constexpr std::string_view kWholeSeconds = "times were cut to whole seconds";

inline constexpr std::string_view kFromSacct =
    "converted from sacct; MaxProcs is the most processors that were in use at once";

// Values of 0 and empty texts are not known, and left out where a log is written.
struct LogTop {
  std::string workload;  // its name for titles; JSON lines only
  std::string computer;
  std::vector<std::string> notes;  // one line each
  std::int64_t rows = 0;           // how many jobs come; SWF only
  std::int64_t unix_start = 0;
  std::int64_t processors = 0;
  std::int64_t nodes = 0;
  std::int64_t queue_floor = -1;  // as in Workload; not known when negative
  NumberedNames queues, partitions, users, groups;
  std::shared_ptr<NodeLists> node_lists = {};  // of SwfRow::ran_on, shared by copies; nullptr: no job tells its nodes
};

}  // namespace rota::log
