#include "serve/as_if_ours.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/never_fits.h"
#include "serve/awaited.h"

namespace rota::serve {
namespace {

// What a job waits for beside its turn.
struct Awaits {
  std::string why_not = {};  // nothing tells when that is over; empty: all of it stands here
  bool limit = false;
  bool any = false;
  bool singleton = false;  // for its user's jobs of its name, too
  std::vector<Dependency> after = {};
  Instant begins = kEpoch;  // not before
};

bool is_for_room(std::string_view reason) {
  constexpr std::array<std::string_view, 8> kForRoom{"None",     "Priority",          "Resources",  "BeginTime",
                                                     "Licenses", "JobArrayTaskLimit", "Dependency", "Reservation"};
  return reason.empty() || std::ranges::find(kForRoom, reason) != kForRoom.end() ||
         reason.starts_with("ReqNodeNotAvail") || reason.starts_with("Nodes required for job are");
}

// What is not found, or can never come, tells nothing.
void add_dependencies(std::string_view text, const JobEntry& entry, const TheirState& theirs, Awaits& awaits) {
  std::vector<std::string> texts;
  for (const std::string_view each : split(text, ' ')) texts.emplace_back(each);
  const auto after = parse_after(texts);
  if (!after) {
    awaits.why_not = "waits for something else: " + std::string(text.substr(0, text.find(':')));
    return;
  }
  Awaited awaited(theirs.jobs, theirs.view, *after);
  auto all = awaited.of_all();
  Result<void> by_index;
  if (all && awaited.by_index()) by_index = awaited.add_of(entry.index, *all);
  if (!all || !by_index) {
    awaits.why_not = "waits for a job that is not known, or for what can never come";
    return;
  }
  awaits.after = std::move(*all);
  awaits.any = after->any;
  awaits.singleton = after->singleton;
  awaits.begins = awaited.begins();
}

Awaits awaits_of(const Job& job, const JobEntry* entry, const TheirState& theirs) {
  Awaits awaits;
  if (job.spec.processors > theirs.machine.processors || never_fits(theirs.machine, job.spec)) {
    awaits.why_not = "asks for more than this cluster has, as far as is known";
    return awaits;
  }
  if (entry == nullptr) return awaits;
  const JobEntry::Heard& heard = entry->heard();
  const bool knows_it = theirs.reservations != nullptr && theirs.reservations->find(heard.reservation) != nullptr;
  if (!heard.reservation.empty() && !knows_it) {
    awaits.why_not = "waits in a reservation that is over, or is not of whole nodes";
    return awaits;
  }
  const auto& limits = theirs.machine.limits;
  awaits.limit = std::ranges::find(limits, heard.waits, &Limit::reason) != limits.end() && !heard.waits.empty();
  if (!awaits.limit && !is_for_room(heard.waits)) {
    awaits.why_not = "waits for something else: " + heard.waits;
    return awaits;
  }
  const bool needs_throttle = heard.waits == "JobArrayTaskLimit" && !theirs.throttles.contains(entry->about->array);
  if (needs_throttle) awaits.why_not = "waits for something else: " + heard.waits;
  if (!heard.after.empty()) add_dependencies(heard.after, *entry, theirs, awaits);
  if (heard.after.empty() && heard.waits == "Dependency") awaits.why_not = "waits for something else: " + heard.waits;
  return awaits;
}

// What singletons wait for: jobs of their user and name that run, or came before them. One that waits itself stands for
// all before it (Dependency::When::in_turn), so that a row of them needs one dependency a job.
class SameNames {
 public:
  explicit SameNames(const JobLookup& jobs) : jobs_(jobs) {}

  // First of all jobs that wait, then of all that run, then of those that wait, by id.
  void expect(JobId job) {
    if (const JobEntry* entry = jobs_.entry(job); is_singleton(entry)) latest_[name_of(*entry)];
  }
  void add(JobId job, bool waits) {
    const JobEntry* entry = latest_.empty() ? nullptr : jobs_.entry(job);
    const auto found = entry == nullptr ? latest_.end() : latest_.find(name_of(*entry));
    if (found == latest_.end()) return;
    if (waits && is_singleton(entry)) found->second.clear();
    found->second.push_back(job);
  }
  std::vector<Dependency> before(JobId job) const {
    std::vector<Dependency> after;
    const auto found = latest_.find(name_of(*jobs_.entry(job)));
    if (found == latest_.end()) return after;
    for (const JobId each : found->second) after.push_back({each, Dependency::When::in_turn});
    return after;
  }

 private:
  using Name = std::pair<std::uint32_t, std::string_view>;
  static bool is_singleton(const JobEntry* entry) {
    return entry != nullptr && entry->heard().after.contains("singleton");
  }
  static Name name_of(const JobEntry& entry) { return {entry.about->uid, entry.about->name}; }

