// Works out bids that a site has made, as published, once more from its journal alone. Usage: bids_again STATE < ASKED
// A line of ASKED is FACT PROCESSORS PRIORITY: the journal's latest fact before the bid, and the job. A line of the
// output is what the price is made of: RESOURCES PREEMPTIONS, in billionths; or "none", where the site could offer
// nothing.
#include <fmt/core.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "control/member.h"
#include "control/replay.h"
#include "policy/auction/bid.h"
#include "site/cluster_file.h"
#include "store/sqlite_reader.h"

namespace rota {
namespace {

struct Asked {
  std::size_t line;
  JobSpec job;
};

Result<std::vector<std::string>> bids_again(const std::string& state, std::istream& in) {
  std::multimap<std::uint64_t, Asked> asked;
  std::uint64_t fact = 0;
  JobSpec job;
  job.limit = seconds(1);
  for (std::size_t line = 0; in >> fact >> job.processors >> job.priority; ++line)
    asked.emplace(fact, Asked{line, job});
  std::vector<std::string> bids(asked.size(), "not in the journal");
  auto journal = TRY(store::SqliteReader::open(state + "/rota.db"));
  const Machine machine = TRY(site::parse_cluster(journal.head().cluster, state));
  const Chain chain = TRY(Chain::parse(journal.head().policy));
  const BidRules rules = dispatch_rules(chain.knobs().auction, machine.partitions).bid;
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  options.confirms_starts = true;
  chain.ask(options);
  Cluster cluster(options);
  TRY(journal.visit([&](const Fact& next) -> Result<void> {
    if (auto follows = check_next(cluster, next); !follows) return follows;
    cluster.fold(next);
    for (auto [at, end] = asked.equal_range(cluster.sequence()); at != end; ++at) {
      const auto bid = bid_for(rules, cluster, at->second.job, {});
      bids[at->second.line] = bid ? fmt::format("{} {}", bid->parts[0], bid->parts[1]) : "none";
    }
    return {};
  }));
  return bids;
}

}  // namespace
}  // namespace rota

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto bids = rota::bids_again(words[1], std::cin);
  if (!bids) {
    std::cerr << bids.error().message << '\n';
    return 1;
  }
  for (const std::string& bid : *bids) std::cout << bid << '\n';
}
