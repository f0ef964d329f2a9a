// Jobs that are let run beyond their limits: under which rule, and why that harms no other. It is told while they run,
// and kept in their rows of the history.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "serve/service.h"
#include "serve/told_start.h"

namespace rota::serve {
namespace {

// As the knob is written; empty: a limit is the end.
std::string rule_of(const ChainKnobs& knobs) {
  switch (knobs.overrun) {
    case Overrun::kill:
      return {};
    case Overrun::fixed:
      return format_duration(knobs.grace);
    case Overrun::run_on:
      return "run-on";
    case Overrun::strict:
      return "strict";
    case Overrun::rb_har:
      return "rb-har";
    case Overrun::rb_har_literal:
      return "rb-har-literal";
    case Overrun::grace:
      return "grace";
  }
  return {};
}

constexpr char kBetween = '\n';  // rule and reason, as the store keeps them

}  // namespace

// Its time is up, or a rule has just decided that it may go on for a while.
void Service::note_grace(JobId id, std::string why) {
  JobEntry* entry = book_.find(id);
  const std::string rule = rule_of(desk_.chain().knobs());
  if (entry == nullptr || rule.empty()) return;
  JobEntry::Grace& grace = entry->hear().grace;
  if (!grace.rule.empty() && why.empty()) return;  // the first that let it go on
  grace = {rule, std::move(why)};
  keep(kGrace, id, grace.rule + kBetween + grace.why);
}

void Service::forget_grace(JobId id, JobEntry& entry) {
  if (entry.heard().grace.rule.empty()) return;
  entry.hear().grace = {};
  keep(kGrace, id, "");
}

JobEntry::Grace Service::read_grace(const std::string& text) {
  const std::size_t between = std::min(text.find(kBetween), text.size());
  return {text.substr(0, between), text.substr(std::min(between + 1, text.size()))};
}

// Where an overrun rule stops a job: for which other one, and what becomes of it.
void Service::note_stop(const View& before, const Stopped& fact) {
  if (fact.for_good || fact.reason.rule != Rule::promise_due) return;
  const Job& job = before.job(fact.job);
  const JobId promised = fact.reason.promised;
  const Duration over = std::max(before.now() - job.limit_end(), Duration{0});
  const Duration next = next_limit(desk_, job);
  note_of_job(
      fact.job,
      fmt::format("It was stopped at {} under overrun={}, {} beyond its limit, {}{}",
                  desk_.loop().date_of(before.now()), rule_of(desk_.chain().knobs()), format_duration(over),
                  promised.valid() ? fmt::format("for job {}, which was promised a start at {}", book_.shown(promised),
                                                 desk_.loop().date_of(fact.reason.promise))
                                   : std::string("since the time for which it was let go on was over"),
                  job.spec.restart == Restart::once ? ". It must not run again (--no-requeue)."
                  : next == job.spec.limit
                      ? ". It waits again, with the same limit."
                      : fmt::format(". It waits again, with a limit of {}; `rota update` sets another.",
                                    format_duration(next))));
}

std::string Service::why_extended(const Extended& fact) const {
  const Reason& why = fact.reason;
  if (!why.promised.valid()) return "no job that was promised a start needed what it held";
  return fmt::format(
      "job {}, promised a start at {}, asked for {}, of which {} were free beside it, and no other job could have "
      "started; it was let go on until {}",
      book_.shown(why.promised), desk_.loop().date_of(why.promise), amount(why.needed, "processor"),
      grouped(std::max<std::int64_t>(0, why.free)), desk_.loop().date_of(fact.until));
}

// As things stand: what a rule that stops jobs for a promise has looked at and has let be.
std::string Service::why_in_grace(const Job& job) const {
  const Overrun overrun = desk_.chain().knobs().overrun;
  if (overrun == Overrun::run_on) return "under this rule every job goes on, and starts that were promised move";
  if (overrun == Overrun::fixed) return "under this rule every job may go on for so long";
  if (!job.backfilled)
    return "it was started in its turn, and only jobs that went ahead of others are stopped for them";
  const WaitingEntry* head = desk_.view().waiting().head();
  if (head == nullptr) return "no job waited";
  const Job& first = desk_.view().job(head->job);
  const std::string who = fmt::format("job {}, first in the queue, ", book_.shown(head->job));
  if (first.promise == kNever) return who + "was promised no start";
  if (first.promise > desk_.now())
    return fmt::format("{}was promised a start at {} and no sooner", who, desk_.loop().date_of(first.promise));
  return who + "could not have started in its place";
}

bool Service::ends_at_limit(const Job& job) const {
  const RunProbe* probe = desk_.engine().run_probe();
  return job.steady() && probe && probe->ends_at_limit(book_.numbered(job.spec.number));
}

LateEnds Service::late_ends() const {
  LateEnds late;
  const Duration grace = desk_.chain().knobs().overrun == Overrun::fixed ? desk_.chain().knobs().grace : Duration{0};
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    const Job& job = desk_.view().job(entry.job);
    const JobEntry* known = book_.find(entry.job);
    const bool is_killed = known != nullptr && ends_at_limit(job);
    if (job.suspended() || (!is_killed && !has_passed(job.expected_end(), desk_.now()))) return true;
    const Instant end = job.limit_end() + (is_killed ? grace + known->about->kill_wait : Duration{0});
    late.emplace(entry.job, has_passed(end, desk_.now()) ? kNever : end);
    return true;
  });
  return late;
}

HeldAccelerators Service::accelerators_of(JobId job) const {
  const RunProbe* probe = desk_.engine().run_probe();
  return probe ? held_accelerators(*desk_.machine(), probe->accelerators_of(job)) : HeldAccelerators{};
}

bool Service::holds_stopped(JobId job) const {
  const RunProbe* probe = desk_.engine().run_probe();
  return probe && probe->holds_stopped(job);
}

std::string_view Service::state_of(const Job& job) const { return ends_at_limit(job) ? "COMPLETING" : state_word(job); }

store::Grace Service::grace_of(JobId id, const Job& job, Instant until) const {
  const JobEntry* entry = book_.find(id);
  if (entry == nullptr || job.start == kNever || until == kNever || until <= job.limit_end()) return {};
  const JobEntry::Grace& noted = entry->heard().grace;
  const std::string rule = noted.rule.empty() && !job.gone() ? rule_of(desk_.chain().knobs()) : noted.rule;
  if (rule.empty()) return {};
  if (job.stopping) return {until - job.limit_end(), rule, "it was told to stop"};  // what it holds is needed meanwhile
  if (!noted.why.empty()) return {until - job.limit_end(), rule, noted.why};
  const bool so_now = rule == rule_of(desk_.chain().knobs()) && !ends_at_limit(job);
  return {until - job.limit_end(), rule,
          so_now || job.gone() ? why_in_grace(job) : "that is over, and it is being ended"};
}

std::string grace_text(const store::Grace& grace, bool runs) {
  return fmt::format("{}{} beyond its limit under overrun={}: {}.", runs ? "It runs " : "It was let run ",
                     format_duration(grace.over), grace.rule, grace.why);
}

}  // namespace rota::serve