  const JobLookup& jobs_;
  std::map<Name, std::vector<JobId>> latest_;
};

// Makes rows of jobs of others into rows of ours.
class Adopter {
 public:
  explicit Adopter(const TheirState& theirs) : theirs_(theirs), same_names_(theirs.jobs) {}

  void expect(const JobKept& kept) {
    if (kept.row.state == JobState::barred) same_names_.expect(kept.job);
  }
  void count_running(const JobKept& kept) {
    if (kept.row.state != JobState::running) return;
    if (throttle_of(kept.job) > 0) ++active_[array_of(kept.job)];
    same_names_.add(kept.job, false);
  }
  void adopt(JobKept& kept) {
    adopt_row(kept);
    if (!kept.row.gone() && kept.row.state != JobState::running) same_names_.add(kept.job, true);
  }

 private:
  void adopt_row(JobKept& kept) {
    Job& row = kept.row;
    if (row.ours() || row.gone()) return;
    const auto bars = static_cast<Bars>(row.bars & ~kNotOurs);
    if (row.state == JobState::running) {
      row.bars = bars;
      add_throttle(kept);
    }
    if (row.state != JobState::barred || (bars & kHolds) != 0) return;
    Awaits awaits = awaits_of(row, theirs_.jobs.entry(kept.job), theirs_);
    if (!awaits.why_not.empty()) return;
    row.bars = bars;
    const JobEntry* entry = theirs_.jobs.entry(kept.job);
    if (entry != nullptr && !entry->heard().reservation.empty())
      run_within(row.spec, theirs_.reservations->find(entry->heard().reservation)->id);
    if (awaits.singleton) std::ranges::copy(same_names_.before(kept.job), std::back_inserter(awaits.after));
    if (!awaits.after.empty() || awaits.begins > kEpoch) {
      JobTerms& terms = terms_of(kept);
      terms.after = std::move(awaits.after);
      terms.any = awaits.any;
      terms.begin = std::max(terms.begin, awaits.begins);
      if (!terms.after.empty()) row.bars |= kDependency;
      if (terms.begin > theirs_.view.now()) row.bars |= kBeginTime;
    }
    const std::uint32_t throttle = add_throttle(kept);
    if (throttle > 0 && row.bars == kNoBars && active_[array_of(kept.job)]++ >= throttle) row.bars = kArrayThrottle;
    if (awaits.limit && !theirs_.limits_at_start && row.bars == kNoBars) row.bars = kOverLimit;
    if (row.bars == kNoBars) row.state = JobState::waiting;
  }
  std::int64_t array_of(JobId job) const {
    const JobEntry* entry = theirs_.jobs.entry(job);
    return entry == nullptr ? 0 : entry->about->array;
  }
  std::uint32_t throttle_of(JobId job) const {  // 0: none
    const auto found = theirs_.throttles.find(array_of(job));
    return found == theirs_.throttles.end() ? 0 : found->second;
  }
  std::uint32_t add_throttle(JobKept& kept) const {
    const std::uint32_t throttle = throttle_of(kept.job);
    if (throttle == 0) return 0;
    JobTerms& terms = terms_of(kept);
    terms.array = array_of(kept.job);
    terms.throttle = throttle;
    return throttle;
  }
  static JobTerms& terms_of(JobKept& kept) {
    if (kept.has_terms) return kept.terms;
    kept.has_terms = true;
    kept.terms.limit = kept.row.spec.limit;
    kept.terms.priority = kept.row.spec.priority;
    kept.terms.partition = kept.row.spec.partition;
    return kept.terms;
  }

  const TheirState& theirs_;
  SameNames same_names_;
  std::map<std::int64_t, std::uint32_t> active_;  // tasks that run or may, by array
};

}  // namespace

std::string not_foretold(JobId id, const TheirState& theirs) {
  const Job* job = theirs.view.find_job(id);
  if (job == nullptr) return "is not known";
  return awaits_of(*job, theirs.jobs.entry(id), theirs).why_not;
}

std::vector<Fact> as_if_ours(std::vector<Fact> facts, const TheirState& theirs) {
  Adopter adopter(theirs);
  for (const Fact& fact : facts)
    if (const auto* kept = std::get_if<JobKept>(&fact.what)) adopter.expect(*kept);
  for (const Fact& fact : facts)
    if (const auto* kept = std::get_if<JobKept>(&fact.what)) adopter.count_running(*kept);
  for (Fact& fact : facts) {
    if (auto* planned = std::get_if<Replanned>(&fact.what)) planned->owes_try = planned->owes_plan = true;
    if (auto* kept = std::get_if<JobKept>(&fact.what)) adopter.adopt(*kept);
  }
  return facts;
}

}  // namespace rota::serve
