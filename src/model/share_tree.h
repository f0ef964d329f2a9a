// Who is to have which part of a cluster: accounts below accounts, and users below those (Machine::accounts), for the
// jobs of one workload. Immutable once made.
//
// The rule is Slurm's Fair Tree (https://slurm.schedmd.com/fair_tree.html): below each account, he goes first whose
// part of the shares is the greatest beside his part of the use; accounts and users stand in one line, and what is
// below an account comes before what is below the next one. The first user has 1, the last one 1 / users, and whoever
// is level with the one before him has what that one has.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/job.h"
#include "model/machine.h"
#include "model/recent_use.h"

namespace rota {

class ShareTree {
 public:
  using Names = std::map<std::uint32_t, std::string>;  // by number; who is not there is called by his number

  // A user whom jobs name and the accounts do not has one share: of the account of his job, or at the top.
  ShareTree(const std::vector<Account>& accounts, const Names& users, const Names& groups,
            std::span<const JobSpec> jobs);

  // Whose use a job is: an index.
  std::uint32_t holder_of(const JobSpec& spec) const;

  // The factor of each holder, from 0 to 1; `use` is by holder. O(all of the tree x log of who stand side by side)
  std::vector<double> factors(const RecentUse& use) const;

 private:
  struct Place {
    std::uint32_t holder = UINT32_MAX;  // UINT32_MAX: an account
    std::uint32_t above = 0;            // places_[0] is the top
    double part = 0;                    // of the shares of those beside it
    bool first = false;
    std::vector<std::uint32_t> below = {};
  };
  struct Ranking;

  std::uint32_t add(std::uint32_t above, std::int64_t shares);
  void add_holder(std::uint32_t above, std::int64_t shares, bool first);
  void divide(std::uint32_t place);
  void rank_below(std::uint32_t place, Ranking& ranking) const;

  std::vector<Place> places_;  // each behind the one above it
  std::vector<std::int64_t> shares_;
  std::uint32_t holders_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> of_job_;  // the holder by user and group, rising
};

}  // namespace rota
