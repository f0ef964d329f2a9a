// How a new life of the service finds what an earlier one has left.
#include <fmt/core.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "base/words.h"
#include "engine/local/engine.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {

using process::add_line;
using process::boot_milliseconds;
using process::connect_to_all;
using process::Descriptor;
using process::read_all;
using process::read_more;
using process::send_whole;
using process::take_line;
using process::unix_milliseconds;

namespace {

constexpr const char* kBootName = "boot";
constexpr const char* kNextBootName = "boot.new";

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

std::string name_of_service(const std::string& folder) {
  Hash hash;
  for (const char c : folder) hash.mix(static_cast<unsigned char>(c));
  return "rota-" + hexadecimal(hash.value());
}

}  // namespace

Result<void> LocalEngine::open(Intake& intake, const Takeover& from) {
  intake_ = &intake;
  from_ = from;
  if (auto prepared = prepare_folder(); !prepared) return prepared;
  if (options_.cgroups) cgroups_ = find_cgroups(name_of_service(options_.folder));
  for (const std::string& warning : {cgroups_.warning, places_.warning()}) {
    if (!warning.empty()) warnings_.push_back(warning);
  }
  if (auto spawner = spawner_.open(); !spawner) return spawner;
  if (auto found = find_runs(); !found) return found;
  switch_.open();
  tell_again();
  return rebooted_ ? Result<void>() : write_boot();
}

