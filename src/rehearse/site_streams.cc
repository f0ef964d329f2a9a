#include "rehearse/site_streams.h"

#include <algorithm>

namespace rota {
namespace {

class Sharing {
 public:
  Sharing(const log::Workload& workload, const RehearseOptions& options, const SiteTerms& terms)
      : workload_(workload), options_(options), whole_(*options.machine), terms_(terms) {}

  SiteStreams run(bool exchanged) {
    SiteStreams streams;
    streams.local.resize(whole_.sites.size());
    RehearseOptions raw = options_;  // partitions and their priorities depend on the site
    raw.machine = nullptr;
    raw.processors = std::max_element(whole_.sites.begin(), whole_.sites.end(), smaller)->processors;
    WorkloadSource source(workload_, raw);
    sim::Arrival job;
    for (std::size_t i = 0; source.next(job); ++i) {
      job.spec.partition = named_partition(workload_, whole_, workload_.jobs[i]);
      const std::vector<bool> able = sites_for(job.spec);
      const SiteId home = home_of(job.spec, able);
      const auto choices = std::count(able.begin(), able.end(), true);
      const bool local = options_.attributes && !options_.attributes->anywhere(job.spec.number);
      const bool stays = !exchanged || local || choices == 0 || (choices == 1 && able[home.value]);
      streams.homes.push_back(home);
      streams.by_number.emplace_back(job.spec.number, i);
      if (stays) {
        streams.local[home.value].add({terms_.taken_to(home, job.spec), job.run_time});
      } else {
        streams.global.push_back({job, home, input_of(job.spec)});
      }
    }
    std::sort(streams.by_number.begin(), streams.by_number.end());
    return streams;
  }

 private:
  static bool smaller(const Machine& a, const Machine& b) { return a.processors < b.processors; }
  std::int64_t input_of(const JobSpec& job) const {
    return options_.attributes ? options_.attributes->input_of(job.number) : 0;
  }

  std::vector<bool> sites_for(const JobSpec& job) const {
    std::vector<bool> able;
    for (std::uint32_t s = 0; s < whole_.sites.size(); ++s) able.push_back(terms_.at(SiteId{s}, job).has_value());
    return able;
  }

  SiteId home_of(const JobSpec& job, const std::vector<bool>& able) const {
    if (options_.attributes) {
      if (const SiteId named = options_.attributes->site_of(job.number); named.valid()) return named;
    }
    const std::uint64_t owner = job.user != UINT32_MAX ? job.user : static_cast<std::uint64_t>(job.number);
    const SiteId home = site_of_user(owner);
    const auto sites = static_cast<std::uint32_t>(whole_.sites.size());
    for (std::uint32_t further = 0; further < sites; ++further) {
      const SiteId site{(home.value + further) % sites};
      if (able[site.value]) return site;
    }
    return home;
  }

  // Evenly over all processors, neighbouring numbers far from each other (Fibonacci hashing).
  SiteId site_of_user(std::uint64_t user) const {
    const std::uint64_t share = (user * 0x9e3779b97f4a7c15U) >> 32U;
    auto processor = static_cast<std::int64_t>((share * static_cast<std::uint64_t>(whole_.processors)) >> 32U);
    std::uint32_t site = 0;
    while (processor >= whole_.sites[site].processors) processor -= whole_.sites[site++].processors;
    return SiteId{site};
  }

  const log::Workload& workload_;
  const RehearseOptions& options_;
  const Machine& whole_;
  const SiteTerms& terms_;
};

}  // namespace

SiteStreams site_streams(const log::Workload& workload, const RehearseOptions& options, const SiteTerms& terms,
                         bool exchanged) {
  return Sharing(workload, options, terms).run(exchanged);
}

}  // namespace rota
