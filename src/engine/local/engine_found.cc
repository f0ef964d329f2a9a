// What an earlier life of the service has left, and runs whose supervisors are gone or cannot be spoken to.
#include <fmt/core.h>

#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "engine/local/engine.h"
#include "engine/local/record_holder.h"
#include "process/clock.h"

namespace rota::local {
namespace {

std::string name_of_service(const std::string& folder) {
  Hash hash;
  for (const char c : folder) hash.mix(static_cast<unsigned char>(c));
  return "rota-" + hexadecimal(hash.value());
}

}  // namespace

Result<void> LocalEngine::open(Intake& intake, const Takeover& from) {
  intake_ = &intake;
  from_ = from;
  TRY(folder_.open());
  if (options_.cgroups) cgroups_ = find_cgroups(name_of_service(folder_.path()));
  for (const std::string& warning : {cgroups_.warning, places_.warning()}) {
    if (!warning.empty()) warnings_.push_back(warning);
  }
  TRY(spawner_.open());
  TRY(take_over_runs());
  switch_.open();
  return folder_.rebooted() ? Result<void>() : write_boot();
}

// Not before all that was lost with the system is settled.
Result<void> LocalEngine::write_boot() {
  for (const auto& [job, entry] : runs_) {
    if (entry.record.lost && entry.record.boot.empty()) return {};  // only the old boot tells that it was lost
  }
  return folder_.write_boot();
}

Result<void> LocalEngine::take_over_runs() {
  FoundRuns found(folder_, spawner_);
  TRY(found.find(from_.latest_key));
  warnings_.insert(warnings_.end(), found.warnings().begin(), found.warnings().end());
  for (auto& [job, run] : found.by_job()) take_over_run(JobId{job}, run);
  remove_left_cgroups();
  return {};
}

void LocalEngine::take_over_run(JobId job, FoundRun& found) {
  using enum FoundRun::Supervisor;
  RunEntry& entry = runs_[job];
  entry.name = found.name;
  entry.record = std::move(found.record);
  const RunRecord& record = entry.record;
  epoch_ = std::max(epoch_, record.epoch);
  entry.dispatch = record.dispatch;
  entry.key = record.key;
  entry.asked = record.asked;
  const bool on_its_way = record.asked == Asked::move && !record.lost;
  if (record.over() && on_its_way) {
    entry.state = RunEntry::Runs{};  // the command to move it will come again
  } else if (record.over() || record.phase == RunPhase::suspended) {
    entry.state = RunEntry::Over{end_of(record)};
  } else {
    entry.place = {record.cores, record.devices};
    places_.occupy(entry.place);
    if (record.phase == RunPhase::runs) entry.state = RunEntry::Runs{};
    entry.moving = on_its_way;
  }
  if (found.connection) entry.keeper = RunEntry::Supervised{link_to(job, std::move(found.connection))};
  if (found.supervisor == crowded) entry.keeper = RunEntry::Supervised{link_to_crowded(job)};
  if (found.supervisor == crowded || found.supervisor == to_be_asked) entry.tell({.kind = Tell::Kind::hello});
  if (found.supervisor == unclear) try_later(job, entry);
  // The service that it was noted for before is gone.
  if (!record.sentence.empty()) source_.note_of_job(job, record.sentence);
}

// A supervisor that waited for another order lived in one whose run may be forgotten.
void LocalEngine::remove_left_cgroups() const {
  std::vector<std::string> in_use;
  for (const auto& [job, entry] : runs_) {
    if (!entry.record.over()) in_use.insert(in_use.end(), entry.record.cgroups.begin(), entry.record.cgroups.end());
  }
  remove_left(cgroups_, in_use);
}

// When a run ended while no service ran; less than a second ago is just now.
Instant LocalEngine::ended_at(const RunRecord& record) const {
  constexpr Duration kMoment = seconds(1);
  const Duration ago{process::unix_milliseconds() - record.ended};
  return record.ended == 0 || ago <= kMoment ? kNever : loop_.now() - ago;
}

Observation LocalEngine::observe() const {
  Observation seen;
  for (const auto& [job, entry] : runs_) {
    Observation::JobSeen row{.job = job, .runs = entry.under_way(), .key = entry.key, .dispatch = entry.dispatch};
    if (reports_.any_of(job)) {
      row.runs = row.held = true;  // what became of it is about to be told
    } else if (entry.over()) {
      row.end = entry.over()->end;
      row.ended = ended_at(entry.record);
    } else if (entry.asked == Asked::move) {
      row.key = 0;  // that is not carried out yet
    } else {
      row.held = !entry.launched();
    }
    seen.jobs.push_back(row);
  }
  switch_.observe(seen.nodes);
  return seen;
}

// What is on disk tells how far it got. Until it is over, that has the limit with which it was claimed, and the limit
// may have been changed since. False: there is no record.
bool LocalEngine::read_again(RunEntry& entry) const {
  const auto record = read_record(folder_.get(), entry.name);
  if (!record) return false;
  const RunRecord known = std::exchange(entry.record, *record);
  if (record->over()) return true;
  entry.record.limit = known.limit;
  entry.record.deadline = known.deadline;
  return true;
}

// The connection is closed and nothing was said before.
void LocalEngine::look(JobId job, RunEntry& entry) {
  // Its burial has come to nothing: the spawner has ended, or can make no process.
  const bool not_buried = entry.lost_keeper();
  const bool claimed = read_again(entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (not_buried || (!claimed && folder_.cannot_be_read(entry.name))) return try_later(job, entry);
  if (claimed && speak_to(job, entry)) return;
  if (claimed && entry.record.pid == 0) {
    end_before_it_begins(job, entry);
  } else {
    no_supervisor_left(job, entry);
  }
}

// False: no supervisor is there.
bool LocalEngine::speak_to(JobId job, RunEntry& entry) {
  process::Reached reached = reach_supervisor(folder_, entry.name, entry.record.socket);
  if (!reached.socket && !reached.crowded) return false;
  entry.keeper = RunEntry::Supervised{reached.socket ? link_to(job, std::move(reached.socket)) : link_to_crowded(job)};
  entry.tell({.kind = Tell::Kind::hello, .epoch = epoch_});
  return true;
}

std::unique_ptr<RunLink> LocalEngine::link_to_crowded(JobId job) {
  const auto try_again = [this, job] {
    const RunEntry& entry = runs_.at(job);
    return reach_supervisor(folder_, entry.name, entry.record.socket);
  };
  return std::make_unique<RunLink>(io_, try_again, hearing_of(job));
}

// A supervisor that still dies must not begin it.
void LocalEngine::end_before_it_begins(JobId job, RunEntry& entry) {
  kill_holder(folder_.get(), entry.name);
  if (folder_.cannot_be_read(entry.name) || record_holder(folder_.get(), entry.name) != 0) return try_later(job, entry);
  no_supervisor_left(job, entry);
}

// What it takes to end what is left of it is lacking just now.
void LocalEngine::try_later(JobId job, RunEntry& entry) {
  const Instant next_try = loop_.now() + options_.retry_wait;
  entry.keeper = RunEntry::Unclear{next_try};
  ring_at({.at = next_try, .job = job, .dispatch = entry.dispatch, .tries = true});
}

void LocalEngine::no_supervisor_left(JobId job, RunEntry& entry) {
  const bool claimed = read_again(entry);
  if (!claimed && folder_.cannot_be_read(entry.name)) return try_later(job, entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (claimed && entry.record.pid != 0) return bury(job, entry);
  could_not_launch(job, entry, "The process that was to start it was killed.");
}

// No process can wait for the job's processes any more: they are ended, and with them the dispatch. Until they are, the
// job keeps its place.
void LocalEngine::bury(JobId job, RunEntry& entry) {
  ConnectionEnds ends = connection_ends();
  if (!ends.ours) return try_later(job, entry);
  Order order;
  order.kind = Order::Kind::bury;
  order.name = entry.name;
  order.engine_folder = folder_.path();
  RunRecord& record = entry.record;
  record.stood = entry.over() != nullptr;
  record.dispatch = entry.dispatch;  // it may have been told to go on, and not have heard of it
  record.key = entry.key;
  order.claim = record;
  entry.keeper = RunEntry::Buried{link_to(job, std::move(ends.ours))};
  spawner_.send(order, std::move(ends.theirs));
}

// Some of its processes are still there, and its node stays taken.
void LocalEngine::cannot_be_ended(JobId job, const std::string& sentence) {
  source_.note_of_job(job, sentence);
  source_.warn_of_job(job, sentence);
}

}  // namespace rota::local
