#include "study/auction_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/in_parallel.h"
#include "base/text.h"
#include "exchange/memory.h"
#include "report/formatted.h"

namespace rota::study {
namespace {

constexpr double kPolling = 0.35;  // how often a dispatcher looks at the global queue
constexpr double kMargin = 0.1;    // by how much sooner it must start elsewhere for a second thought

constexpr const char* kAlone =
    "in its federations dispatchers look now and then, bring each input before its job, and may choose a site as no "
    "policy of rota simulate does";

// Jobs give way at once, or after as long as it takes to stop one on a real cluster: then several sites may be about to
// make room for one job.
constexpr const char* kAtOnce = "fcfs-skip+preempt=suspend+overrun=run-on";
constexpr const char* kSlowly = "fcfs-skip+preempt=checkpoint+checkpoint=10+overrun=run-on";
// As the first, and by all the rules of the paper.
constexpr const char* kPublishedRule = "english-auction";

// The paper's federation: two centres of two sites. Links within a centre are so much faster, and the mean of all is
// what it is where all are alike.
constexpr double kNear = 0.25;
constexpr double kFar = 1.375;

// A way to find a site. Times in mean run times.
struct Contender {
  std::string label;
  sim::Placing placing = sim::Placing::auction;
  double length = kPolling;
  double look = kPolling;  // 0: auctions are announced
  bool published = false;  // kPublishedRule, in two centres
  double stretch = 1;      // run times and gaps between jobs, while rounds, looks and transfers stay: length is of the
                           // mean run time without it
  Close close = Close::on_time;
  Valuation valuation = Valuation::published;
  bool second_thoughts = false;
  std::int64_t scale = 1;
  const char* policy = published ? kPublishedRule : kAtOnce;
};

constexpr std::array kLengths{0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
constexpr std::array kRatios{0.1, 0.2, 0.35, 0.5, 0.7, 1.0};  // of a round to the run time, where only jobs are longer
constexpr std::array kStretches{0.5, 2.0, 4.0};
enum Index : std::size_t {  // after one for each length
  kShortest = 0,
  kLooking = 3,
  kLongest = kLengths.size() - 1,
  kScaled,
  kEarly,
  kStopping,
  kStart,
  kAnnounced,
  kByPlan,
  kBest,
  kBestSlowly,
  kRandom,
  kRoundRobin,
  kLeastLoaded,
  kRace,
  kRaceSlowly,
  kStagedRace,
  kPublished,                                              // one for each length,
  kLonger = kPublished + kLengths.size(),                  // with rounds as long as looks, one for each stretch,
  kPublishedRatios = kLonger + kStretches.size(),          // one for each of the first two stretches and each ratio,
  kLookingRatios = kPublishedRatios + 2 * kRatios.size(),  // and likewise
};

// As the paper has it, and with jobs that take longer while all else takes as long.
void add_published(std::vector<Contender>& all) {
  for (const double length : kLengths) all.push_back({.label = "published", .length = length, .published = true});
  const auto longer = [](double stretch) { return report::formatted(", runs x %g", stretch); };
  for (const double stretch : kStretches) {
    all.push_back({.label = "published" + longer(stretch), .published = true, .stretch = stretch});
  }
  for (const bool published : {true, false}) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double stretch = kStretches[s];
      const std::string label = (published ? "published" : "looking") + longer(stretch);
      for (const double ratio : kRatios) {
        all.push_back({.label = label, .length = ratio * stretch, .published = published, .stretch = stretch});
      }
    }
  }
}

std::vector<Contender> contenders() {
  std::vector<Contender> all;
  for (const double length : kLengths) all.push_back({.label = "looking", .length = length});
  Contender announced{.label = "announced, expected start", .length = 0.01, .look = 0, .valuation = Valuation::by_rate};
  Contender race{.label = "sibling race", .placing = sim::Placing::race};
  all.push_back({.label = "looking, all times x 7", .scale = 7});
  all.push_back({.label = "closed when unbeatable", .close = Close::unbeatable});
  all.push_back({.label = "announced, optimal stopping", .look = 0, .close = Close::stopping});
  all.push_back({.label = "expected start", .valuation = Valuation::by_rate});
  all.push_back(announced);
  all.push_back({.label = "announced, start by plan", .length = 0.01, .look = 0, .valuation = Valuation::by_plan});
  Contender best = announced;
  best.label = "with second thoughts";
  best.second_thoughts = true;
  all.push_back(best);
  best.label += ", 10 s";
  best.policy = kSlowly;
  all.push_back(best);
  all.push_back({.label = "random site", .placing = sim::Placing::random});
  all.push_back({.label = "round robin", .placing = sim::Placing::round_robin});
  all.push_back({.label = "least loaded", .placing = sim::Placing::least_loaded});
  all.push_back(race);
  race.label += ", 10 s";
  race.policy = kSlowly;
  all.push_back(race);
  all.push_back({.label = "sibling race, input first, 10 s", .placing = sim::Placing::staged_race, .policy = kSlowly});
  add_published(all);
  return all;
}

// What one rehearsal comes to.
struct Trial {
  double time = 0;
  std::array<double, 4> by_priority{};
  double participants = 0;
  double transfers = 0;
  double fetching = 0;
  double preemptions = 0;
  double vain = 0;
};

class LocalStream final : public sim::Source {
 public:
  explicit LocalStream(const std::vector<sim::Arrival>& jobs) : jobs_(jobs) {}
  bool next(sim::Arrival& arrival) override {
    if (next_ == jobs_.size()) return false;
    arrival = jobs_[next_++];
    return true;
  }

