// Takes back what was written to Slurm under mandates that no longer stand: without the service, and while it runs. It
// may be done again at any time, and goes on where it was cut off.
#pragma once

#include <functional>
#include <string>

#include "engine/slurm/mandate_folder.h"

namespace rota::slurm {

// Runs a command of /bin/sh to its end: all that it printed, and how it ended.
struct Ran {
  int code = -1;  // -1: it was killed, or could not be run
  std::string output = {};
};
using RunCommand = std::function<Ran(const std::string& command)>;
RunCommand run_here();  // waits for it

struct TakeBack {
  bool all = false;          // every mandate ends; else those that are past their date, or whose service is silent
  Duration silent{600'000};  // so long without a heartbeat
  std::uint32_t by = 0;      // the user who asks
};
struct TakenBack {
  std::int64_t mandates = 0;  // that ended
  std::int64_t undone = 0;    // jobs whose factor is what it was
  std::int64_t others = 0;    // which somebody has changed since: left alone
  std::int64_t gone = 0;      // that Slurm knows no longer
  std::int64_t left = 0;      // of which it could not be done now
  std::string trouble = {};   // why not, as a sentence
};
// First no mandate that has ended lets anything be written any more; then factors are taken back. What was taken back
// before, and what Slurm did not know, is looked at once more a minute later: a slurmctld that is killed before it has
// saved that has the job again, with the factor. Fails with a sentence where nothing could be looked at.
Result<TakenBack> take_back(const MandateFolder& folder, const TakeBack& wanted, const RunCommand& run);

// So long after it was taken back slurmctld has saved it: it saves what has changed within seconds.
inline constexpr Duration kSavedWithin{60'000};

// What Slurm's answer to a failed update says beside that jobs are gone or have ended, and that others were updated:
// tasks of an array stand there one by one. Empty: no more than that.
std::string complaint_in(std::string_view answer);

}  // namespace rota::slurm
