#include "serve/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "model/never_fits.h"
#include "model/shortage.h"
#include "serve/grace.h"
#include "serve/reserved.h"
#include "serve/told_start.h"
#include "serve/what_if.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kMostTried = 20'000;  // jobs that are known: beyond that nothing is tried

Instant start_among(const std::vector<std::pair<JobId, Instant>>& starts, JobId id) {
  const auto found = std::ranges::find(starts, id, &std::pair<JobId, Instant>::first);
  return found == starts.end() ? kNever : found->second;
}

// Which of those that it waits for have ended otherwise than it needs, as sentences, as far as the history goes back.
std::string ended_otherwise(const View& view, const JobLookup& jobs, JobId id) {
  constexpr std::size_t kMostLooked = 10;
  using When = Dependency::When;
  const JobTerms* terms = view.eligibility().terms(id);
  std::string out;
  std::size_t looked = 0;
  for (std::size_t i = 0; terms != nullptr && i < terms->after.size() && looked < kMostLooked; ++i) {
    const Dependency& on = terms->after[i];
    const bool known = view.knows(on.on) && !view.job(on.on).gone();
    if (known || (on.when != When::succeeded && on.when != When::failed)) continue;
    ++looked;
    const auto row = jobs.history_of(on.on);
    if (!row || !*row || ((*row)->state == "COMPLETED") == (on.when == When::succeeded)) continue;
    if (on.group.valid()) {
      out += fmt::format(" A task of array {} was to fail (afternotok), and none has.", (*row)->array);
      continue;
    }
    out += fmt::format(" Job {}{}, and has ended as {}.", (*row)->shown(),
                       on.when == When::succeeded ? " was to end well (afterok)" : " was to fail (afternotok)",
                       (*row)->state);
  }
  return out;
}

bool share_licences(const JobSpec& a, const JobSpec& b) {
  bool shared = false;
  each_licence(a, [&](LicenceId own, std::uint32_t) {
    each_licence(b, [&](LicenceId other, std::uint32_t) { shared |= own == other; });
  });
  return shared;
}

// "job 1 has no time limit", "jobs 1 and 4 have no time limit", of many the first and how many more.
std::string no_limit_text(const JobBook& book, const std::vector<JobId>& jobs) {
  const std::string first = book.shown(jobs.front());
  if (jobs.size() == 1) return fmt::format("job {} has no time limit", first);
  if (jobs.size() == 2) return fmt::format("jobs {} and {} have no time limit", first, book.shown(jobs[1]));
  return fmt::format("job {} and {} more have no time limit", first, grouped(std::ssize(jobs) - 1));
}

}  // namespace