 private:
  const std::vector<sim::Arrival>& jobs_;
  std::size_t next_ = 0;
};

// The mean share of sites that had bid, over all auctions that were closed.
class Participants final : public Watcher {
 public:
  void hear(const Change& change) override {
    if (change.kind == Change::Kind::bid) bidders_[change.job].insert(change.site);
    if (change.kind != Change::Kind::claimed) return;
    bids_ += bidders_[change.job].size();
    ++closed_;
    bidders_.erase(change.job);
  }
  double share(std::size_t sites) const {
    return closed_ == 0 ? 0 : static_cast<double>(bids_) / static_cast<double>(closed_ * sites);
  }

 private:
  std::map<std::int64_t, std::set<SiteId>> bidders_;
  std::size_t bids_ = 0;
  std::size_t closed_ = 0;
};

Trial trial_of(const sim::Federation& federation, Duration unit, double participants) {
  Trial trial;
  std::array<double, 4> count{};
  const auto in_units = [&](Duration d) { return static_cast<double>(d.count()) / static_cast<double>(unit.count()); };
  const auto jobs = static_cast<double>(federation.jobs().size());
  for (std::size_t i = 0; i < federation.jobs().size(); ++i) {
    const JobSpec& spec = federation.jobs()[i].arrival.spec;
    const double time = in_units(federation.fates()[i].end - spec.submit);
    const auto p = static_cast<std::size_t>(4 - spec.priority);
    trial.by_priority[p] += time;
    ++count[p];
    trial.time += time / jobs;
  }
  for (std::size_t p = 0; p < 4; ++p) trial.by_priority[p] /= std::max(count[p], 1.0);
  const sim::FederationTotals& totals = federation.totals();
  trial.participants = participants;
  trial.transfers = static_cast<double>(totals.transfers) / jobs;
  trial.fetching = in_units(totals.transferred) / jobs;
  trial.preemptions = static_cast<double>(totals.preemptions) / jobs;
  trial.vain = static_cast<double>(totals.vain_preemptions);
  return trial;
}

sim::FederationOptions options_of(const Contender& contender, const FederationMix& mix, const MixedFederation& made,
                                  const AuctionKnobs& rule) {
  const auto times = [&](double units) {
    const double unit = static_cast<double>(mix.mean_run_time.count()) / contender.stretch;
    return Duration{static_cast<std::int64_t>(units * unit + 0.5) * mix.scale};
  };
  sim::FederationOptions options;
  for (const std::int64_t processors : mix.sites) options.sites.emplace_back().processors = processors;
  options.transfer = made.transfer;
  options.placing = contender.placing;
  options.seed = mix.seed;
  options.rules.look = times(contender.look);
  options.rules.auction = {times(contender.length), contender.close, times(1)};
  options.rules.auction.margin = times(kMargin).count();
  options.rules.second_thoughts = contender.second_thoughts;
  options.rules.bid.valuation = contender.valuation;
  options.rules.bid.mean_run_time = times(contender.stretch);
  if (contender.published) {
    options.rules.join = rule.join;
    options.rules.auction.minimum = rule.minimum;
    options.rules.auction.buyers = static_cast<std::size_t>(rule.buyers);
    options.ahead = rule.head;
    options.early = rule.early;
  }
  for (const double phase : made.phases) options.first_looks.push_back(kEpoch + times(phase * contender.look));
  return options;
}

Result<Trial> try_one(const Contender& contender, const AuctionStudy& study, std::uint64_t seed) {
  FederationMix mix;
  mix.seed = seed;
  mix.jobs = study.jobs;
  mix.scale = contender.scale;
  if (contender.published) {
    mix.near = kNear;
    mix.far = kFar;
  }
  if (contender.stretch != 1) {
    mix.mean_run_time = Duration{std::llround(static_cast<double>(mix.mean_run_time.count()) * contender.stretch)};
    mix.transfer /= contender.stretch;
  }
  const MixedFederation made = mixed(mix);
  const auto chain = TRY(Chain::parse(contender.policy));
  std::vector<LocalStream> streams;
  for (const auto& jobs : made.local) streams.emplace_back(jobs);
  std::vector<sim::Source*> local;
  for (LocalStream& stream : streams) local.push_back(&stream);
  sim::VirtualLoop loop;
  MemoryExchange exchange(loop);
  Participants participants;
  exchange.watch({}, participants, 0);
  sim::Federation federation(options_of(contender, mix, made, chain.knobs().auction), {loop, exchange, chain, local},
                             made.jobs);
  TRY(federation.run());
  return trial_of(federation, mix.mean_run_time * mix.scale, participants.share(mix.sites.size()));
}

// [contender][seed]; on several cores.
Result<std::vector<std::vector<Trial>>> try_all(const AuctionStudy& study, const std::vector<Contender>& all) {
  const auto seeds = static_cast<std::size_t>(study.seeds);
  std::vector<Result<Trial>> results(all.size() * seeds);
  in_parallel(results.size(), study.threads, [&](std::size_t i) {
    results[i] = try_one(all[i / seeds], study, static_cast<std::uint64_t>(study.first_seed) + i % seeds);
  });
  std::vector<std::vector<Trial>> trials(all.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) return std::unexpected(results[i].error());
    trials[i / seeds].push_back(*results[i]);
  }
  return trials;
}

