#include "study/federation_mix.h"

#include <cmath>
#include <numeric>

namespace rota::study {
namespace {

class Mixer {
 public:
  explicit Mixer(const FederationMix& mix) : mix_(mix) {}

  MixedFederation run() {
    draw_transfers();
    const Instant last = draw_global();
    draw_local(last);
    Random random = stream(3);
    for (std::size_t s = 0; s < mix_.sites.size(); ++s) made_.phases.push_back(random.unit());
    return std::move(made_);
  }

 private:
  // Streams of their own, so that one length does not change the others.
  Random stream(std::uint64_t purpose) const { return Random(mix_.seed * 64 + purpose); }

  // A whole number of milliseconds before it is scaled, so that a scaled federation is the same but for the clock.
  Duration times(double mean_run_times) const {
    const double exact = mean_run_times * static_cast<double>(mix_.mean_run_time.count());
    return Duration{std::max<std::int64_t>(std::llround(exact), 1) * mix_.scale};
  }

  void draw_transfers() {
    Random random = stream(0);
    for (std::size_t from = 0; from < mix_.sites.size(); ++from) {
      auto& row = made_.transfer.emplace_back();
      for (std::size_t to = 0; to < mix_.sites.size(); ++to) {
        const double link = mix_.transfer * (from / 2 == to / 2 ? mix_.near : mix_.far);
        row.push_back(from == to ? Duration{0} : times(link * random.uniform(0.5, 1.5)));
      }
    }
  }

  sim::Arrival arrival(Random& random, Instant submit, std::int64_t most_modules) {
    sim::Arrival job;
    job.spec.submit = submit;
    job.spec.processors = static_cast<std::uint32_t>(random.between(1, most_modules));
    job.spec.priority = static_cast<std::int32_t>(random.between(1, 4));
    job.spec.limit = mix_.mean_run_time * mix_.scale;
    job.run_time = times(random.exponential(1.0));
    return job;
  }

  Instant draw_global() {
    Random random = stream(1);
    const auto modules = std::accumulate(mix_.sites.begin(), mix_.sites.end(), std::int64_t{0});
    const double gap = 2.5 / (mix_.global_load * static_cast<double>(modules));
    Instant at = kEpoch;
    for (std::int64_t i = 1; i <= mix_.jobs; ++i) {
      at += times(random.exponential(gap));
      sim::GlobalJob job{arrival(random, at, 4), {}};
      job.arrival.spec.number = i;
      job.data =
          SiteId{static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(mix_.sites.size()) - 1))};
      made_.jobs.push_back(job);
    }
    return at;
  }

  void draw_local(Instant last) {
    const Instant end = last + (last - kEpoch) / 20;
    std::int64_t number = 0;
    for (std::size_t s = 0; s < mix_.sites.size(); ++s) {
      Random random = stream(8 + s);
      const double gap = 1.5 / (mix_.local_load * static_cast<double>(mix_.sites[s]));
      auto& jobs = made_.local.emplace_back();
      for (Instant at = kEpoch; at < end;) {
        at += times(random.exponential(gap));
        jobs.push_back(arrival(random, at, 2));
        jobs.back().spec.number = --number;
      }
    }
  }

  const FederationMix& mix_;
  MixedFederation made_;
};

}  // namespace

MixedFederation mixed(const FederationMix& mix) { return Mixer(mix).run(); }

}  // namespace rota::study
