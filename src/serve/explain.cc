#include "serve/explain.h"

#include <algorithm>

#include "base/text.h"
#include "model/shortage.h"
#include "serve/service.h"
#include "serve/what_if.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kMostTried = 20'000;  // jobs that are known: beyond that nothing is tried

// Those that the queue's order puts before it.
void add_ahead(const View& view, JobId id, Explanation& to) {
  const WaitingEntry::Key own = view.waiting().queue_place(view.job(id));
  std::vector<std::pair<WaitingEntry::Key, JobId>> ahead;
  view.for_each_job([&](JobId other, const Job& job) {
    if (job.state != JobState::waiting || other == id) return;
    const WaitingEntry::Key place = view.waiting().queue_place(job);
    if (place < own) ahead.emplace_back(place, other);
  });
  std::ranges::sort(ahead, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, job] : ahead) {
    if (to.ahead.size() == kMostNamed) break;
    to.ahead.push_back({job, view.job(job).promise});
  }
  to.more_ahead = static_cast<std::int64_t>(ahead.size() - to.ahead.size());
}

Instant start_among(const std::vector<std::pair<JobId, Instant>>& starts, JobId id) {
  const auto found = std::ranges::find(starts, id, &std::pair<JobId, Instant>::first);
  return found == starts.end() ? kNever : found->second;
}

// Which of those that it waits for have ended otherwise than it needs, as sentences, as far as the history goes back.
std::string ended_otherwise(const Service& service, JobId id) {
  constexpr std::size_t kMostLooked = 10;
  using When = Dependency::When;
  const JobTerms* terms = service.view().eligibility().terms(id);
  std::string out;
  std::size_t looked = 0;
  for (std::size_t i = 0; terms != nullptr && i < terms->after.size() && looked < kMostLooked; ++i) {
    const Dependency& on = terms->after[i];
    const bool known = service.view().knows(on.on) && !service.view().job(on.on).gone();
    if (known || (on.when != When::succeeded && on.when != When::failed)) continue;
    ++looked;
    const auto row = service.history_of(on.on);
    if (!row || !*row || ((*row)->state == "COMPLETED") == (on.when == When::succeeded)) continue;
    if (on.group.valid()) {
      out += " A task of array " + std::to_string((*row)->array) + " was to fail (afternotok), and none has.";
      continue;
    }
    out += " Job " +
           ((*row)->array > 0 ? shown_task((*row)->array, (*row)->array_index) : service.book().shown(on.on)) +
           (on.when == When::succeeded ? " was to end well (afterok)" : " was to fail (afternotok)") +
           ", and has ended as " + (*row)->state + ".";
  }
  return out;
}

}  // namespace

Explanation Service::explain(JobId id) {
  Explanation to;
  const Job& job = view().job(id);
  if (job.state != JobState::waiting && job.state != JobState::barred) return to;
  const PendingReason reason = reason_of(id, Telling::sentence);
  to.reason = reason.word;
  to.why = reason.sentence;
  if ((job.bars & (kHolds | kNeverAgain)) == kNeverAgain) to.why += ended_otherwise(*this, id);
  to.facts.push_back("It asks for " + asked_text(machine_.get(), job.spec) +
                     (job.spec.limit < kLongest ? " for at most " + format_duration(job.spec.limit)
                                                : std::string(" and has no time limit")) +
                     "; " + grouped(std::max<std::int64_t>(0, view().free())) + " of " + grouped(machine_->processors) +
                     " are free.");
  if (job.promise != kNever && job.promise - view().now() < kTooFar) to.at_the_latest = job.promise;
  if (job.state == JobState::barred) return to;
  add_ahead(view(), id, to);
  if (book_.size() > kMostTried) {
    to.facts.push_back("There are too many jobs here to try what would let it start sooner.");
    return to;
  }
  if (!trials_.run([&] { try_remedies(id, to); }))
    to.facts.push_back(
        "Too much is asked of the service to try what would let it start sooner; ask again in a moment.");
  return to;
}

void Service::try_remedies(JobId id, Explanation& to) const {
  const WhatIf own(*controller_, cluster_options(), *chain_);
  const Planned plan = planned("conservative");
  const WhatIf by_limits = own.under(plan.options, plan.chain);
  if (to.at_the_latest == kNever) to.at_the_latest = start_among(by_limits.starts(), id);
  to.remedies = remedies(own, by_limits, *machine_, id, view().job(id).spec);
  const JobEntry* entry = book_.find(id);
  if (entry != nullptr && entry->about->exclusive)  // fewer processors are as many whole nodes
    std::erase_if(to.remedies, [](const Remedy& remedy) { return remedy.processors.has_value(); });
}

// Nodes are switched as they are now, so that jobs wait for those that sleep no longer than that takes.
Service::Planned Service::planned(const std::string& policy) const {
  constexpr std::string_view kPlain = "fcfs";
  const Chain plain = plain_mode_of(*chain_);
  CHECK(plain.text().starts_with(kPlain), "the order of the queue, and what switches nodes");
  auto chain = Chain::parse(policy + plain.text().substr(kPlain.size()));
  if (!chain) chain = Chain::parse(policy);
  CHECK(chain, "a policy of the program's own");
  ClusterOptions options = cluster_options();
  const WaitingOptions own = options.waiting;
  chain->ask(options);
  options.waiting.queue = own.queue;
  options.waiting.candidates = own.candidates;
  return {std::move(options), std::move(*chain)};
}

std::vector<std::pair<JobId, Instant>> Service::starts_by(const std::string& policy) const {
  const Planned plan = planned(policy);
  return WhatIf(*controller_, plan.options, plan.chain).starts();
}

// Whoever is promised no start by the policy is told one by its limits, as those are who wait.
Trial Service::start_of_new(const JobSpec& spec) const {
  if (book_.size() > kMostTried) return {};
  const auto can_be_told = [&](Instant at) { return at != kNever && at - view().now() < kTooFar; };
  const WhatIf own(*controller_, cluster_options(), *chain_);
  if (const Start start = own.start_of_new(spec); can_be_told(start.at)) return {.expected = start.at};
  const Planned plan = planned("conservative");
  const Start by_limits = own.under(plan.options, plan.chain).start_of_new(spec);
  if (can_be_told(by_limits.at)) return {.latest = by_limits.at};
  return {};
}

}  // namespace rota::serve
