#include "engine/local/engine.h"

#include <fcntl.h>

#include <fmt/core.h>
#include <algorithm>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "engine/local/devices.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {
namespace {

// The spawner and jobs see the folder from elsewhere.
std::string in_whole(const std::string& folder) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(folder, error);
  return error ? folder : whole.lexically_normal().string();
}

}  // namespace

LocalEngine::LocalEngine(boost::asio::io_context& io, LocalOptions options, Loop& loop, RunSource& source)
    : io_(io),
      options_(std::move(options)),
      loop_(loop),
      source_(source),
      folder_(in_whole(options_.folder), options_.boot),
      places_(*options_.machine, options_.pins),
      spawner_(io, options_.spawner, folder_.path()),
      switch_(io, *options_.machine, loop, folder_.path(),
              {.changed = [this](const PowerChanged& change) { report({}, change); },
               .note = [this](NodeId node, const std::string& sentence,
                              const std::string& output) { source_.note_of_node(node, sentence, output); }}) {}

LocalEngine::~LocalEngine() {
  loop_.set(*this, kNever);
  spares_.end();
  remove_bases(cgroups_);  // where no job is left
}

Capabilities LocalEngine::capabilities() const {
  Capabilities can;
  can.why_no_power = switch_.why_not();
  can.power = can.why_no_power.empty();
  can.confirms_starts = can.terminals = true;
  can.tasks = can.sites = can.cancel = false;
  return can;
}

void LocalEngine::dispatch(const Command& command) {
  if (command.epoch < epoch_) return;
  epoch_ = command.epoch;
  if (command.kind == Command::Kind::power_on || command.kind == Command::Kind::power_off) {
    if (!must_wait(command)) switch_.carry_out(command, is_of_earlier_life(command));
    return;
  }
  if (!command.job.valid()) return;
  switch (command.kind) {
    case Command::Kind::start:
      return start(command);
    case Command::Kind::kill:
    case Command::Kind::preempt:
      return end_early(command);
    case Command::Kind::migrate:
      return migrate(command);
    case Command::Kind::expect:
      return expect(command);
    case Command::Kind::adjust:
      return adjust(command);
    default:
      return;  // it has said that it cannot
  }
}

void LocalEngine::start(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end()) return launch(command);
  RunEntry& entry = found->second;
  if (command.key < entry.key) return;  // too old
  if (command.key == entry.key) return answer_again(command.job, entry);
  if (entry.holds_stopped()) return go_on(entry, command);
  if (entry.over() && entry.record.stood) return end_in_turn(entry, command);
  if (entry.over()) {
    drop(command.job);
    return launch(command);
  }
  if (entry.next && command.key <= entry.next->key) return;
  entry.next = command;  // what may still run of the one before must not
  Tell kill = tell(Tell::Kind::kill, command);
  kill.asked = Asked::requeue;
  entry.tell(kill);
}

void LocalEngine::launch(const Command& command) {
  RunEntry& entry = runs_[command.job];
  entry.dispatch = command.dispatch;
  entry.key = command.key;
  entry.expected_end = command.expected_end;
  entry.since = since(command);
  if (must_wait(command)) return;
  if (folder_.rebooted() && is_of_earlier_life(command)) {  // it may have run before the system went down
    entry.record.lost = true;
    entry.record.phase = RunPhase::ended;
    entry.record.job = command.job.value;
    entry.record.dispatch = command.dispatch;
    return over(command.job, entry);
  }
  auto run = source_.run_of(command);
  if (!run) return could_not_launch(command.job, entry, run.error().message);
  if (comes_too_late(command, *run))
    return could_not_launch(command.job, entry, "The service was not there when it was to start.");
  order(command, *std::move(run));
}

// Part of its limit has passed since an earlier life of the service decided that it starts, and it has not begun.
bool LocalEngine::comes_too_late(const Command& command, const RunRequest& run) const {
  return is_of_earlier_life(command) && command.limit_end != kNever && loop_.now() - command.start > run.limit / 100;
}

