#include "engine/local/run_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;

bool RunLog::is_removed() const {
  struct stat file{};
  return ::fstat(file_.get(), &file) == 0 && file.st_nlink == 0;
}

int RunLog::add(const RunRecord& record) { return add_line(file_.get(), "\n" + in_words(record)); }

void RunLog::note(const RunRecord& record, const std::string& folder) {
  written_ = add(record) == 0;
  keep(record, folder);
}

// With its name, which may be no older than the job.
void RunLog::keep(const RunRecord& record, const std::string& folder) {
  kept_ = true;
  if (record.phase != RunPhase::suspended) return;
  const Descriptor names(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  kept_ = written_ && ::fdatasync(file_.get()) == 0 && ::fsync(names.get()) == 0;
}

bool RunLog::note_again(const RunRecord& record, const std::string& folder) {
  if (kept_) return false;
  if (written_) {
    keep(record, folder);
  } else {
    note(record, folder);
  }
  return kept_;
}

void RunLog::before_key_of(const RunRecord& record) {
  if (kept_) key_before_ = record.key;
}

// Silence would seem a loss of the command.
RunRecord RunLog::as_kept(const RunRecord& record) const {
  RunRecord told = record;
  if (kept_ || told.phase != RunPhase::suspended) return told;
  told.phase = RunPhase::runs;
  told.key = key_before_;
  return told;
}

}  // namespace rota::local
