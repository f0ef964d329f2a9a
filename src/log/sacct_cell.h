// Single values as Slurm's sacct prints them (22.05 and its neighbours). Every parse_* fails with the end of a
// sentence, such as `which is not a time`; the reader puts line, column and value before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace rota::log {

// "2024-03-31T01:59:59" as seconds since 1970 on the clock that wrote it, or such seconds themselves
// (SLURM_TIME_FORMAT=%s); nothing for "Unknown", "None", "N/A" and "". Years 1970 to 2999.
Result<std::optional<std::int64_t>> parse_sacct_time(std::string_view cell);

// "1-02:03:04"; nothing for "UNLIMITED", "Partition_Limit", "INVALID" and "".
Result<std::optional<Duration>> parse_sacct_duration(std::string_view cell);

// A whole number, -1 for "" and "Unknown"; TimelimitRaw, ElapsedRaw, counts of processors and nodes.
Result<std::int64_t> parse_sacct_count(std::string_view cell);

// The value of `name` in "billing=4,cpu=4,mem=16G,node=1"; -1: it is not there.
Result<std::int64_t> parse_tres(std::string_view cell, std::string_view name);

// What a job has asked for: "16G" in all (since Slurm 21.08), "4000Mn" on each node, "2Gc" for each processor. Where
// nothing was asked sacct 22.05 prints "16?" or "18446744073709551616.00M": not known, as is all beyond 2^60 bytes.
struct SacctMemory {
  enum class Per : std::uint8_t { job, node, processor };
  std::int64_t bytes = 0;  // 0: nothing asked, or not known; at most 2^60
  Per per = Per::job;
};
Result<SacctMemory> parse_sacct_memory(std::string_view cell);

// "123" and "123_4" and "123+0" and "123.batch": the jobs that have a number of their own are the plain ones only.
struct SacctId {
  std::int64_t number = -1;  // -1: a member of an array or a heterogeneous job, whose number is another column's
  bool step = false;         // "123.batch": a part of a job
};
Result<SacctId> parse_sacct_id(std::string_view cell);

enum class SacctState : std::uint8_t { unknown, pending, running, completed, cancelled, failed };
SacctState parse_sacct_state(std::string_view cell);  // "CANCELLED by 1000" and "TIMEOUT" among them

}  // namespace rota::log