void LocalEngine::order(const Command& command, RunRequest run, std::uint32_t move) {
  RunEntry& entry = runs_[command.job];
  entry.ours = true;
  entry.name = fmt::format("{}.{}", command.job.value, command.dispatch);
  if (move > 0) entry.name += "." + std::to_string(move);
  entry.place = places_.occupy(command.where, run.processors, devices_of_stopped());
  Order order;
  order.name = entry.name;
  order.engine_folder = folder_.path();
  RunRecord& claim = order.claim;
  claim.job = command.job.value;
  claim.dispatch = command.dispatch;
  claim.move = move;
  if (run.uid != kServiceUser) claim.owner = run.uid;
  claim.elsewhere = entry.record.elsewhere;
  claim.user = entry.record.user;
  claim.system = entry.record.system;
  claim.memory = entry.record.memory;
  claim.used_in = entry.record.used_in;
  for (const Share& share : command.where.shares) claim.nodes.push_back(share.node.value);
  claim.key = command.key;
  claim.epoch = command.epoch;
  claim.boot = folder_.boot();
  claim.socket = process::unguessable_name();
  claim.limit = run.limit.count();
  claim.deadline = on_boot_clock(command.limit_end);
  claim.processors = run.processors;
  claim.cores = entry.place.cores;
  claim.devices = entry.place.devices;
  order.launch_wait = options_.launch_wait.count();
  order.since = on_boot_clock(entry.since);
  const auto nodes = static_cast<std::int64_t>(command.where.shares.size());
  order.most_memory =
      nodes > 0 && command.where.per_node.memory > 0 ? command.where.per_node.memory * nodes : run.memory;
  claim.cgroups = cgroups_.for_job(entry.name, order.most_memory > 0, !claim.cores.empty());
  order.environment = device_settings(entry.place.devices, options_.machine->has_accelerators(), run.slurms);
  order.environment.push_back(mark_of(folder_.path(), entry.name));
  order.run = std::move(run);
  order.replaces = entry.left;
  // For a job that moves, the process that makes the new record removes the one of the place that it left.
  auto link = move == 0 ? spares_.give(order, hearing_of(command.job)) : nullptr;
  const bool given = link != nullptr;
  entry.record = order.claim;
  entry.keeper = RunEntry::Supervised{std::move(link)};
  if (given) return;
  ConnectionEnds ends = connection_ends();
  if (!ends.ours) return could_not_launch(command.job, entry, "The service has too many files open.");
  entry.keeper = RunEntry::Supervised{link_to(command.job, std::move(ends.ours))};
  spawner_.send(order, std::move(ends.theirs));
}

// Told to stop, or to give way. If it does not run, that is what comes of it.
void LocalEngine::end_early(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end()) return never_began(command);
  RunEntry& entry = found->second;
  if (command.key < entry.key) return;
  if (command.dispatch != kAnyDispatch && entry.dispatch != command.dispatch) {
    if (entry.next && entry.next->dispatch == command.dispatch && entry.next->key < command.key) entry.next = command;
    if (!entry.over()) return;  // it runs as another one
    drop(command.job);
    return never_began(command);
  }
  if (entry.over()) return answer_again(command.job, entry);
  entry.key = command.key;
  entry.next.reset();  // nor does it move
  entry.stands = 0;
  if (entry.name.empty()) {  // it has not been ordered yet
    drop(command.job);
    return never_began(command);
  }
  Tell what = tell(Tell::Kind::stop, command);
  if (command.kind == Command::Kind::preempt) {
    what.checkpoint = command.kept && command.how != Preemption::suspend;
    entry.suspends = command.how == Preemption::suspend;
    what.asked = Asked::vacate;
    if (entry.suspends) what.kind = Tell::Kind::suspend;
  } else {
    what.asked = command.for_good ? Asked::cancel : Asked::requeue;
  }
  entry.asked = what.asked;
  if (entry.record.over()) {  // it was on its way from one place to the next
    entry.record.asked = what.asked;
    return over(command.job, entry);
  }
  entry.tell(what);
}

void LocalEngine::never_began(const Command& command) {
  RunEntry& entry = runs_[command.job];
  entry.dispatch = command.dispatch;
  entry.key = command.key;
  RunRecord& record = entry.record;
  record.job = command.job.value;
  record.dispatch = command.dispatch;
  record.phase = RunPhase::ended;
  record.asked = command.kind == Command::Kind::preempt ? Asked::vacate : Asked::requeue;
  const auto run = source_.run_of(command);
  record.limit = run ? run->limit.count() : 0;
  over(command.job, entry);
}

void LocalEngine::expect(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end() || found->second.over() || found->second.dispatch != command.dispatch) return;
  found->second.expected_end = command.expected_end;
  remind(command.job, found->second);
}

