// A run whose supervisor is gone, or hangs so that it cannot be spoken to.
#include <utility>

#include "engine/local/engine.h"
#include "engine/local/processes.h"
#include "engine/local/record_holder.h"

namespace rota::local {

// The connection is closed and nothing was said before: what is on disk tells how far it got.
void LocalEngine::look(JobId job, Entry& entry) {
  entry.buried = false;
  const auto record = read_record(folder_.get(), entry.name);
  if (record) entry.record = *record;
  if (record && record->over()) return over(job, entry);
  if (Descriptor socket = record ? connect_to(record->socket) : Descriptor(); socket) {
    watch(job, entry, std::move(socket));
    entry.link->tell({.kind = Tell::Kind::hello, .epoch = epoch_});
    return plan_look(job, entry, over_by(entry));
  }
  record && record->pid == 0 ? end_before_it_begins(job, entry) : nobody_left(job, entry);
}

// A supervisor that hangs must not begin it later.
void LocalEngine::end_before_it_begins(JobId job, Entry& entry) {
  Descriptor holder = kill_holder(folder_.get(), entry.name);
  if (!holder) return nobody_left(job, entry);
  entry.dying = std::make_unique<GoneWatch>(io_, std::move(holder), [this, job] { holder_gone(job); });
}

// Commands about the job that came meanwhile were noted, and count now.
void LocalEngine::holder_gone(JobId job) {
  Entry& entry = runs_.at(job);
  const auto over_now = std::move(entry.dying);
  nobody_left(job, entry);
}

void LocalEngine::nobody_left(JobId job, Entry& entry) {
  const auto record = read_record(folder_.get(), entry.name);
  if (record) entry.record = *record;
  if (record && record->over()) return over(job, entry);
  if (!record || record->pid == 0) return could_not_launch(job, entry, "The process that was to start it was killed.");
  bury(job, entry);
}

// Nobody can wait for its processes any more: they are ended, and with them the dispatch.
void LocalEngine::bury(JobId job, Entry& entry) {
  constexpr int kTries = 5;
  ConnectionEnds ends = connection_ends();
  if (!ends.ours || ++entry.burials > kTries) {
    entry.record.lost = true;
    entry.record.phase = Phase::ended;
    entry.record.sentence = "Its supervisor was killed, and what is left of it could not be ended.";
    return over(job, entry);
  }
  Order order;
  order.kind = Order::Kind::bury;
  order.name = entry.name;
  order.engine_folder = options_.folder;
  order.claim = entry.record;
  entry.buried = true;
  watch(job, entry, std::move(ends.ours));
  spawner_.send(order, std::move(ends.theirs));
}

// The same before anything else is done. Supervisors that take a while to go do so at the same time.
void LocalEngine::bury_now(const std::vector<Entry*>& entries) {
  std::vector<Descriptor> holders;
  for (const Entry* entry : entries) holders.push_back(kill_holder(folder_.get(), entry->name));
  wait_until_gone(holders);
  for (Entry* entry : entries) {
    RunRecord& record = entry->record;
    if (const auto latest = read_record(folder_.get(), entry->name)) record = *latest;
    if (record.over()) continue;
    if (record.pid == 0) {  // it never was executed
      record.phase = Phase::failed;
      continue;
    }
    end_leftovers({.pid = record.pid, .began = record.began}, mark_of(options_.folder, entry->name), record.cgroups);
    remove_cgroups(record.cgroups);
    record.lost = true;
    record.phase = Phase::ended;
  }
}

}  // namespace rota::local
