// A log cut into blocks by when its jobs were submitted: weeks, or equal parts where it has too few of these.
#pragma once

#include <cstddef>
#include <string>

#include "log/workload.h"
#include "rehearse/rehearse.h"
#include "report/blocks.h"

namespace rota {

inline constexpr Duration kWeek = seconds(7 * 86'400);

struct LogBlocks {
  Instant begin = kEpoch;
  Duration length = kWeek;
  std::size_t count = 0;

  bool weeks() const { return length == kWeek; }
  Instant end(std::size_t block) const { return begin + (static_cast<std::int64_t>(block) + 1) * length; }
  // The last block takes what is left behind it, too.
  std::size_t of(Instant submitted) const;
};

// Blocks of the jobs that are counted: at least `fewest` blocks, unless all of them were submitted at one instant: then
// one.
LogBlocks blocks_of(const log::Workload& workload, std::size_t fewest);
std::string told(const LogBlocks& blocks, std::size_t count);  // "26 weeks", "8 parts of 1 h 30 min"

// Adds the jobs of a rehearsal up by block. The workload must outlive it.
class BlockCollector final : public Beside {
 public:
  BlockCollector(const log::Workload& workload, const LogBlocks& cut)
      : workload_(workload), cut_(cut), blocks_(cut.count) {}
  void job_gone(JobId id, const Job& job) override;
  std::vector<Instant> readings() const override;  // where each block begins; behind that of the last one it draws on
  void drew(std::size_t reading, const report::PowerUse& so_far) override;
  const report::Blocks& blocks() const { return blocks_; }
  const LogBlocks& cut() const { return cut_; }

 private:
  const log::Workload& workload_;
  LogBlocks cut_;
  report::Blocks blocks_;
  double kilowatt_hours_ = 0;  // until the latest reading
  double cost_ = 0;
};

}  // namespace rota
