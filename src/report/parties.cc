#include "report/parties.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "report/metrics.h"

namespace rota::report {
namespace {

constexpr std::uint32_t kNoParty = UINT32_MAX;

struct Kind {
  const char* name;
  const char* one;  // before a number that has no name
  std::uint32_t (*of)(const Outcome&, std::size_t);
  const std::map<std::uint32_t, std::string>& (*names)(const JobLabels&);
};

std::uint32_t label(const Outcome& outcome, const std::vector<std::uint32_t> JobLabels::* member, std::size_t i) {
  if (!outcome.labels) return kNoParty;
  const auto& all = (*outcome.labels).*member;
  return i < all.size() ? all[i] : kNoParty;
}

constexpr Kind kKinds[] = {
    {"user", "user ", [](const Outcome& o, std::size_t i) { return o.jobs[i].spec.user; },
     [](const JobLabels& labels) -> const auto& { return labels.users; }},
    {"group (account)", "group ", [](const Outcome& o, std::size_t i) { return o.jobs[i].spec.group; },
     [](const JobLabels& labels) -> const auto& { return labels.groups; }},
    {"partition", "partition ", [](const Outcome& o, std::size_t i) { return label(o, &JobLabels::partition, i); },
     [](const JobLabels& labels) -> const auto& { return labels.partitions; }},
    {"queue (QOS)", "queue ", [](const Outcome& o, std::size_t i) { return label(o, &JobLabels::queue, i); },
     [](const JobLabels& labels) -> const auto& { return labels.queues; }},
};

using Outcomes = std::span<const Outcome* const>;

// The numbers of all parties, by processor time in the first outcome from the most on; of the same, by number. Others
// may tell of parties that the first does not: schedules of other programs do.
std::vector<std::uint32_t> by_use(Outcomes outcomes, const Kind& kind) {
  std::map<std::uint32_t, double> use;
  for (const Outcome* outcome : outcomes) {
    for (std::size_t i = 0; i < outcome->jobs.size(); ++i) {
      const std::uint32_t party = kind.of(*outcome, i);
      if (party == kNoParty) continue;
      const Job& job = outcome->jobs[i];
      const bool counts = outcome == outcomes.front() && job.ended();
      use[party] += counts ? to_seconds(job.run_time()) * job.spec.processors : 0;
    }
  }
  std::vector<std::uint32_t> order;
  order.reserve(use.size());
  for (const auto& [party, seconds] : use) order.push_back(party);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t party) { return use.at(party); });
  return order;
}

// Jobs that ended, added up.
class Sum {
 public:
  void add(const Job& job) {
    ++figures_.jobs;
    const Duration wait = job.wait();
    waits_.push_back(std::max<std::int64_t>(wait.count(), 0));
    slowdown_ += bounded_slowdown(wait, std::max(job.run_time(), Duration{1}));
  }
  PartyFigures conclude() {
    if (figures_.jobs == 0) return figures_;
    const auto n = static_cast<double>(figures_.jobs);
    double all = 0;
    for (const std::int64_t wait : waits_) all += static_cast<double>(wait);
    figures_.wait_mean = all / n / 1000;
    figures_.wait_max = static_cast<double>(std::ranges::max(waits_)) / 1000;
    figures_.wait_p95 = quantile(waits_, 0, 0.95) / 1000;
    figures_.wait_median = quantile(waits_, 0, 0.5) / 1000;
    figures_.bounded_slowdown = slowdown_ / n;
    return figures_;
  }

 private:
  PartyFigures figures_;
  std::vector<std::int64_t> waits_;
  double slowdown_ = 0;
};

std::string name_of(Outcomes outcomes, const Kind& kind, std::uint32_t party) {
  for (const Outcome* outcome : outcomes) {
    if (!outcome->labels) continue;
    const auto& names = kind.names(*outcome->labels);
    if (const auto named = names.find(party); named != names.end()) return named->second;
  }
  return kind.one + std::to_string(party);
}

// Which parties have a row of their own; where there are more than `most`, the last row is for all others together.
struct Shown {
  std::size_t all = 0;  // how many there are
  std::vector<std::string> names;
  std::map<std::uint32_t, std::size_t> places;

