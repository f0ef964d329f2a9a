#include "engine/sim/engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "model/cpu_factor.h"

namespace rota::sim {
void SimEngine::open(Intake& intake) {
  intake_ = &intake;
  if (meter_.meters() && options_.metered_from != kNever) meter_.open(options_.metered_from);
  draw();
  ring_next();
}

// In a closed loop the log gives the gaps between arrivals; else the arrivals themselves.
void SimEngine::draw() {
  if (!source_.next(next_)) {
    due_ = kNever;
    return;
  }
  const Duration gap = next_.spec.submit - drawn_submit_;
  drawn_submit_ = next_.spec.submit;
  due_ = options_.queue_floor < 0 ? next_.spec.submit : loop_.now() + gap;
}

bool SimEngine::arrival_due(Instant now) const {
  return due_ <= now || (waiting_ <= options_.queue_floor && due_ != kNever);
}

void SimEngine::take_arrival(Instant now) {
  if (options_.queue_floor >= 0) next_.spec.submit = now;
  if (meter_.meters() && arrived_ == 0 && options_.metered_from == kNever) meter_.open(now);
  ++arrived_;
  ++waiting_;
  comes(next_);
  draw();
}

void SimEngine::take_ends(Instant now) {
  while (!ends_.empty() && ends_.top().at <= now) {
    const Coming c = ends_.top();
    ends_.pop();
    if (!killed_.empty() && killed_.erase(c.dispatch) > 0) continue;
    const Finished end{c.job, c.timed_out ? Outcome::timed_out : Outcome::completed, alive_[c.job.value].run};
    happened().emplace_back(end);
    if (ledger_) ledger_->over(c.job, end.dispatch, end);
    if (meter_.meters()) meter_.end(c.job, now, false);
    if (!interrupted_.empty()) interrupted_.erase(c.job);
    if (tasks_) tasks_->forget(c.job);
    if (!ledger_) alive_.retire(c.job.value);
    if (options_.ties != Ties::batch) flush();
  }
}

void SimEngine::take_leaving(Instant now) {
  const auto not_yet = [&](const Coming& c) { return c.at > now; };
  const auto end = std::find_if(leaving_.begin(), leaving_.end(), not_yet);
  for (auto c = leaving_.begin(); c != end; ++c) vacate(c->job);
  leaving_.erase(leaving_.begin(), end);
}

// A dispatch leaves this calendar before the calendar of ends.
void SimEngine::take_overdue(Instant now) {
  while (!overdue_.empty() && overdue_.top().at <= now) {
    const Coming c = overdue_.top();
    overdue_.pop();
    if (!killed_.contains(c.dispatch)) happened().emplace_back(Overdue{c.job, alive_[c.job.value].run});
  }
}

void SimEngine::ring() {
  const Instant now = loop_.now();
  rings_ = kRinging;
  if (tasks_) advance_tasks(now);
  if (options_.ties == Ties::batch) {
    if (!switching_.empty()) take_switched(now);
    if (!ends_.empty() && ends_.top().at <= now) take_ends(now);
    if (!leaving_.empty()) take_leaving(now);
    if (!overdue_.empty() && overdue_.top().at <= now) take_overdue(now);
    while (arrival_due(now)) take_arrival(now);
    flush();
  } else {
    take_overdue(now);
    flush();
    while (arrival_due(now)) {
      take_arrival(now);
      flush();
    }
    take_ends(now);
    if (!leaving_.empty()) take_leaving(now);
    take_switched(now);
    flush();
  }
  ring_next();
}

void SimEngine::flush() {
  if (happened().empty() || !health_) return;
  std::vector<Happening>& telling = happened();
  filling_ = 1 - filling_;  // commands that come back meanwhile may make more happen
  for (const Happening& happening : telling) tell(happening);
  telling.clear();
  arrivals_[1 - filling_].clear();
  if (auto decided = intake_->decide(); !decided) health_ = std::move(decided);
}

void SimEngine::tell(const Happening& happening) {
  std::visit(
      [&]<class Kind>(const Kind& what) {
        if constexpr (std::is_same_v<Kind, Comes>) {
          const Arrival& arrival = arrivals_[1 - filling_][what.arrival];
          const JobId id = intake_->submit(arrival.spec);
          if (!id.valid()) return;
          alive_.add(id.value).run_time = arrival.run_time;
          if (tasks_) tasks_arrive(id, arrival);
        } else if (auto taken = intake_->record(what, loop_.now()); !taken) {
          health_ = fail("the simulated cluster said what cannot be: " + taken.error().message);
        }
      },
      happening);
}

void SimEngine::tasks_arrive(JobId id, const Arrival& arrival) {
  tasks_->arrive(id, arrival.spec.number, arrival.run_time);
  if (!tasks_->has(id)) return;
  for (const TaskFact& fact : tasks_->take_facts()) {
    std::visit([&](const auto& what) { tell(what); }, fact);
  }
}

void SimEngine::ring_next() {
  Instant at = arrived_ == 0 && arrival_due(loop_.now()) ? loop_.now() : due_;
  if (!ends_.empty()) at = std::min(at, ends_.top().at);
  if (!overdue_.empty()) at = std::min(at, overdue_.top().at);
  if (!leaving_.empty()) at = std::min(at, leaving_.front().at);
  if (!switching_.empty()) at = std::min(at, switching_.top().at);
  if (!happened().empty()) at = std::min(at, loop_.now());
  rings_ = health_ ? at : kNever;
  loop_.set(*this, rings_);
}

void SimEngine::carry_out(const Command& command) {
  switch (command.kind) {
    case Command::Kind::start:
      start(command);
      break;
    case Command::Kind::expect:
      remind(command.job, command.expected_end);
      break;
    case Command::Kind::kill:
      kill(command.job);
      if (command.for_good) --waiting_;  // it does not come back
      break;
    case Command::Kind::migrate:
      migrate(command);
      break;
    case Command::Kind::preempt:
      preempt(command);
      break;
    case Command::Kind::power_on:
    case Command::Kind::power_off:
      switch_power(command);
      break;
    case Command::Kind::adjust:
      adjust(command);
      break;
  }
}

void SimEngine::start(const Command& command) {
  Alive& job = alive_[command.job.value];
  CHECK(job.dispatch == 0, "a job is started once");
  --waiting_;
  Duration pause{0};
  if (!interrupted_.empty()) {
    if (const auto found = interrupted_.find(command.job); found != interrupted_.end()) {
      pause = found->second.pause = std::exchange(found->second.owed, Duration{0});
      found->second.ran = found->second.worked = Duration{0};
      found->second.stands = false;
    }
  }
  run(job, command, pause);
}

void SimEngine::run(Alive& job, const Command& command, Duration pause) {
  job.dispatch = ++dispatches_;
  job.cpu_factor = command.cpu_factor;
  job.run = command.dispatch;
  if (tasks_ && run_tasks(command, pause)) return;
  const Instant natural_end = loop_.now() + pause + time_for(job.run_time, job.cpu_factor);
  job.start = loop_.now();
  job.end = std::min(natural_end, command.limit_end);
  ends_.push({job.end, job.dispatch, command.job, job.end < natural_end});
  ring_by(job.end);
  remind(command.job, command.expected_end);
  if (!command.where.shares.empty() && meter_.meters()) meter_.start(command.job, command.where, loop_.now());
}

void SimEngine::advance_tasks(Instant now) {
  tasks_->advance(now);
  if (tasks_->breach() && health_) health_ = fail("the tasks' check: {}.", *tasks_->breach());
}

// Only its tasks know when it ends, if not by its limit.
bool SimEngine::run_tasks(const Command& command, Duration pause) {
  if (!tasks_->has(command.job)) return false;
  Alive& job = alive_[command.job.value];
  job.start = loop_.now();
  job.end = command.limit_end;
  if (job.end != kNever) ends_.push({job.end, job.dispatch, command.job, true});
  ring_by(job.end);
  remind(command.job, command.expected_end);
  if (meter_.meters()) meter_.start(command.job, command.where, loop_.now());
  tasks_->start(command.job, command.where, pause);
  return true;
}

// It ends now, and not by its limit.
void SimEngine::tasks_done(JobId id) {
  Alive& job = alive_[id.value];
  killed_.insert(job.dispatch);
  job.dispatch = ++dispatches_;
  job.end = loop_.now();
  ends_.push({job.end, job.dispatch, id, false});
  ring_by(job.end);
}

void SimEngine::task_facts() {
  for (const TaskFact& fact : tasks_->take_facts()) {
    std::visit([&](const auto& what) { happened().emplace_back(what); }, fact);
  }
  ring_by(loop_.now());
}

void SimEngine::switch_power(const Command& command) {
  const Instant now = loop_.now();
  const bool on = command.kind == Command::Kind::power_on;
  const PowerDraw& power = options_.metered->nodes[command.node.value].power;
  meter_.switched(command.node, on ? PowerState::booting : PowerState::shutting_down, now);
  const Instant done = now + (on ? power.boot : power.shutdown);
  switching_.push({done, command.key, command.node, on && boots(command.node) ? PowerState::on : PowerState::off});
  if (!on) offer_accelerators(command.node, false);
  ring_by(done);
}

// To the tasks of jobs, or not; on: the node is.
void SimEngine::offer_accelerators(NodeId node, bool on) {
  if (!tasks_) return;
  const bool offered = on && !(ledger_ && ledger_->node(node).health == Health::down);
  if (offered == tasks_->present(node)) return;
  if (offered) {
    tasks_->join(node);
  } else {
    tasks_->leave(node);
  }
}

// Whether this boot of the node will do: by chance, but the same in every run.
bool SimEngine::boots(NodeId node) {
  const std::int32_t fails = options_.metered->nodes[node.value].power.boot_fails;
  if (fails == 0) return true;
  boots_.resize(options_.metered->nodes.size());
  Hash lot;
  lot.mix(static_cast<std::uint64_t>(options_.metered->boot_seed));
  lot.mix(std::uint64_t{node.value} << 32U | ++boots_[node.value]);
  lot.mix(0);  // so that all bits have come to bear on those that are looked at
  return static_cast<std::int64_t>((lot.value() >> 16U) % 1000) >= fails;
}

void SimEngine::take_switched(Instant now) {
  while (!switching_.empty() && switching_.top().at <= now) {
    const Switching s = switching_.top();
    switching_.pop();
    if (ledger_ && ledger_->key_of(s.node) != s.order) continue;  // it was switched again meanwhile
    if (ledger_) ledger_->node(s.node).power = s.state;
    meter_.switched(s.node, s.state, now);
    happened().emplace_back(PowerChanged{s.node, s.state, s.order});
    if (s.state == PowerState::on) offer_accelerators(s.node, true);
  }
}

void SimEngine::remind(JobId id, Instant expected_end) {
  const Alive& job = alive_[id.value];
  if (job.end <= expected_end) return;
  overdue_.push({expected_end, job.dispatch, id, false});
  ring_by(expected_end);
}

// Its user resubmits it at once, with its true run time as its limit.
void SimEngine::kill(JobId id) {
  const std::uint32_t run = alive_[id.value].run;
  over(Requeued{id, interrupt(id), run});
  ring_by(loop_.now());
}

// It runs no longer, and all its work is lost; what there was to do is returned.
Duration SimEngine::interrupt(JobId id) {
  Alive& job = alive_[id.value];
  CHECK(job.dispatch != 0, "only a running job is killed");
  if (meter_.meters()) meter_.end(id, loop_.now(), true);
  killed_.insert(job.dispatch);
  if (!leaving_.empty()) std::erase_if(leaving_, [&](const Coming& c) { return c.job == id; });
  if (has_tasks(id)) tasks_->stop(id, false);
  Duration all = job.run_time;  // what it kept before is lost too
  if (const auto before = interrupted_.extract(id); before && before.mapped().all > Duration{0}) {
    all = before.mapped().all;
  }
  ++waiting_;
  const std::uint32_t run = job.run;
  job = {all};
  job.run = run;
  return all;
}

void SimEngine::preempt(const Command& command) {
  Alive& job = alive_[command.job.value];
  CHECK(job.dispatch != 0, "only a running job gives way");
  if (command.how == Preemption::cancel) return end_early(command.job, Outcome::failed);
  killed_.insert(job.dispatch);
  if (has_tasks(command.job)) tasks_->stop(command.job, command.kept);
  Interrupted& interrupted = interrupted_[command.job];
  const Duration lately = interrupted.stands ? Duration{0} : loop_.now() - job.start;
  interrupted.kept = command.kept ? interrupted.ran + lately : Duration{0};
  if (!command.kept) job.run_time += interrupted.worked;
  interrupted.owed = command.pause;
  if (command.how == Preemption::checkpoint && options_.checkpoint > Duration{0}) {
    leaving_.push_back({loop_.now() + options_.checkpoint, job.dispatch, command.job, false});
    ring_by(leaving_.back().at);
  } else {
    vacate(command.job);
    ring_by(loop_.now());
  }
}

void SimEngine::end_early(JobId id, Outcome outcome) {
  const Alive& job = alive_[id.value];
  if (meter_.meters()) meter_.end(id, loop_.now(), true);
  killed_.insert(job.dispatch);
  if (tasks_) tasks_->forget(id);
  over(Finished{id, outcome, job.run});
  interrupted_.erase(id);
  if (!ledger_) alive_.retire(id.value);
  ring_by(loop_.now());
}

void SimEngine::vacate(JobId id) {
  Alive& job = alive_[id.value];
  Interrupted& interrupted = interrupted_[id];
  ++waiting_;
  if (meter_.meters()) meter_.end(id, loop_.now(), interrupted.kept == Duration{0});
  over(Vacated{id, interrupted.kept, job.run});
  if (interrupted.kept > Duration{0} && interrupted.all == Duration{0}) interrupted.all = job.run_time;
  const Duration lately = interrupted.kept - interrupted.ran;  // what it did before it stood still was taken off then
  if (!has_tasks(id)) job.run_time -= work_in(std::max(lately - interrupted.pause, Duration{0}), job.cpu_factor);
  job.dispatch = 0;
}

// It is there at once, and takes its time before it does any work.
void SimEngine::migrate(const Command& command) {
  Alive& job = alive_[command.job.value];
  CHECK(job.dispatch != 0, "only a running job moves");
  killed_.insert(job.dispatch);
  Interrupted& interrupted = interrupted_[command.job];
  if (interrupted.all == Duration{0}) interrupted.all = job.run_time;
  const Duration worked = std::max(loop_.now() - job.start - interrupted.pause, Duration{0});
  if (has_tasks(command.job)) {
    tasks_->stop(command.job, command.kept);
  } else {
    job.run_time = command.kept ? job.run_time - work_in(worked, job.cpu_factor) : interrupted.all;
  }
  interrupted.pause = command.pause;
  interrupted.ran = interrupted.worked = Duration{0};
  if (meter_.meters()) meter_.end(command.job, loop_.now(), !command.kept);
  run(job, command, command.pause);
}

void SimEngine::submit(const Arrival& arrival) {
  ++arrived_;
  ++waiting_;
  comes(arrival);
  ring_by(loop_.now());
}

bool SimEngine::forget_arrival(std::int64_t number) {
  const auto is_it = [&](const Happening& h) {
    const auto* job = std::get_if<Comes>(&h);
    return job && arrivals_[filling_][job->arrival].spec.number == number;
  };
  if (std::erase_if(happened(), is_it) == 0) return false;
  --waiting_;
  return true;
}

void SimEngine::not_started(JobId id) {
  happened().emplace_back(Vacated{id, Duration{0}});
  ring_by(loop_.now());
}

void SimEngine::cancel(JobId id) {
  const Alive& job = alive_[id.value];
  if (job.dispatch == 0) {
    --waiting_;
  } else {
    if (meter_.meters()) meter_.end(id, loop_.now(), true);
    killed_.insert(job.dispatch);
    if (has_tasks(id)) tasks_->stop(id, false);
    std::erase_if(leaving_, [&](const Coming& c) { return c.job == id; });
  }
  if (tasks_) tasks_->forget(id);
  over(Cancelled{id});
  interrupted_.erase(id);
  alive_.retire(id.value);
  ring_by(loop_.now());
}

}  // namespace rota::sim