template <class Figure>
report::Mean mean_over(const std::vector<Trial>& trials, const Figure& figure) {
  std::vector<double> values;
  for (const Trial& t : trials) values.push_back(figure(t));
  return report::mean_of(values);
}

AuctionRow row_of(const Contender& contender, const std::vector<Trial>& trials, const std::vector<Trial>& looking) {
  AuctionRow row;
  row.label = contender.label;
  row.length = contender.placing == sim::Placing::auction ? contender.length / contender.stretch : 0;
  row.time = mean_over(trials, [](const Trial& t) { return t.time; });
  for (std::size_t p = 0; p < 4; ++p) {
    row.by_priority[p] = mean_over(trials, [&](const Trial& t) { return t.by_priority[p]; });
  }
  std::vector<double> differences;
  for (std::size_t i = 0; i < trials.size(); ++i) differences.push_back(trials[i].time - looking[i].time);
  row.against_looking = report::mean_of(differences);
  row.participants = mean_over(trials, [](const Trial& t) { return t.participants; });
  row.transfers = mean_over(trials, [](const Trial& t) { return t.transfers; });
  row.fetching = mean_over(trials, [](const Trial& t) { return t.fetching; });
  row.preemptions = mean_over(trials, [](const Trial& t) { return t.preemptions; });
  row.vain = mean_over(trials, [](const Trial& t) { return t.vain; });
  return row;
}

// The best length of a round among so many rows that differ in it.
const AuctionRow& best_of(const std::vector<AuctionRow>& rows, std::size_t first, std::size_t count) {
  const auto sooner = [](const AuctionRow& a, const AuctionRow& b) { return a.time.mean < b.time.mean; };
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  return *std::min_element(begin, begin + static_cast<std::ptrdiff_t>(count), sooner);
}

double least_step(const AuctionRow& row) {
  double least = row.by_priority[1].mean - row.by_priority[0].mean;
  for (std::size_t p = 2; p < 4; ++p) {
    least = std::min(least, row.by_priority[p].mean - row.by_priority[p - 1].mean);
  }
  return least;
}

constexpr double kAbove = 1e-9;

