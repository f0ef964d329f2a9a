// Single values as Slurm's sacct prints them (22.05 and its neighbours). Every parse_* fails with the end of a
// sentence, such as `which is not a time`; the reader puts line, column and value before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/licence_names.h"

namespace rota::log {

// "2024-03-31T01:59:59" as seconds since 1970 on the clock that wrote it; with an offset behind it ("Z", "+01:00",
// "+0100"), or such seconds themselves (SLURM_TIME_FORMAT=%s), an instant; nothing for "Unknown", "None", "N/A" and "",
// and for 0, as a database has it where there is no time. Years 1970 to 2999.
Result<std::optional<std::int64_t>> parse_sacct_time(std::string_view cell);

// Whether it is one of the first kind, of a clock on the wall.
bool is_local_time(std::string_view cell);

// "1-02:03:04"; nothing for "UNLIMITED", "Partition_Limit", "INVALID" and "".
Result<std::optional<Duration>> parse_sacct_duration(std::string_view cell);

// A whole number, -1 for "" and "Unknown"; TimelimitRaw, ElapsedRaw, counts of processors and nodes. "1.50K" is 1536,
// as sacct has it of nodes.
Result<std::int64_t> parse_sacct_count(std::string_view cell);

// What a job asked for, or got, in all: "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,license/matlab=1,mem=16G,node=1".
struct SacctTres {
  std::int64_t processors = -1;  // -1: not told, as the other numbers
  std::int64_t nodes = -1;
  std::int64_t accelerators = -1;
  std::int64_t memory = 0;            // bytes; 0: not told
  std::string_view accelerator_type;  // empty: none is named
  std::vector<NamedLicences> licences;
  bool more = false;    // accelerators of more than one kind,
  bool others = false;  // or something else that nodes may lack, such as gres/fpga
};
// Valid as long as the cell is.
Result<SacctTres> parse_sacct_tres(std::string_view cell);

// Accelerators on each node as Slurm told them before 20.11: "gpu:2" or "gpu:a100:2".
Result<SacctTres> parse_sacct_gres(std::string_view cell);

// What a job has asked for: "16G" in all (since Slurm 21.08), "4000Mn" on each node, "2Gc" for each processor. Where
// nothing was asked sacct 22.05 prints "16?" or "18446744073709551616.00M": not known, as is all beyond 2^60 bytes.
// Slurm's own number of megabytes with its flag, "2147487648" or "9223372036854779808M", is 4000 MB for each processor.
struct SacctMemory {
  enum class Per : std::uint8_t { job, node, processor };
  std::int64_t bytes = 0;  // 0: nothing asked, or not known; at most 2^60
  Per per = Per::job;
  bool impossible = false;  // more than that was told, and not as the sign that nothing was asked
};
Result<SacctMemory> parse_sacct_memory(std::string_view cell);

// "123" and "123_4" and "123+0" and "123.batch".
struct SacctId {
  static constexpr std::int64_t kWhole = -1;     // part of a plain job,
  static constexpr std::int64_t kTogether = -2;  // and of the tasks of an array that wait as one row
  static constexpr std::int64_t kComponents = std::int64_t{1}
                                              << 40U;  // from here on, components of a heterogeneous job
  std::int64_t number = -1;
  std::int64_t part = kWhole;
  bool step = false;  // "123.batch": a part of a job

  bool component() const { return part >= kComponents; }
  bool operator==(const SacctId&) const = default;
};
Result<SacctId> parse_sacct_id(std::string_view cell);

enum class SacctState : std::uint8_t {
  unknown,
  pending,
  running,
  completed,
  cancelled,
  failed,
  requeued,  // it was queued again, or could be: this was one dispatch of the job
  resizing,  // it went on with another size
  given_up,  // DEADLINE, REVOKED: as failed, and perhaps before it started, although Slurm tells a start
};
SacctState parse_sacct_state(std::string_view cell);  // "CANCELLED by 1000" and "TIMEOUT" among them

}  // namespace rota::log
