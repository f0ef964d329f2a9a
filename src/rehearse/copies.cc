#include "rehearse/copies.h"

#include <algorithm>
#include <utility>

#include "base/in_parallel.h"
#include "base/random.h"

namespace rota {

log::Workload later_copy(const log::Workload& workload, std::uint64_t seed) {
  log::Workload copy = workload;
  copy.recorded.clear();
  Random random(seed);
  Instant before = kEpoch;
  for (JobSpec& spec : copy.jobs) {
    spec.submit += seconds(random.between(0, kMostDelay.count() / 1000));
    before = spec.submit = std::max(before, spec.submit);
  }
  return copy;
}

Copies later_copies(const log::Workload& workload, std::size_t count, std::int64_t seed) {
  return {count, [&workload, seed](std::size_t copy) {
            return later_copy(workload, static_cast<std::uint64_t>(seed) + copy);
          }};
}

namespace {

Result<Rehearsed> rehearse_stream(const log::Workload& stream, const Chain& chain, RehearseOptions options) {
  auto attributes = TRY(log::Attributes::match(stream.attributes, options.machine.get()));
  set_attributes(options, std::move(attributes));
  return rehearse(stream, chain, options);
}

}  // namespace

Result<std::vector<report::Summary>> rehearse_copies(const Copies& copies, const Chain& chain, RehearseOptions options,
                                                     std::size_t threads) {
  options.keep_jobs = options.keep_nodes = false;
  options.journals.clear();
  options.progress = {};
  options.beside = nullptr;
  std::vector<Result<Rehearsed>> results(copies.count, Rehearsed{});
  in_parallel(copies.count, threads, [&](std::size_t i) {
    const Result<log::Workload> copy = copies.make(i);
    if (!copy) {
      results[i] = std::unexpected(copy.error());
    } else if (copies.streams && copy->attributes) {
      results[i] = rehearse_stream(*copy, chain, options);
    } else {
      results[i] = rehearse(*copy, chain, options);
    }
  });
  std::vector<report::Summary> summaries;
  summaries.reserve(results.size());
  for (Result<Rehearsed>& result : results) {
    if (!result) return std::unexpected(result.error());
    summaries.push_back(std::move(result->summary));
  }
  return summaries;
}

}  // namespace rota