// Until then another life of the service, too, knows that the system was restarted.
Result<void> LocalEngine::write_boot() {
  for (const auto& [job, entry] : runs_) {
    if (entry.record.lost && entry.record.boot.empty()) return {};  // only the old boot tells that it was lost
  }
  const Descriptor next(::openat(folder_.get(), kNextBootName, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const bool whole = next && add_line(next.get(), options_.boot) == 0 && ::fdatasync(next.get()) == 0;
  if (!whole || ::renameat(folder_.get(), kNextBootName, folder_.get(), kBootName) != 0) {
    return fail("The folder {} cannot be written to: {}.", quoted(options_.folder), std::strerror(errno));
  }
  ::fsync(folder_.get());  // without it, the name may be the old one's after a failure of power: as if it came again
  boot_written_ = true;
  return {};
}

Result<void> LocalEngine::prepare_folder() {
  constexpr mode_t kPassThrough = 0711;  // a job's script is executed by its user
  const bool made = ::mkdir(options_.folder.c_str(), kPassThrough) == 0;
  folder_.reset(::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) {
    return fail("The folder {} of what runs cannot be opened: {}. Make it, or name another one.",
                quoted(options_.folder), std::strerror(errno));
  }
  if (made) ::fchmod(folder_.get(), kPassThrough);
  const Descriptor file(::openat(folder_.get(), kBootName, O_RDONLY | O_CLOEXEC));
  const std::string boot = file ? read_all(file.get()) : std::string();
  rebooted_ = !boot.empty() && boot != options_.boot;  // empty: one that was being written, by an older version
  return {};
}

Result<void> LocalEngine::find_runs() {
  if (auto can = can_open_more(); !can) return can;
  DIR* folder = ::fdopendir(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return fail("The folder {} of what runs cannot be read: {}.", quoted(options_.folder), std::strerror(errno));
  std::vector<Entry> found;
  Result<void> all;
  while (const dirent* entry = all ? ::readdir(folder) : nullptr) all = find_run(entry->d_name, found);
  ::closedir(folder);
  if (all) all = connect_to_found(found);
  if (!all) return all;
  for (Entry& entry : found) keep_latest(entry);
  greet_all();
  leave_out_withdrawn();
  disown_later();
  remove_left_cgroups();
  for (auto& [job, entry] : runs_) {
    epoch_ = std::max(epoch_, entry.record.epoch);
    entry.dispatch = entry.record.dispatch;
    entry.key = entry.record.key;
    entry.asked = entry.record.asked;
    const bool on_its_way = entry.record.asked == Asked::move && !entry.record.lost;
    if (entry.record.over() && on_its_way) {
      entry.launched = true;  // the command to move it will come again
    } else if (entry.record.over() || entry.record.phase == RunPhase::suspended) {
      entry.end = end_of(entry.record);
    } else {
      entry.place = {entry.record.cores, entry.record.devices};
      places_.take(entry.place);
      entry.launched = entry.record.phase == RunPhase::runs;
      entry.moving = on_its_way;
    }
    if (entry.keeper == Keeper::unclear) try_later(job, entry);
  }
  return {};
}

// A run whose record or supervisor cannot be opened would be taken for one that never began, and begin twice.
Result<void> LocalEngine::can_open_more() const {
  if (Descriptor(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0))) return {};
  return fail(
      "{}{}. Start the service with a higher limit of open files (`ulimit -n`, or LimitNOFILE= of its unit), one for "
      "each job that runs and some more.",
      "Not all jobs that run can be heard of: ", std::strerror(errno));
}

Result<void> LocalEngine::find_run(const std::string& name, std::vector<Entry>& into) {
  RunRecord named;
  if (!read_name(name, named)) return {};
  if (auto can = can_open_more(); !can) return can;
  const auto record = read_record(folder_.get(), name);
  Entry& found = into.emplace_back();
  found.name = name;
  found.record = named;
  if (!record) {  // the claim was made, and that is all; unless the power failed before more was kept
    found.record.phase = rebooted_ ? RunPhase::ended : RunPhase::failed;
    found.record.lost = rebooted_;
    return {};
  }
  found.record = *record;
  found.record.job = named.job;
  if (record->over()) return {};
  if (record->boot != options_.boot) {
    found.record.lost = true;
    found.record.stood = record->phase == RunPhase::suspended;
    found.record.phase = RunPhase::ended;
  }
  return {};
}

// All at once: those that hang hold up the start no longer than one does.
Result<void> LocalEngine::connect_to_found(std::vector<Entry>& found) const {
  std::vector<Entry*> not_over;
  std::vector<std::string> names;
  for (Entry& entry : found) {
    if (entry.record.over()) continue;
    not_over.push_back(&entry);
    names.push_back(entry.record.socket);
  }
  std::vector<Descriptor> sockets = connect_to_all(names);
  for (std::size_t at = 0; at < sockets.size(); ++at) {
    if (!sockets[at]) continue;
    send_whole(sockets[at].get(), in_words(Tell{.kind = Tell::Kind::hello}));
    not_over[at]->greeting = std::move(sockets[at]);
  }
  return can_open_more();
}

// Keeps the later of two dispatches of a job: it was started when the end of the earlier one was durable.
void LocalEngine::keep_latest(Entry& found) {
  const JobId job{found.record.job};
  const auto other = runs_.find(job);
  if (other != runs_.end() && earlier(found.record, other->second.record)) return forget(found);
  if (other != runs_.end()) forget(other->second);
  runs_[job] = std::move(found);
}

void LocalEngine::forget(Entry& entry) {
  if (entry.greeting) {
    send_whole(entry.greeting.get(), in_words(Tell{.kind = Tell::Kind::kill, .epoch = entry.record.epoch}));
  } else if (!entry.record.over()) {
    bury_now({&entry});
  }
  if (entry.keeper == Keeper::unclear)
    warnings_.push_back(
        fmt::format("What is left of run {} could not be ended and may still run beside others; restart this computer.",
                    entry.name));
  Order remove;
  remove.kind = Order::Kind::remove;
  remove.name = entry.name;
  spawner_.send(remove, {});
}

// Takes the answers of all supervisors, within five seconds for all; one that does not answer in time is stopped or
// overloaded, but it is there.
void LocalEngine::greet_all() {
  const std::int64_t until = boot_milliseconds() + 5000;
  std::vector<Entry*> gone;
  const auto unheard = [](RunRecord& record) {
    if (record.pid != 0 && record.phase == RunPhase::claimed) record.phase = RunPhase::runs;
  };
  for (auto& [job, entry] : runs_) {
    if (entry.record.over()) continue;
    if (!entry.greeting) {
      if (!speak_to(job, entry)) gone.push_back(&entry);
      unheard(entry.record);
      continue;
    }
    std::string text;
    std::string line;
    bool open = true;
    while (open && !take_line(text, line)) {
      pollfd answer{entry.greeting.get(), POLLIN, 0};
      const auto left = static_cast<int>(std::max<std::int64_t>(until - boot_milliseconds(), 0));
      if (::poll(&answer, 1, left) <= 0) break;
      open = read_more(answer.fd, text);
    }
    if (!line.empty()) {
      do read_words(line, entry.record);
      while (take_line(text, line));  // the latest counts
    } else {
      unheard(entry.record);
    }
    if (entry.record.over()) {
      entry.greeting.reset();
    } else if (open) {
      watch(job, entry, std::move(entry.greeting));
      if (!text.empty()) entry.link->tell({.kind = Tell::Kind::hello});
    } else {  // it has ended just now, or was killed
      if (const auto record = read_record(folder_.get(), entry.name)) entry.record = *record;
      if (!entry.record.over()) gone.push_back(&entry);
    }
  }
  bury_now(gone);
}

// Whose supervisor saw that the service was gone before it had begun anything, and has taken back its claim: it can be
// ordered again. One that moved has run elsewhere, and begins anew.
void LocalEngine::leave_out_withdrawn() {
  std::erase_if(runs_, [&](const auto& each) {
    const auto& [job, entry] = each;
    const bool began = entry.record.phase != RunPhase::failed || entry.record.pid != 0;
    return !began && entry.record.move == 0 && ::faccessat(folder_.get(), entry.name.c_str(), F_OK, 0) != 0 &&
           errno == ENOENT;
  });
}

// The state that is served knows nothing of them, and would give their names and keys to others. They are told to end
// at once; a supervisor that hangs is ended with its job.
void LocalEngine::disown_later() {
  constexpr std::int64_t kPatience = 2000;  // milliseconds, of all together
  constexpr int kLookMilliseconds = 10;
  std::vector<JobId> disowned;
  for (auto& [job, entry] : runs_) {
    if (entry.record.key <= from_.latest_key) continue;
    if (entry.link) entry.link->tell({.kind = Tell::Kind::kill, .epoch = entry.record.epoch});
    disowned.push_back(job);
  }
  if (disowned.empty()) return;
  const std::int64_t until = boot_milliseconds() + kPatience;
  std::vector<Entry*> late;
  for (const JobId job : disowned) {
    Entry& entry = runs_.at(job);
    while (!entry.record.over() && boot_milliseconds() < until) {
      if (const auto record = read_record(folder_.get(), entry.name)) entry.record = *record;
      if (!entry.record.over()) ::poll(nullptr, 0, kLookMilliseconds);
    }
    if (!entry.record.over()) late.push_back(&entry);
  }
  bury_now(late);
  for (const JobId job : disowned) {
    forget(runs_.at(job));
    runs_.erase(job);
  }
  warnings_.push_back(
      fmt::format("The folder {} has {} of a later state than the database, which is a copy that was put back, it "
                  "seems; what was left of them was ended.",
                  quoted(options_.folder), amount(static_cast<std::int64_t>(disowned.size()), "run")));
}

// A supervisor that waited for another order lived in one whose run may be forgotten.
void LocalEngine::remove_left_cgroups() const {
  std::vector<std::string> in_use;
  for (const auto& [job, entry] : runs_) {
    if (!entry.record.over()) in_use.insert(in_use.end(), entry.record.cgroups.begin(), entry.record.cgroups.end());
  }
  remove_left(cgroups_, in_use);
}

// What there is to know of all runs: the service that was told before is gone.
void LocalEngine::tell_again() const {
  for (const auto& [job, entry] : runs_) {
    if (!entry.record.sentence.empty()) source_.note_of_job(job, entry.record.sentence);
  }
}

// When a run ended while no service ran; less than a second ago is just now.
Instant LocalEngine::ended_at(const RunRecord& record) const {
  constexpr Duration kMoment = seconds(1);
  const Duration ago{unix_milliseconds() - record.ended};
  return record.ended == 0 || ago <= kMoment ? kNever : loop_.now() - ago;
}

Observation LocalEngine::observe() const {
  Observation seen;
  for (const auto& [job, entry] : runs_) {
    Observation::JobSeen row{.job = job, .runs = !entry.end, .key = entry.key, .dispatch = entry.dispatch};
    if (std::ranges::find(news_, job, &News::job) != news_.end()) {
      row.runs = row.held = true;  // what became of it is about to be told
    } else if (entry.end) {
      row.end = *entry.end;
      row.ended = ended_at(entry.record);
    } else if (entry.asked == Asked::move) {
      row.key = 0;  // that is not carried out yet
    } else {
      row.held = !entry.launched;
    }
    seen.jobs.push_back(row);
  }
  switch_.observe(seen.nodes);
  return seen;
}

}  // namespace rota::local
