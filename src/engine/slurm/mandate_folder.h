// What must outlive the service about the modes of a watched cluster: which there are, all that was written by them,
// and a sign of life. A folder of plain files, which `rota undo` and `rota actions` read without the service:
//
//   modes       a line for each mandate, replaced whole
//   log         a line for each write before it goes out, and for what became of it; only ever added to
//   heartbeat   touched by the service as long as it lives
//   lock        held (flock) by each command that writes to Slurm while it runs, and by what changes `modes`
//
// A command that writes takes the lock, and then looks for its grant in `modes`. So nothing can be written any more by
// a mandate that was taken out under the lock, whatever becomes of the process that began the command.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/mandates.h"
#include "process/descriptor.h"

namespace rota::slurm {

enum class LogEvent : std::uint8_t {
  write,   // about to be written
  failed,  // Slurm refused it, or did not answer
  undone,  // it is as it was before the first write
  gone,    // Slurm lists the job no longer, minutes after its end
  mode,    // a mode was set; `why` says what
  settled  // it was looked at again after it was undone: slurmctld has saved that
};
inline constexpr std::array<std::string_view, 6> kLogEventNames{"write", "failed", "undone", "gone", "mode", "settled"};
constexpr const auto& names_of(LogEvent) { return kLogEventNames; }

struct LogLine {
  std::int64_t at = 0;  // Unix milliseconds
  LogEvent event = LogEvent::write;
  std::string mechanism = {};
  std::string partition = {};
  std::string grant = {};
  std::int64_t job = 0;  // 0: of none
  std::int64_t from = 0, to = 0;
  std::uint32_t by = 0;  // the user whose mandate it is, or who undid it
  std::string why = {};
  bool whole = true;  // stands at the end of the line

  bool operator==(const LogLine&) const = default;
};

// What was written of a job.
struct JobWrites {
  std::string mechanism = {}, partition = {}, grant = {};
  std::int64_t from = 0;           // before the first of them
  std::set<std::int64_t> to = {};  // any of which may be there now
  std::int64_t undone = 0;         // Unix milliseconds; 0: not yet
};
using WritesByJob = std::map<std::int64_t, JobWrites>;

// What the log says, read line by line.
struct Written {
  WritesByJob standing;
  // Taken back a short while ago: a slurmctld that is killed before it has saved that has the factor again.
  WritesByJob undone;

  void add(const LogLine& line);
};

class MandateFolder {
 public:
  static constexpr const char* kName = "mandates";  // in the state folder of a service

  explicit MandateFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  Result<void> make() const;  // if it is not there

  // The lock, held until the descriptor is closed; waits so long at most. Fails with a sentence.
  Result<process::Descriptor> lock(Duration patience) const;

  // None where there is no such file.
  Result<std::vector<Mandate>> modes() const;
  Result<void> put_modes(const std::vector<Mandate>& modes) const;  // under the lock; durable on return

  // Under the lock; durable on return.
  Result<void> add(std::span<const LogLine> lines) const;
  // Lines from this byte on, and where the next one will begin. A line that was cut off by a crash is passed over.
  struct Lines {
    std::vector<LogLine> lines;
    std::int64_t end = 0;
  };
  Result<Lines> read_log(std::int64_t from = 0) const;

  void beat() const;
  std::optional<Duration> since_heartbeat() const;  // nothing: there never was one

 private:
  std::string path_;
};

// A command for /bin/sh that runs another one under the lock, where the grant stands; else it ends with kNoGrant.
inline constexpr int kNoGrant = 75;
std::string under_grant(const MandateFolder& folder, const std::string& grant, const std::string& command);

// As a word for /bin/sh.
std::string shell_word(std::string_view text);

}  // namespace rota::slurm