// By how much at least the share of sites that bid falls from each length of jobs to the next, in a round that stays.
double least_fall(const std::vector<AuctionRow>& rows) {
  const auto share = [&](std::size_t row) { return 100 * rows[row].participants.mean; };
  const std::array shares{share(kLonger), share(kPublished + kLooking), share(kLonger + 1), share(kLonger + 2)};
  double least = report::kAny;
  for (std::size_t i = 1; i < shares.size(); ++i) least = std::min(least, shares[i - 1] - shares[i]);
  return least;
}

// What the paper says of the published rule.
void add_published_cells(const std::vector<AuctionRow>& rows, std::vector<report::Cell>& cells) {
  const AuctionRow& best = best_of(rows, kPublished, kLengths.size());
  const AuctionRow& usual = rows[kPublished + kLooking];
  const AuctionRow& twice = rows[kPublishedRatios + kRatios.size() + 2];
  const std::string ratio = "only the ratio matters";
  cells.push_back({"published: best length of a round, mean run times", best.length, 0.30, 0.40, "0.3 to 0.4"});
  cells.push_back({"published: sites that have bid by then, %", 100 * best.participants.mean, 65, 75, "70"});
  cells.push_back(
      {"published: least gain of a higher priority", least_step(best), kAbove, report::kAny, "higher is sooner"});
  cells.push_back(
      {"published: least fall of that share as jobs get longer", least_fall(rows), kAbove, report::kAny, "it falls"});
  cells.push_back({"published: time at 0.35, of jobs twice as long, %", 100 * (twice.time.mean / usual.time.mean - 1),
                   -2, 2, ratio});
  for (const std::size_t first : {kPublishedRatios, kLookingRatios}) {
    const std::string rule = first == kPublishedRatios ? "published" : "looking";
    for (std::size_t s = 0; s < 2; ++s) {
      const double length = best_of(rows, first + s * kRatios.size(), kRatios.size()).length;
      cells.push_back({fmt::format("{}: best length, jobs {} as long", rule, s == 0 ? "half" : "twice"), length, 0.30,
                       0.40, ratio});
    }
  }
}

std::vector<report::Cell> cells_of(const std::vector<AuctionRow>& rows) {
  using report::kAny;
  const AuctionRow& looking = best_of(rows, kShortest, kLengths.size());
  const AuctionRow& announced = rows[kAnnounced];
  const AuctionRow& best = rows[kBest];
  const double time = looking.time.mean;
  const auto more = [](double a, double b) { return 100 * (a / b - 1); };
  std::vector<report::Cell> cells{
      {"looking: best length of a round, mean run times", looking.length, 0.30, 0.40, "0.3 to 0.4"},
      {"looking: sites that have bid by then, %", 100 * looking.participants.mean, 65, 75, "70"},
      {"looking: time with rounds of 1.0, of the best", rows[kLongest].time.mean / time, 1.2, 1.35, ""},
      {"looking: time with rounds of 0.1, of the best", rows[kShortest].time.mean / time, 1.02, 1.08, ""},
      {"looking: least gain of a higher priority", least_step(looking), kAbove, kAny, "higher is sooner"},
      {"change when all times are 7 times as long", std::abs(rows[kScaled].against_looking.mean), 0, 0, ""},
      {"time, announced and by expected start, %", more(announced.time.mean, time), -100, -20, ""},
      {"the same, of priority 4, %", more(announced.by_priority[0].mean, looking.by_priority[0].mean), -100, -35, ""},
      {"time, with second thoughts, %", more(best.time.mean, time), -100, -25, ""},
      {"time against the sibling race, 10 s, %", more(rows[kBestSlowly].time.mean, rows[kRaceSlowly].time.mean), -100,
       0, ""},
      {"inputs moved a job, against the race", best.transfers.mean - rows[kRace].transfers.mean, -kAny, 0, ""},
      {"sites that made room in vain, auction, 10 s", rows[kBestSlowly].vain.mean, 0, 0, ""},
      {"sites that made room in vain, race, 10 s", rows[kRaceSlowly].vain.mean, kAbove, kAny, ""},
  };
  add_published_cells(rows, cells);
  return cells;
}

std::string line_of(const AuctionRow& row) {
  using report::formatted;
  using report::with_margin;
  std::string line = formatted("%-34s", row.label.c_str());
  line += row.length > 0 ? formatted("%6.2f", row.length) : "     -";
  line += with_margin(row.time, 3) + with_margin(row.against_looking, 3);
  for (const report::Mean& m : row.by_priority) line += formatted("%6.2f", m.mean);
  line += row.participants.mean > 0 ? formatted("%8.1f", 100 * row.participants.mean) : "       -";
  return line + formatted("%7.2f%8.2f%8.2f%8.1f\n", row.transfers.mean, row.fetching.mean, row.preemptions.mean,
                          row.vain.mean);
}

