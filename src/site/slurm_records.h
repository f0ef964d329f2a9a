// What Slurm's `scontrol show ...` prints, as records of keys and values: in the long form of several lines a record,
// with blank lines between them, and in the form of one line a record that `-o` asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota::site {

// One node, partition or licence.
struct SlurmRecord {
  std::vector<std::pair<std::string, std::string>> values;  // in the order in which they were printed

  // What stands for the key; "" also where that is Slurm's "(null)", "N/A", "NONE" or "n/a".
  std::string_view value(std::string_view key) const;
};

// `scontrol show config`, by key: "SchedulerType" is "sched/backfill". "(null)" is left as it is.
using SlurmConfig = std::map<std::string, std::string, std::less<>>;

// The records that begin with `first`, such as "NodeName". Where `text` has none, an error that names `shown` and says
// which command prints them; of licences there may be none. Words without '=' belong to the value before them, as in
// `OS=Linux 6.1 #1 SMP`.
Result<std::vector<SlurmRecord>> slurm_records(std::string_view text, std::string_view first, const std::string& shown);
Result<SlurmConfig> slurm_config(std::string_view text, const std::string& shown);

// "10 min", "300 sec", "2000 usec", "00:05:00", "7-00:00:00", "UNLIMITED", "INFINITE", "NONE" (nothing is told), and a
// bare number, which counts minutes in partitions and slurm.conf's times for jobs.
Result<std::optional<Duration>> parse_slurm_time(std::string_view text);

// "a:2(S:0-1),b:c:1" by commas that stand in no brackets or parentheses.
std::vector<std::string_view> split_slurm_list(std::string_view text);

}  // namespace rota::site