  Shown(Outcomes outcomes, const Kind& kind, std::size_t most) {
    const std::vector<std::uint32_t> order = by_use(outcomes, kind);
    all = order.size();
    const std::size_t named = all > most ? most - 1 : all;
    for (std::size_t row = 0; row < named; ++row) {
      places[order[row]] = row;
      names.push_back(name_of(outcomes, kind, order[row]));
    }
    if (named < all) names.push_back(std::to_string(all - named) + " others");
  }
  // The row of a party of one of the outcomes.
  std::optional<std::size_t> row_of(std::uint32_t party) const {
    if (party == kNoParty) return std::nullopt;
    if (const auto at = places.find(party); at != places.end()) return at->second;
    CHECK(names.size() > places.size(), "a party without a row of its own is one of the others");
    return names.size() - 1;
  }
};

std::vector<PartyFigures> figures_of(const Outcome& outcome, const Kind& kind, const Shown& shown) {
  std::vector<Sum> sums(shown.names.size());
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const auto row = shown.row_of(kind.of(outcome, i));
    if (row && outcome.jobs[i].ended()) sums[*row].add(outcome.jobs[i]);
  }
  std::vector<PartyFigures> figures;
  figures.reserve(sums.size());
  for (Sum& sum : sums) figures.push_back(sum.conclude());
  return figures;
}

// What really became of a rehearsed job, where that is among the outcomes and tells when it started; else nullptr.
const Job* recorded_job(Outcomes outcomes, const Outcome& rehearsal, std::size_t i) {
  const auto recorded = std::ranges::find_if(outcomes, [](const Outcome* outcome) { return outcome->recorded; });
  if (rehearsal.recorded || recorded == outcomes.end() || i >= (*recorded)->jobs.size()) return nullptr;
  const Job& job = (*recorded)->jobs[i];
  return job.ended() && job.spec.number == rehearsal.jobs[i].spec.number ? &job : nullptr;
}

// Accounts that have a row of their own.
void add_shares(const Outcome& outcome, const Shown& shown, std::vector<PartySummaries>& all) {
  for (PartySummaries& party : all) party.shares.emplace_back();
  for (const auto& [group, use] : share_use_of(outcome))
    if (const auto place = shown.places.find(group); place != shown.places.end())
      all[place->second].shares.back() = use;
}

}  // namespace

std::vector<Parties> parties_of(std::span<const Outcome> outcomes) {
  std::vector<Parties> all;
  std::vector<const Outcome*> every;
  every.reserve(outcomes.size());
  for (const Outcome& outcome : outcomes) every.push_back(&outcome);
  for (const Kind& kind : kKinds) {
    const Shown shown(every, kind, kMostParties);
    if (shown.all < 2) continue;
    Parties parties{kind.name, static_cast<std::int64_t>(shown.all), {}};
    for (const std::string& name : shown.names) parties.parties.push_back({name, {}});
    for (const Outcome& outcome : outcomes) {
      const auto figures = figures_of(outcome, kind, shown);
      for (std::size_t row = 0; row < figures.size(); ++row) parties.parties[row].figures.push_back(figures[row]);
    }
    all.push_back(std::move(parties));
  }
  return all;
}

std::vector<PartySummaries> summaries_by(PartyKind which, Outcomes outcomes, std::size_t most) {
  const Kind& kind = kKinds[static_cast<std::size_t>(which)];
  const Shown shown(outcomes, kind, most);
  std::vector<PartySummaries> all;
  for (const std::string& name : shown.names) all.push_back({which, name, {}});
  for (const Outcome* outcome : outcomes) {
    std::vector<Tally> tallies(all.size());
    for (std::size_t i = 0; i < outcome->jobs.size(); ++i) {
      const auto row = shown.row_of(kind.of(*outcome, i));
      if (!row) continue;
      const Job* const really = recorded_job(outcomes, *outcome, i);
      if (really != nullptr) {
        tallies[*row].add(outcome->jobs[i], nodes_of(*outcome, i), really->wait());
      } else {
        tallies[*row].add(outcome->jobs[i], nodes_of(*outcome, i));
      }
    }
    Outcome run;  // what a party's summary has of the whole
    run.workload = outcome->workload;
    run.policy = outcome->policy;
    run.processors = outcome->processors;
    run.machine = outcome->machine;
    run.recorded = outcome->recorded;
    run.counts_dispatches = outcome->counts_dispatches;
    for (std::size_t row = 0; row < all.size(); ++row) {
      all[row].rows.push_back(tallies[row].conclude(run));
      all[row].rows.back().label = outcome->label;
    }
    if (which == PartyKind::account) add_shares(*outcome, shown, all);
  }
  return all;
}

}  // namespace rota::report
