#include "serve/grace.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

// As things stand: what a rule that stops jobs for a promise has looked at and has let be.
std::string why_in_grace(const Desk& desk, const JobBook& book, const Job& job) {
  const Overrun overrun = desk.chain().knobs().overrun;
  if (overrun == Overrun::run_on) return "under this rule every job goes on, and starts that were promised move";
  if (overrun == Overrun::fixed) return "under this rule every job may go on for so long";
  if (!job.backfilled)
    return "it was started in its turn, and only jobs that went ahead of others are stopped for them";
  const WaitingEntry* head = desk.view().waiting().head();
  if (head == nullptr) return "no job waited";
  const Job& first = desk.view().job(head->job);
  const std::string which = fmt::format("job {}, first in the queue, ", book.shown(head->job));
  if (first.promise == kNever) return which + "was promised no start";
  if (first.promise > desk.now())
    return fmt::format("{}was promised a start at {} and no sooner", which, desk.loop().date_of(first.promise));
  return which + "could not have started in its place";
}

}  // namespace

std::string overrun_rule(const ChainKnobs& knobs) {
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

store::Grace grace_of(const Desk& desk, const JobLookup& jobs, JobId id, const Job& job, Instant until) {
  const JobEntry* entry = jobs.book().find(id);
  if (entry == nullptr || job.start == kNever || until == kNever || until <= job.limit_end()) return {};
  const JobEntry::Grace& noted = entry->heard().grace;
  const std::string rule = noted.rule.empty() && !job.gone() ? overrun_rule(desk.chain().knobs()) : noted.rule;
  if (rule.empty()) return {};
  if (job.stopping) return {until - job.limit_end(), rule, "it was told to stop"};  // what it holds is needed meanwhile
  if (!noted.why.empty()) return {until - job.limit_end(), rule, noted.why};
  const bool so_now = rule == overrun_rule(desk.chain().knobs()) && !jobs.ends_at_limit(job);
  return {until - job.limit_end(), rule,
          so_now || job.gone() ? why_in_grace(desk, jobs.book(), job) : "that is over, and it is being ended"};
}

std::string grace_text(const store::Grace& grace, bool runs) {
  return fmt::format("{}{} beyond its limit under overrun={}: {}.", runs ? "It runs " : "It was let run ",
                     format_duration(grace.over), grace.rule, grace.why);
}

}  // namespace rota::serve