// The jobs that the queue's order puts before it, as far as they want licences that it wants, or compete for nodes that
// it could use: the latter are those that its reason means, too.
void Explainer::add_ahead(JobId id, Explanation& to) const {
  constexpr std::size_t kMostLookedAt = 1000;  // closely
  const Job& own = desk_.view().job(id);
  const WaitingEntry::Key own_place = desk_.view().waiting().queue_place(own);
  std::vector<std::pair<WaitingEntry::Key, JobId>> ahead;
  desk_.view().for_each_job([&](JobId other, const Job& job) {
    if (job.state != JobState::waiting || other == id) return;
    if (reservations_.of(job.spec) != reservations_.of(own.spec)) return;
    const WaitingEntry::Key place = desk_.view().waiting().queue_place(job);
    if (!(place < own_place)) return;
    if (reasons_.share_nodes(own.spec.partition, job.spec.partition) || share_licences(own.spec, job.spec))
      ahead.emplace_back(place, other);
  });
  std::ranges::sort(ahead, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t looked = 0;
  std::erase_if(ahead, [&](const auto& each) {
    const Job& job = desk_.view().job(each.second);
    if (looked++ >= kMostLookedAt || job.promise != kNever || reasons_.competes(job.spec)) return false;
    return reasons_.lacks_nodes(job.spec) || !share_licences(own.spec, job.spec);
  });
  for (const auto& [place, job] : ahead) {
    if (to.ahead.size() == kMostNamed) break;
    to.ahead.push_back({job, told_start(desk_.view().job(job).promise, desk_.now())});
  }
  to.more_ahead = static_cast<std::int64_t>(ahead.size() - to.ahead.size());
}

// All jobs that wait are before one that is not there yet.
std::string Explainer::endless_before(const JobSpec& spec, JobId id) const {
  std::vector<JobId> running, waiting, stopped;
  const auto own = id.valid() ? std::optional(desk_.view().waiting().queue_place(desk_.view().job(id))) : std::nullopt;
  desk_.view().for_each_job([&](JobId other, const Job& job) {
    const bool runs = job.state == JobState::running;
    if (other == id || !(runs || job.state == JobState::waiting)) return;
    if (!reasons_.share_nodes(spec.partition, job.spec.partition)) return;
    if (job.suspended()) stopped.push_back(other);
    if (job.spec.limit < kLongest) return;
    if (runs) running.push_back(other);
    if (!runs && (!own || desk_.view().waiting().queue_place(job) < *own)) waiting.push_back(other);
  });
  const std::vector<JobId>& endless = running.empty() ? waiting : running;
  if (!endless.empty()) {
    return fmt::format("{}; `rota submit --time` gives a job one, and so does `rota update {} --time`",
                       no_limit_text(jobs_.book(), endless), jobs_.book().shown(endless.front()));
  }
  if (stopped.empty()) return {};
  const std::string which = jobs_.book().shown(stopped.front());
  return fmt::format("job {} is suspended; `rota resume {}` lets it go on", which, which);
}

// Why a job that may be before another one has not left yet, where it should have ended by now, or was told to leave.
std::string Explainer::why_it_lasts(JobId id, const Job& job) const {
  const std::string which = "job " + jobs_.book().shown(id);
  if (job.leaving) return which + " was told to give way and has not left yet";
  if (job.stopping) return which + " was told to stop and has not ended yet";
  if (job.suspended() || desk_.now() - job.limit_end() <= kDue) return {};
  const std::string due = fmt::format("{} was to end by {}", which, desk_.loop().date_of(job.limit_end()));
  const store::Grace grace = grace_of(desk_, jobs_, id, job, desk_.now());
  if (!grace.rule.empty()) return fmt::format("{} and goes on beyond its limit under overrun={}", due, grace.rule);
  return due + " and has not ended yet";
}

std::string Explainer::late_before(const JobSpec& spec) const {
  std::string why;
  Instant first = kNever;
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    const Job& job = desk_.view().job(entry.job);
    if (job.limit_end() >= first || !reasons_.share_nodes(spec.partition, job.spec.partition)) return true;
    if (std::string lasts = why_it_lasts(entry.job, job); !lasts.empty()) {
      why = std::move(lasts);
      first = job.limit_end();
    }
    return true;
  });
  return why;
}

std::string Explainer::start_unknown(const JobSpec& spec, JobId id, Instant start) const {
  const std::string late = late_before(spec);
  if (has_passed(start, desk_.now())) {
    return fmt::format("{} was planned and has passed: {}", desk_.loop().date_of(start),
                       late.empty() ? "what is before it takes longer than was counted on" : late);
  }
  const std::string endless = endless_before(spec, id);
  if (!endless.empty()) return endless;
  return late.empty() ? "what is before it has no end that is known" : late;
}

Explanation Explainer::explain(JobId id) const {
  Explanation to;
  const Job& job = desk_.view().job(id);
  if (job.state != JobState::waiting && job.state != JobState::barred) return to;
  const PendingReason reason = reasons_.reason_of(id, Telling::sentence);
  to.reason = reason.word;
  to.why = reason.sentence;
  if ((job.bars & (kHolds | kNeverAgain)) == kNeverAgain) to.why += ended_otherwise(desk_.view(), jobs_, id);
  if (jobs_.holds_stopped(id))
    to.facts.push_back(
        fmt::format("It was stopped to give way after {} of run time, and goes on where it was; its processes are "
                    "there, with their memory.",
                    format_duration(Duration{job.done.count() / 1000 * 1000})));
  to.facts.push_back(fmt::format(
      "It asks for {}{}; {} of {}{}", asked_text(desk_.machine().get(), job.spec),
      job.spec.limit < kLongest ? " for at most " + limit_text(job.spec.limit) : std::string(" and has no time limit"),
      grouped(std::max<std::int64_t>(0, desk_.view().free())), amount(desk_.machine()->processors, "processor"),
      job.spec.node_wish
          ? " are free, and of the nodes that it asks for: " + shortage(desk_.view(), job.spec, true) + "."
      : desk_.machine()->partitions.size() > 1 ? std::string(" are free, of all partitions.")
                                               : std::string(" are free.")));
  if (job.state == JobState::barred) return to;
  to.promise = to.at_the_latest = told_start(job.promise, desk_.now());
  add_ahead(id, to);
  add_reservation(job, to);
  if (jobs_.book().size() > kMostTried) {
    to.facts.push_back("There are too many jobs here to try what would let it start sooner.");
    return to;
  }
  if (!trials_.run([&] { try_remedies(id, to); }))
    to.facts.push_back(
        "Too much is asked of the service to try what would let it start sooner; ask again in a moment.");
  if (to.at_the_latest == kNever && job.promise != kNever) to.start_unknown = start_unknown(job.spec, id, job.promise);
  return to;
}

