#include "engine/sim/engine.h"

#include <algorithm>

#include "base/check.h"

namespace rota::sim {

void SimEngine::open(EventSink& sink) {
  sink_ = &sink;
  draw();
  ring_next();
}

// In a closed loop the log gives the gaps between arrivals; else the arrivals themselves.
void SimEngine::draw() {
  next_ = source_.next();
  if (!next_) {
    due_ = kNever;
    return;
  }
  const Duration gap = next_->spec.submit - drawn_submit_;
  drawn_submit_ = next_->spec.submit;
  due_ = options_.queue_floor < 0 ? next_->spec.submit : loop_.now() + gap;
}

bool SimEngine::arrival_due(Instant now) const { return next_ && (due_ <= now || waiting_ <= options_.queue_floor); }

void SimEngine::take_arrival(Instant now) {
  if (options_.queue_floor >= 0) next_->spec.submit = now;
  jobs_.push_back({next_->run_time});
  ++waiting_;
  happened_.push_back({now, Submitted{next_->spec, next_->spec.limit}});
  draw();
}

void SimEngine::take_ends(Instant now) {
  while (!ends_.empty() && ends_.top().at <= now) {
    const Coming c = ends_.top();
    ends_.pop();
    if (stale(c)) continue;
    jobs_[c.job.value].dispatch = 0;
    happened_.push_back({now, Finished{c.job, c.what == Coming::What::timed_out}});
    if (options_.ties == Ties::submit_first) flush();
  }
}

void SimEngine::take_overdue(Instant now) {
  while (!overdue_.empty() && overdue_.top().at <= now) {
    const Coming c = overdue_.top();
    overdue_.pop();
    if (!stale(c)) happened_.push_back({now, Overdue{c.job}});
  }
}

void SimEngine::ring() {
  const Instant now = loop_.now();
  if (options_.ties == Ties::batch) {
    take_ends(now);
    take_overdue(now);
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
  }
  ring_next();
}

void SimEngine::flush() {
  if (happened_.empty() || !failure_) return;
  failure_ = sink_->deliver(happened_);
  happened_.clear();
}

void SimEngine::ring_next() {
  Instant at = next_ && waiting_ <= options_.queue_floor && jobs_.empty() ? loop_.now() : due_;
  if (!ends_.empty()) at = std::min(at, ends_.top().at);
  if (!overdue_.empty()) at = std::min(at, overdue_.top().at);
  if (!happened_.empty()) at = std::min(at, loop_.now());
  loop_.set(*this, failure_ ? at : kNever);
}

Result<void> SimEngine::dispatch(const Command& command) {
  SimJob& job = jobs_[command.job.value];
  switch (command.kind) {
    case Command::Kind::start: start(command); break;
    case Command::Kind::expect:
      if (job.end > command.expected_end) {
        overdue_.push({command.expected_end, job.dispatch, command.job, Coming::What::overdue});
      }
      break;
    case Command::Kind::kill: {
      CHECK(job.dispatch != 0, "only a running job is killed");
      job.dispatch = 0;
      ++waiting_;
      happened_.push_back({loop_.now(), Requeued{command.job, options_.resubmit == Resubmit::true_run_time
                                                                  ? job.run_time
                                                                  : Duration{0}}});
      loop_.set(*this, loop_.now());
      break;
    }
  }
  return {};
}

void SimEngine::start(const Command& command) {
  SimJob& job = jobs_[command.job.value];
  CHECK(job.dispatch == 0, "a job is started once");
  --waiting_;
  job.dispatch = ++dispatches_;
  const Instant natural_end = loop_.now() + job.run_time;
  job.end = std::min(natural_end, command.limit_end);
  const auto what = natural_end > command.limit_end ? Coming::What::timed_out : Coming::What::ended;
  ends_.push({job.end, job.dispatch, command.job, what});
  if (job.end > command.expected_end) {
    overdue_.push({command.expected_end, job.dispatch, command.job, Coming::What::overdue});
  }
}

}  // namespace rota::sim
