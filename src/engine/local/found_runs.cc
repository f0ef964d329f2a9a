#include "engine/local/found_runs.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/processes.h"
#include "engine/local/record_holder.h"
#include "process/clock.h"

namespace rota::local {

using process::boot_milliseconds;
using process::Descriptor;
using process::Reached;
using process::send_whole;
using process::take_line;
using enum FoundRun::Supervisor;

namespace {

// "12.3": the job with id 12, the dispatch with number 3; "12.3.1": the same after its first move.
bool read_name(std::string_view name, RunRecord& into) {
  const auto read = [](std::string_view text, std::uint32_t& number) {
    const char* end = text.data() + text.size();
    return !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
  };
  const auto parts = split(name, '.');
  return (parts.size() == 2 || parts.size() == 3) && read(parts[0], into.job) && read(parts[1], into.dispatch) &&
         (parts.size() == 2 || read(parts[2], into.move));
}

bool earlier(const RunRecord& a, const RunRecord& b) {
  return std::pair(a.dispatch, a.move) < std::pair(b.dispatch, b.move);
}

void tell(const FoundRun& found, const Tell& what) { send_whole(found.connection.get(), in_words(what)); }

// Its supervisor may have come further than its record said.
void count_as_begun(RunRecord& record) {
  if (record.pid != 0 && record.phase == RunPhase::claimed) record.phase = RunPhase::runs;
}

}  // namespace

Reached reach_supervisor(const RunFolder& folder, const std::string& name, const std::string& socket) {
  Reached reached = process::try_to_connect(socket);
  if (reached.crowded && folder.can_open_more()) reached.crowded = record_holder(folder.get(), name) != 0;
  return reached;
}

Result<void> FoundRuns::find(std::uint64_t latest_key) {
  TRY(folder_.can_open_more());
  DIR* folder = ::fdopendir(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return fail("The folder {} of what runs cannot be read: {}.", quoted(folder_.path()), std::strerror(errno));
  std::vector<FoundRun> found;
  Result<void> all;
  while (const dirent* entry = all ? ::readdir(folder) : nullptr) all = find_run(entry->d_name, found);
  ::closedir(folder);
  TRY(all);
  TRY(connect_to(found));
  for (FoundRun& each : found) keep_latest(each);
  greet_all();
  leave_out_withdrawn();
  end_later_than(latest_key);
  return {};
}

Result<void> FoundRuns::find_run(const std::string& name, std::vector<FoundRun>& into) const {
  RunRecord named;
  if (!read_name(name, named)) return {};
  TRY(folder_.can_open_more());
  const auto record = read_record(folder_.get(), name);
  FoundRun& found = into.emplace_back(FoundRun{name, named});
  if (!record) {  // the claim was made, and that is all; unless the power failed before more was kept
    found.record.phase = folder_.rebooted() ? RunPhase::ended : RunPhase::failed;
    found.record.lost = folder_.rebooted();
    return {};
  }
  found.record = *record;
  found.record.job = named.job;
  if (record->over()) return {};
  if (record->boot != folder_.boot()) {
    found.record.lost = true;
    found.record.stood = record->phase == RunPhase::suspended;
    found.record.phase = RunPhase::ended;
  }
  return {};
}

// All at once: those that hang hold up the start no longer than one does.
Result<void> FoundRuns::connect_to(std::vector<FoundRun>& found) const {
  std::vector<FoundRun*> not_over;
  std::vector<std::string> names;
  for (FoundRun& each : found) {
    if (each.record.over()) continue;
    not_over.push_back(&each);
    names.push_back(each.record.socket);
  }
  std::vector<Descriptor> sockets = process::connect_to_all(names);
  for (std::size_t at = 0; at < sockets.size(); ++at) {
    if (!sockets[at]) continue;
    not_over[at]->connection = std::move(sockets[at]);
    tell(*not_over[at], {.kind = Tell::Kind::hello});
  }
  return folder_.can_open_more();
}

// Keeps the later of two dispatches of a job: it was started when the end of the earlier one was durable.
void FoundRuns::keep_latest(FoundRun& found) {
  const std::uint32_t job = found.record.job;
  const auto other = runs_.find(job);
  if (other != runs_.end() && earlier(found.record, other->second.record)) return forget(found);
  if (other != runs_.end()) forget(other->second);
  runs_[job] = std::move(found);
}

void FoundRuns::forget(FoundRun& found) {
  if (found.connection) {
    tell(found, {.kind = Tell::Kind::kill, .epoch = found.record.epoch});
  } else if (!found.record.over()) {
    bury({&found});
  }
  if (found.supervisor == unclear)
    warnings_.push_back(
        fmt::format("What is left of run {} could not be ended and may still run beside others; restart this computer.",
                    found.name));
  Order remove;
  remove.kind = Order::Kind::remove;
  remove.name = found.name;
  spawner_.send(remove, {});
}

// Takes the answers of all supervisors, within five seconds for all; one that does not answer in time is stopped or
// overloaded, but it is there.
void FoundRuns::greet_all() {
  const std::int64_t until = boot_milliseconds() + 5000;
  std::vector<FoundRun*> gone;
  for (auto& [job, found] : runs_) {
    if (found.record.over()) continue;
    if (!found.connection) {
      Reached reached = reach_supervisor(folder_, found.name, found.record.socket);
      found.connection = std::move(reached.socket);
      found.supervisor = found.connection ? to_be_asked : reached.crowded ? crowded : none;
      if (found.supervisor == none) gone.push_back(&found);
      count_as_begun(found.record);
    } else if (!take_answer(found, until)) {
      gone.push_back(&found);
    }
  }
  bury(gone);
}

// False: no supervisor is there any more, and the run is not over.
bool FoundRuns::take_answer(FoundRun& found, std::int64_t until) const {
  std::string text;
  std::string line;
  bool open = true;
  while (open && !take_line(text, line)) {
    pollfd answer{found.connection.get(), POLLIN, 0};
    const auto left = static_cast<int>(std::max<std::int64_t>(until - boot_milliseconds(), 0));
    if (::poll(&answer, 1, left) <= 0) break;
    open = process::read_more(answer.fd, text);
  }
  if (!line.empty()) {
    do read_words(line, found.record);
    while (take_line(text, line));  // the latest counts
  } else {
    count_as_begun(found.record);
  }
  if (open && !found.record.over()) {
    found.supervisor = text.empty() ? answered : to_be_asked;
    return true;
  }
  found.connection.reset();
  if (found.record.over()) return true;
  // It has ended just now, or was killed.
  if (const auto record = read_record(folder_.get(), found.name)) found.record = *record;
  return found.record.over();
}

// Whose supervisor saw that the service was gone before it had begun anything, and has taken back its claim: it can be
// ordered again. One that moved has run elsewhere, and begins anew.
void FoundRuns::leave_out_withdrawn() {
  std::erase_if(runs_, [&](const auto& each) {
    const auto& [job, found] = each;
    const bool began = found.record.phase != RunPhase::failed || found.record.pid != 0;
    return !began && found.record.move == 0 && ::faccessat(folder_.get(), found.name.c_str(), F_OK, 0) != 0 &&
           errno == ENOENT;
  });
}

// The state that is served knows nothing of them, and would give their names and keys to others. They are told to end
// at once; a supervisor that hangs is ended with its job.
void FoundRuns::end_later_than(std::uint64_t latest_key) {
  constexpr std::int64_t kPatience = 2000;  // milliseconds, of all together
  constexpr int kLookMilliseconds = 10;
  std::vector<std::uint32_t> disowned;
  for (auto& [job, found] : runs_) {
    if (found.record.key <= latest_key) continue;
    if (found.connection) tell(found, {.kind = Tell::Kind::kill, .epoch = found.record.epoch});
    found.connection.reset();
    disowned.push_back(job);
  }
  if (disowned.empty()) return;
  const std::int64_t until = boot_milliseconds() + kPatience;
  std::vector<FoundRun*> late;
  for (const std::uint32_t job : disowned) {
    FoundRun& found = runs_.at(job);
    while (!found.record.over() && boot_milliseconds() < until) {
      if (const auto record = read_record(folder_.get(), found.name)) found.record = *record;
      if (!found.record.over()) ::poll(nullptr, 0, kLookMilliseconds);
    }
    if (!found.record.over()) late.push_back(&found);
  }
  bury(late);
  for (const std::uint32_t job : disowned) {
    forget(runs_.at(job));
    runs_.erase(job);
  }
  warnings_.push_back(
      fmt::format("The folder {} has {} of a later state than the database, which is a copy that was put back, it "
                  "seems; what was left of them was ended.",
                  quoted(folder_.path()), amount(static_cast<std::int64_t>(disowned.size()), "run")));
}

// Ends what is left of runs whose supervisors are gone, or are to go, in a time that all have together. A run of which
// something is left even then is not over.
void FoundRuns::bury(const std::vector<FoundRun*>& all) const {
  std::vector<Descriptor> holders;
  for (const FoundRun* found : all) holders.push_back(kill_holder(folder_.get(), found->name));
  wait_until_gone(holders);
  const auto until = std::chrono::steady_clock::now() + kToEndLeftovers;
  for (FoundRun* found : all) {
    RunRecord& record = found->record;
    if (const auto latest = read_record(folder_.get(), found->name)) record = *latest;
    if (record.over()) continue;
    if (record.pid == 0) {  // it never was executed
      record.phase = RunPhase::failed;
      continue;
    }
    if (!end_leftovers({.pid = record.pid, .began = record.began, .owner = record.owner},
                       mark_of(folder_.path(), found->name), record.cgroups, until)) {
      found->supervisor = unclear;
      continue;
    }
    remove_cgroups(record.cgroups);
    record.lost = true;
    record.stood = record.phase == RunPhase::suspended;
    record.phase = RunPhase::ended;
  }
}

}  // namespace rota::local