// The next one that it would run into if it started now, where it waits for something else.
void Explainer::add_reservation(const Job& job, Explanation& to) const {
  const Reservation* const next = to.reason == "Reservation" ? nullptr : first_reserved_for(desk_.view(), job);
  if (next == nullptr) return;
  const bool could = next->nodes.empty() || std::ranges::any_of(next->nodes, [&](NodeId node) {
                       return may_serve(*desk_.machine(), job.spec, node);
                     });
  if (could) to.facts.push_back(reservations_.text_of(*next));
}

void Explainer::try_remedies(JobId id, Explanation& to) const {
  const WhatIf own(desk_.controller().snapshot(), desk_.now(), cluster_options(desk_), desk_.chain(), late_ends());
  const Planned plan = planned("conservative");
  const WhatIf by_limits = own.under(plan.options, plan.chain);
  if (to.at_the_latest == kNever) {
    const Instant start = start_among(by_limits.starts(), id);
    to.at_the_latest = told_start(start, desk_.now());
    if (start != to.at_the_latest) to.start_unknown = start_unknown(desk_.view().job(id).spec, id, start);
  }
  to.remedies = remedies(own, by_limits, *desk_.machine(), id, desk_.view().job(id).spec);
  for (Remedy& remedy : to.remedies) {
    if (remedy.start == kNever) remedy.start = own.now();
  }
  const JobEntry* entry = jobs_.book().find(id);
  if (entry != nullptr && entry->about->exclusive)  // fewer processors are as many whole nodes
    std::erase_if(to.remedies, [](const Remedy& remedy) { return remedy.processors.has_value(); });
}

LateEnds Explainer::late_ends() const {
  LateEnds late;
  const Duration grace = desk_.chain().knobs().overrun == Overrun::fixed ? desk_.chain().knobs().grace : Duration{0};
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    const Job& job = desk_.view().job(entry.job);
    const JobEntry* known = jobs_.book().find(entry.job);
    const bool is_killed = known != nullptr && jobs_.ends_at_limit(job);
    if (job.suspended() || (!is_killed && !has_passed(job.expected_end(), desk_.now()))) return true;
    const Instant end = job.limit_end() + (is_killed ? grace + known->about->kill_wait : Duration{0});
    late.emplace(entry.job, has_passed(end, desk_.now()) ? kNever : end);
    return true;
  });
  return late;
}

// Nodes are switched as they are now, so that jobs wait for those that sleep no longer than that takes.
Explainer::Planned Explainer::planned(const std::string& policy) const {
  constexpr std::string_view kPlain = "fcfs";
  const Chain plain = plain_mode_of(desk_.chain());
  CHECK(plain.text().starts_with(kPlain), "the order of the queue, and what switches nodes");
  auto chain = Chain::parse(policy + plain.text().substr(kPlain.size()));
  if (!chain) chain = Chain::parse(policy);
  CHECK(chain, "a policy of the program's own");
  ClusterOptions options = cluster_options(desk_);
  const WaitingOptions own = options.waiting;
  chain->ask(options);
  options.waiting.queue = own.queue;
  options.waiting.candidates = own.candidates;
  return {std::move(options), std::move(*chain)};
}

std::vector<std::pair<JobId, Instant>> Explainer::starts_by(const std::string& policy) const {
  const Planned plan = planned(policy);
  return WhatIf(desk_.controller().snapshot(), desk_.now(), plan.options, plan.chain, late_ends()).starts();
}

Trial Explainer::start_of_new(const JobSpec& spec) const {
  Trial trial;
  trials_.run([&] { trial = try_new(spec); });
  return trial;
}

Trial Explainer::try_new(const JobSpec& spec) const {
  if (jobs_.book().size() > kMostTried) return {};
  const WhatIf own(desk_.controller().snapshot(), desk_.now(), cluster_options(desk_), desk_.chain(), late_ends());
  const Start start = own.start_of_new(spec);
  if (const Instant at = told_start(start.at, desk_.now()); at != kNever) return {.expected = at};
  const Planned plan = planned("conservative");
  const Start by_limits = own.under(plan.options, plan.chain).start_of_new(spec);
  if (const Instant at = told_start(by_limits.at, desk_.now()); at != kNever) return {.latest = at};
  if (start.at == kNever && by_limits.at == kNever) {
    if (!reasons_.lacks_nodes(spec)) return {};
    return {.start_unknown = "too few of the nodes that it could use are in service: " + reasons_.nodes_lacking(spec)};
  }
  return {.start_unknown = start_unknown(spec, {}, start.at != kNever ? start.at : by_limits.at)};
}

}  // namespace rota::serve