std::string table_of(const std::vector<AuctionRow>& rows, std::int64_t seeds) {
  std::string out = fmt::format(
      "Four sites of 4, 5, 7 and 8 modules; means over {} seeds with 95 % confidence intervals; times in mean run "
      "times\n",
      grouped(seeds));
  out += report::formatted("%-34s%6s%15s%15s%24s%8s%7s%8s%8s%8s\n", "", "round", "time", "less looking",
                           "time of priority 4 to 1", "sites %", "moves", "moving", "stopped", "in vain");
  for (const AuctionRow& row : rows) out += line_of(row);
  return out;
}

std::string json_of(const std::vector<AuctionRow>& rows, std::int64_t seeds) {
  using report::formatted;
  using report::mean_json;
  std::string out = formatted("\"seeds\": %lld,\n  \"rows\": [", static_cast<long long>(seeds));
  const char* separator = "\n";
  for (const AuctionRow& r : rows) {
    out += separator + formatted(R"(    {"rule": "%s", "round": %g, "time": )", r.label.c_str(), r.length) +
           mean_json(r.time) + R"(, "less_looking": )" + mean_json(r.against_looking);
    for (std::size_t p = 0; p < 4; ++p) {
      out += formatted(R"(, "time_of_priority_%d": )", static_cast<int>(4 - p)) + mean_json(r.by_priority[p]);
    }
    out += R"(, "participants": )" + mean_json(r.participants) + R"(, "transfers_a_job": )" + mean_json(r.transfers) +
           R"(, "transfer_time_a_job": )" + mean_json(r.fetching) + R"(, "preemptions_a_job": )" +
           mean_json(r.preemptions) + R"(, "sites_preempting_in_vain": )" + mean_json(r.vain) + "}";
    separator = ",\n";
  }
  return out + "\n  ]";
}

// The paper's two figures: of the published rule, over the length of a round.
std::vector<report::Plot> plots_of(const std::vector<AuctionRow>& rows) {
  report::Plot times{
      "How long an auction should last", "length of a round, mean run times", "time, mean run times", {}};
  report::Plot shares{"Who takes part", "length of a round, mean run times", "sites that have bid, %", {}};
  times.lines.push_back({"all jobs", {}});
  for (int priority = 4; priority > 0; --priority) times.lines.push_back({"priority " + std::to_string(priority), {}});
  shares.lines.push_back({"all jobs", {}});
  for (std::size_t c = 0; c < kLengths.size(); ++c) {
    const AuctionRow& row = rows[kPublished + c];
    times.lines[0].points.emplace_back(row.length, row.time.mean);
    for (std::size_t p = 0; p < 4; ++p) times.lines[p + 1].points.emplace_back(row.length, row.by_priority[p].mean);
    shares.lines[0].points.emplace_back(row.length, 100 * row.participants.mean);
  }
  return {times, shares};
}

}  // namespace

Result<AuctionFindings> study_auction(const AuctionStudy& study) {
  const auto all = contenders();
  const auto trials = TRY(try_all(study, all));
  AuctionFindings findings;
  for (std::size_t c = 0; c < all.size(); ++c) {
    findings.rows.push_back(row_of(all[c], trials[c], trials[kLooking]));
  }
  findings.cells = cells_of(findings.rows);
  for (report::Cell& cell : findings.cells) cell = without_command(std::move(cell), kAlone);
  return findings;
}

Study auction_study() {
  auto study = std::make_shared<AuctionStudy>();
  study->threads = std::max(1U, std::thread::hardware_concurrency());
  return {"auction",
          "jobs with absolute priorities find their cluster by English auction (Baranov et al. 2018)",
          {{"--seeds", "federations: how many, with seeds from 0 on, or the first and the last seed",
            SeedsChosen{&study->seeds, &study->first_seed}, 2, 100'000, "N|FIRST-LAST"}},
          [study]() -> Result<Findings> {
            auto found = TRY(study_auction(*study));
            return Findings{table_of(found.rows, study->seeds), json_of(found.rows, study->seeds),
                            "mean over the federations", std::move(found.cells), plots_of(found.rows)};
          }};
}

}  // namespace rota::study