void LocalEngine::answer_again(JobId job, const RunEntry& entry) {
  if (entry.over()) {
    report_end(job, entry);
  } else if (entry.launched()) {
    report(job, Launched{job, entry.dispatch});
  }
}

std::unique_ptr<RunLink> LocalEngine::link_to(JobId job, process::Descriptor socket) {
  return std::make_unique<RunLink>(io_, std::move(socket), hearing_of(job));
}

RunLink::Hear LocalEngine::hearing_of(JobId job) {
  return [this, job](const RunRecord* record) { hear(job, record); };
}

void LocalEngine::hear(JobId job, const RunRecord* record) {
  RunEntry& entry = runs_.at(job);
  if (!record) return look(job, entry);
  const bool buried = std::holds_alternative<RunEntry::Buried>(entry.keeper);
  if (buried && !record->over()) return cannot_be_ended(job, record->sentence);
  entry.record = *record;
  if (auto* supervised = std::get_if<RunEntry::Supervised>(&entry.keeper); record->spare && entry.ours && supervised)
    spares_.keep(std::move(supervised->link), *record);
  if (record->over()) return over(job, entry);
  if (record->phase == RunPhase::suspended) {
    if (!entry.suspends || !entry.under_way() || record->key < entry.key) return;
    over(job, entry);
  } else if (record->phase == RunPhase::runs && record->dispatch == entry.dispatch) {
    launched(job, entry);
    stop_moved(entry);
  }
}

void LocalEngine::launched(JobId job, RunEntry& entry) {
  if (entry.launched() || !entry.under_way()) return;
  entry.state = RunEntry::Runs{};
  if (!entry.record.sentence.empty()) source_.note_of_job(job, entry.record.sentence);
  if (entry.next) return;
  report(job, Launched{job, entry.dispatch});
  remind(job, entry);
}

void LocalEngine::could_not_launch(JobId job, RunEntry& entry, const std::string& why) {
  entry.record.job = job.value;
  entry.record.dispatch = entry.dispatch;
  entry.record.phase = RunPhase::failed;
  entry.record.sentence = why;
  over(job, entry);
}

// The dispatch is over, also where its processes are only stopped.
void LocalEngine::over(JobId job, RunEntry& entry) {
  RunRecord& record = entry.record;
  if (record.over()) entry.keeper = RunEntry::Supervised{};
  leave_place(entry);
  const bool left = record.over() && std::exchange(entry.moving, false);
  ended(job, entry);
  if (left) start_those_that_waited();
}

void LocalEngine::ended(JobId job, RunEntry& entry) {
  RunRecord& record = entry.record;
  if (entry.leaves() && record.over()) return drop(job);
  if (record.over() && entry.asked == Asked::move && moves_on(job, entry)) return;
  if (entry.over() && record.over()) return ended_while_it_stood(job, entry);
  if (record.asked == Asked::move && entry.asked != Asked::nothing) record.asked = entry.asked;  // it was told later
  // What was to keep its work while it gave way, and is lost, has not done so.
  const bool keeps_nothing = record.lost && entry.suspends && entry.asked == Asked::vacate;
  if (record.asked == Asked::nothing && (record.lost || record.phase == RunPhase::failed) && !keeps_nothing)
    record.asked = entry.asked;
  record.stood = record.stood && record.dispatch == entry.dispatch;  // else its next turn had come
  record.dispatch = entry.dispatch;
  if (entry.since != kNever)  // the controller's clock may have been set back; the door bounds what is kept
    record.ran = std::clamp<std::int64_t>((loop_.now() - entry.since).count(), 0, record.ran);
  entry.state = RunEntry::Over{end_of(record)};
  if (!record.sentence.empty()) source_.note_of_job(job, record.sentence);
  if (!entry.next) return report_end(job, entry);
  const Command next = *entry.next;
  drop(job);
  if (next.kind == Command::Kind::start) {
    launch(next);
  } else {
    never_began(next);
  }
}

void LocalEngine::leave_place(RunEntry& entry) {
  const bool had_devices = !entry.place.devices.empty();
  places_.give(entry.place);
  entry.place = {};
  if (had_devices) go_on_where_free();
}

void LocalEngine::drop(JobId job) {
  const auto found = runs_.find(job);
  if (!found->second.name.empty()) {
    Order remove;
    remove.kind = Order::Kind::remove;
    remove.name = found->second.name;
    spawner_.send(remove, {});
    remove.name = found->second.left;
    if (!remove.name.empty()) spawner_.send(remove, {});
  }
  leave_place(found->second);
  runs_.erase(found);
}

