#include "forecast/calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/min_heap.h"
#include "engine/sim/rehearsal.h"

namespace rota::forecast {
namespace {

// Every job that ran, by id.
class Ran final : public JobSink {
 public:
  void job_gone(JobId id, const Job& job) override {
    if (!job.ended()) return;
    jobs_.emplace_back(id, job);
  }
  std::vector<std::pair<JobId, Job>>& jobs() { return jobs_; }

 private:
  std::vector<std::pair<JobId, Job>> jobs_;
};

using Jobs = std::vector<std::pair<JobId, Job>>;  // in order of their ends

sim::RehearsalOptions rehearsal_options(const CalibrateOptions& options, const Chain& chain) {
  sim::RehearsalOptions how;
  how.processors = options.processors;
  how.machine = options.machine;
  how.engine.machine = options.machine;
  how.terms = options.terms;
  if (chain.knobs().power.switches()) how.engine.metered = options.machine;
  return how;
}

// Instants by lot between the first submission and the last, each with one by lot of those that wait then.
std::vector<Trial> moments_of(const Jobs& jobs, const CalibrateOptions& options) {
  Instant first = kNever;
  Instant last = kEpoch;
  for (const auto& [id, job] : jobs) {
    first = std::min(first, job.spec.submit);
    last = std::max(last, job.spec.submit);
  }
  Random lots(options.seed);
  std::vector<Trial> trials;
  constexpr int kTries = 1000;  // for each: where no job ever waits there is nothing to forecast
  for (int tries = 0; tries < kTries * options.moments; ++tries) {
    if (static_cast<int>(trials.size()) == options.moments) break;
    const Instant at{Duration{lots.between(first.time_since_epoch().count(), last.time_since_epoch().count())}};
    std::vector<const std::pair<JobId, Job>*> waiting;
    for (const auto& each : jobs) {
      if (each.second.spec.submit < at && each.second.start > at) waiting.push_back(&each);
    }
    if (waiting.empty()) continue;
    const auto& [id, job] = *waiting[static_cast<std::size_t>(lots.between(0, std::ssize(waiting) - 1))];
    trials.push_back({.at = at, .job = id, .start = job.start});
  }
  std::ranges::sort(trials, {}, &Trial::at);
  return trials;
}

// Looks on while the log is rehearsed once more.
class Onlooker final : public Alarm {
 public:
  Onlooker(const Jobs& jobs, std::vector<Trial>& trials, const Chain& chain, const CalibrateOptions& options)
      : jobs_(jobs), trials_(trials), chain_(chain), options_(options) {}
  void open(sim::Rehearsal& rehearsal) {
    rehearsal_ = &rehearsal;
    next();
  }
  void ring() override {
    for (; at_ < trials_.size() && trials_[at_].at <= rehearsal_->loop().now(); ++at_) {
      if (done_) done_ = forecast(trials_[at_]);
      if (options_.progress) options_.progress(static_cast<int>(at_) + 1);
    }
    next();
  }
  const Result<void>& done() const { return done_; }

 private:
  void next() {
    if (at_ < trials_.size()) rehearsal_->loop().set(*this, trials_[at_].at);
  }
  Result<void> forecast(Trial& trial) {
    for (; known_ < jobs_.size() && jobs_[known_].second.end < trial.at; ++known_) {
      past_.add({jobs_[known_].second.spec, std::max(jobs_[known_].second.run_time(), seconds(1))});
    }
    Present present{.now = trial.at,
                    .facts = rehearsal_->controller().snapshot(),
                    .processors = options_.processors,
                    .machine = options_.machine,
                    .chain = &chain_};
    trial.promise = rehearsal_->controller().view().job(trial.job).promise;
    trial.by_limits = by_limits(present, trial.job);
    Forecast forecast(std::move(present), past_, {.jobs = {trial.job}, .seed = options_.seed + at_});
    for (int n = 0; n < options_.futures; ++n) {
      if (auto done = forecast.rehearse_one(); !done) return done;
    }
    const std::vector<Instant> starts = forecast.starts_of(0);
    trial.forecast = read(starts, Correction());
    for (; !open_.empty() && open_.top().start <= trial.at; open_.pop()) correction_.add(open_.top().rank);
    trial.corrected = read(starts, correction_);
    open_.push({trial.start, rank_of(starts, trial.start)});
    return {};
  }
  static Band read(const std::vector<Instant>& starts, const Correction& correction) {
    const auto at = [&](double share) { return quantile(starts, correction.level(share)); };
    return {.low50 = at(0.25), .high50 = at(0.75), .low90 = at(0.05), .high90 = at(0.95), .median = at(0.5)};
  }

  // A forecast that has not come true yet.
  struct Open {
    Instant start;
    double rank;
    bool operator>(const Open& other) const { return start > other.start; }
  };

  const Jobs& jobs_;
  std::vector<Trial>& trials_;
  const Chain& chain_;
  const CalibrateOptions& options_;
  sim::Rehearsal* rehearsal_ = nullptr;
  PastJobs past_;
  std::size_t known_ = 0;
  std::size_t at_ = 0;
  Correction correction_;
  MinHeap<Open> open_;
  Result<void> done_;
};

}  // namespace

Result<std::vector<Trial>> calibrate(const std::function<std::unique_ptr<sim::Source>()>& log, const Chain& chain,
                                     const CalibrateOptions& options) {
  Ran ran;
  {
    const auto source = log();
    sim::Rehearsal rehearsal(rehearsal_options(options, chain), chain, *source, ran);
    TRY(rehearsal.run());
  }
  std::ranges::stable_sort(ran.jobs(), {}, [](const auto& job) { return job.second.end; });
  std::vector<Trial> trials = moments_of(ran.jobs(), options);
  Onlooker onlooker(ran.jobs(), trials, chain, options);
  const auto source = log();
  Ran again;
  sim::Rehearsal rehearsal(rehearsal_options(options, chain), chain, *source, again);
  onlooker.open(rehearsal);
  TRY(rehearsal.run());
  if (!onlooker.done()) return std::unexpected(onlooker.done().error());
  return trials;
}

Score score_of(const std::vector<Trial>& trials, Way way) {
  Score score;
  std::vector<double> errors;
  for (const Trial& trial : trials) {
    const bool on_promised = way == Way::promise || way == Way::forecast_of_promised;
    if (on_promised && trial.promise == kNever) continue;
    const Band& band = way == Way::corrected ? trial.corrected : trial.forecast;
    const Instant told = way == Way::by_limits ? trial.by_limits : way == Way::promise ? trial.promise : band.median;
    score.inside50 += trial.start >= band.low50 && trial.start <= band.high50 ? 1 : 0;
    score.inside90 += trial.start >= band.low90 && trial.start <= band.high90 ? 1 : 0;
    // nothing told is as wrong as the farthest that could have been
    errors.push_back(std::abs(to_seconds(std::min(told, trial.at + Question{}.horizon) - trial.start)));
  }
  score.trials = std::ssize(errors);
  if (errors.empty()) return score;
  const auto count = static_cast<double>(errors.size());
  score.inside50 /= count;
  score.inside90 /= count;
  for (const double error : errors) score.mean_error += error / count;
  std::ranges::sort(errors);
  score.median_error = errors[errors.size() / 2];
  return score;
}

}  // namespace rota::forecast
