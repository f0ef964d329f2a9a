// A job that was suspended to give way, from the start that is its next turn on.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/words.h"
#include "engine/local/engine.h"
#include "process/descriptor.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;

void LocalEngine::next_turn(Entry& entry, const Command& command) {
  entry.dispatch = command.dispatch;
  entry.key = command.key;
  entry.expected_end = command.expected_end;
  entry.since = since(command);
  entry.end.reset();
  entry.launched = entry.end_reported = entry.suspends = false;
  entry.asked = Asked::nothing;
}

// Its processes are there, and stopped.
void LocalEngine::go_on(Entry& entry, const Command& command) {
  next_turn(entry, command);
  // Its processes know the accelerators that they were given first: the job waits until others leave these.
  entry.goes_on.reset();
  if (!places_.are_free(entry.record.devices)) {
    entry.goes_on = command;
    return;
  }
  Placement where = command.where;
  where.per_node.accelerators = 0;
  entry.place = places_.take(where, entry.record.processors);
  entry.place.devices = entry.record.devices;
  places_.take(entry.place);
  entry.record.phase = RunPhase::claimed;
  Tell go_on = tell(Tell::Kind::go_on, command);
  go_on.deadline = entry.record.deadline = on_boot_clock(limit_end_in_turn(command));
  go_on.since = on_boot_clock(entry.since);
  go_on.cores = entry.place.cores;
  if (entry.link) entry.link->tell(go_on);
}

// While the service was away nothing of its limit has passed.
Instant LocalEngine::limit_end_in_turn(const Command& command) const {
  const bool of_earlier_life = is_of_earlier_life(command) && command.start != kNever;
  return of_earlier_life && command.limit_end != kNever ? command.limit_end + (loop_.now() - command.start)
                                                        : command.limit_end;
}

// Others get these only where there are no others left.
std::vector<std::uint32_t> LocalEngine::devices_of_stopped() const {
  std::vector<std::uint32_t> devices;
  if (!options_.machine->has_accelerators()) return devices;
  for (const auto& [job, entry] : runs_) {
    if ((!entry.end && !entry.goes_on) || entry.record.over()) continue;
    devices.insert(devices.end(), entry.record.devices.begin(), entry.record.devices.end());
  }
  return devices;
}

void LocalEngine::go_on_where_free() {
  for (auto& [job, entry] : runs_) {
    if (entry.goes_on && places_.are_free(entry.record.devices))
      go_on(entry, begins_later(*entry.goes_on, entry.since));
  }
}

// Its work was to be kept, so that it may not begin anew unasked: how it ended counts, but is told of the dispatch
// under which it was to go on. Until then nothing follows from it.
void LocalEngine::ended_while_it_stood(JobId job, Entry& entry) {
  entry.record.stood = true;
  source_.note_of_job(job, entry.record.lost
                               ? "Its supervisor was killed while the job was suspended, and the job with it; that is "
                                 "told as a failure of its node when its turn comes."
                               : "The job ended while it was suspended; how it did is told when its turn comes.");
}

// Written down before it is told: a service that starts again must not tell it of a later turn once more. Where it
// cannot be written, the command comes again (AnswerRules).
void LocalEngine::end_in_turn(Entry& entry, const Command& command) {
  RunRecord told = entry.record;
  told.stood = false;
  told.dispatch = command.dispatch;
  told.key = command.key;
  const Descriptor file(::openat(folder_.get(), entry.name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  const bool kept = file ? add_line(file.get(), "\n" + in_words(told)) == 0 : errno == ENOENT;
  if (!kept) return;
  next_turn(entry, command);
  entry.record = std::move(told);
  over(command.job, entry);
}

}  // namespace rota::local