void LocalEngine::settled(JobId job, std::uint32_t dispatch) {
  const auto found = runs_.find(job);
  if (found == runs_.end()) return;
  RunEntry& entry = found->second;
  if (dispatch != kAnyDispatch && (dispatch != entry.dispatch || entry.record.stood)) return;
  if (entry.record.over() || (entry.over() && !entry.holds_stopped())) return drop(job);
  if (dispatch != kAnyDispatch) return;  // it runs, or is to go on
  entry.state = RunEntry::Leaves{};
  entry.tell({.kind = Tell::Kind::kill, .epoch = epoch_, .asked = Asked::cancel});
}

bool LocalEngine::holds_stopped(JobId job) const {
  const auto found = runs_.find(job);
  return found != runs_.end() && found->second.holds_stopped();
}

std::vector<std::uint32_t> LocalEngine::accelerators_of(JobId job) const {
  const auto found = runs_.find(job);
  return found == runs_.end() ? std::vector<std::uint32_t>{} : found->second.place.devices;
}

std::vector<JobId> LocalEngine::held_stopped() const {
  std::vector<JobId> jobs;
  for (const auto& [job, entry] : runs_) {
    if (entry.holds_stopped()) jobs.push_back(job);
  }
  return jobs;
}

Result<void> LocalEngine::signal(JobId job, int number) {
  const auto found = runs_.find(job);
  if (found != runs_.end()) found->second.tell({.kind = Tell::Kind::signal, .epoch = epoch_, .number = number});
  return {};
}

void LocalEngine::remind(JobId job, const RunEntry& entry) {
  if (entry.expected_end == kNever || !entry.launched()) return;
  ring_at({entry.expected_end, job, entry.dispatch});
}

void LocalEngine::ring_at(const Reminder& reminder) {
  reminders_.push(reminder);
  if (reminders_.top().at == reminder.at) loop_.set(*this, reminder.at);  // else it rings before that
}

void LocalEngine::ring() {
  const Instant now = loop_.now();
  while (!reminders_.empty() && reminders_.top().at <= now) {
    const Reminder due = reminders_.top();
    reminders_.pop();
    const auto found = runs_.find(due.job);
    if (found == runs_.end()) continue;
    RunEntry& entry = found->second;
    if (due.tries) {
      const auto* unclear = std::get_if<RunEntry::Unclear>(&entry.keeper);
      if (unclear && unclear->next_try == due.at) look(due.job, entry);
    } else if (entry.under_way() && entry.dispatch == due.dispatch && entry.expected_end == due.at) {
      report(due.job, Overdue{due.job, due.dispatch});
    }
  }
  if (!reminders_.empty()) loop_.set(*this, reminders_.top().at);
}

void LocalEngine::report_end(JobId job, const RunEntry& entry) {
  std::visit([&](const auto& end) { report(job, end, ended_at(entry.record)); }, entry.over()->end);
}

void LocalEngine::report(JobId job, const Observed& what, Instant happened) { reports_.add({job, what, happened}); }

void LocalEngine::deliver(std::vector<Report> reports) {
  for (const Report& report : reports) {
    const bool taken = intake_->record(report.what, report.happened).has_value();
    const auto found = runs_.find(report.job);
    auto* over = found == runs_.end() ? nullptr : std::get_if<RunEntry::Over>(&found->second.state);
    if (over == nullptr) continue;
    // An end that was refused the first time that it was reported is of something that the controller does not count
    // on.
    const bool first = !std::exchange(over->reported, true);
    if (!taken && first && found->second.record.over()) drop(report.job);
  }
  static_cast<void>(intake_->decide());  // where that fails, the controller knows it
  if (!folder_.boot_written()) static_cast<void>(write_boot());
}

std::int64_t LocalEngine::on_boot_clock(Instant at) const {
  return at == kNever ? INT64_MAX : process::boot_milliseconds() + (at - loop_.now()).count();
}

// What the record counts, a rehearsal of it counts, too: from the decision on, as the limit does.
Instant LocalEngine::since(const Command& command) const {
  return is_of_earlier_life(command) ? loop_.now() : std::min(command.start, loop_.now());
}

Tell LocalEngine::tell(Tell::Kind kind, const Command& command) const {
  return {.kind = kind, .epoch = command.epoch, .key = command.key, .dispatch = command.dispatch};
}

}  // namespace rota::local
