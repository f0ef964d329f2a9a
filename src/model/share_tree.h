// Which part of a cluster each account and each user is to have: accounts below accounts, and users below those
// (Machine::accounts), for the jobs of one workload. Immutable once made.
//
// The rule is Slurm's Fair Tree (https://slurm.schedmd.com/fair_tree.html): below each account, the one goes first
// whose part of the shares is the greatest beside its part of the use; accounts and users stand in one line, and what
// is below an account comes before what is below the next one. What is below accounts that are level stands in one
// line, too. The first user has 1, the last one 1 / users, and a user level with the one before has what that one has.
//
// By the classic rule (https://slurm.schedmd.com/classic_fair_share.html) a user has 2^-(effective use / shares /
// dampening), both as parts of the whole: the effective use of what is below an account is its own, and of what the
// account has beyond that as much as it has of the shares there.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/job.h"
#include "model/machine.h"
#include "model/recent_use.h"
#include "model/sharers.h"

namespace rota {

class ShareTree {
 public:
  ShareTree(const std::vector<Account>& accounts, std::span<const Sharer> sharers);

  // Whose use a job is: an index.
  std::uint32_t holder_of(const JobSpec& spec) const;
  bool knows(const JobSpec& spec) const { return find(spec) != of_job_.end(); }

  // The factor of each holder that has jobs, from 0 to 1; `use` is by holder. O(accounts and users that have jobs x log
  // of those side by side)
  std::vector<double> factors(const RecentUse& use) const;
  // By the classic rule; dampening >= 1. O(accounts and users)
  std::vector<double> classic_factors(const RecentUse& use, std::int64_t dampening) const;

 private:
  using OfJob = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  struct Place {
    std::uint32_t users = 0;            // 0: an account
    std::uint32_t holder = UINT32_MAX;  // UINT32_MAX: none, or users without jobs, all level
    std::uint32_t above = 0;            // places_[0] is the top
    double part = 0;                    // of the shares of those beside it
    bool first = false;
    std::vector<std::uint32_t> below = {};
  };
  struct Ranking;
  struct Beside;

  std::vector<double> use_of_places(const RecentUse& use) const;
  OfJob::const_iterator find(const JobSpec& spec) const;
  std::uint32_t add(std::uint32_t above, std::int64_t shares, std::uint32_t users, bool first);
  void add_users(std::uint32_t above, const Account& account, const std::vector<bool>& with_jobs);
  void add_holder(std::uint32_t above, std::uint32_t holder, std::int64_t shares, bool first);
  void divide(std::uint32_t place);
  void rank_below(std::span<const Beside> level, Ranking& ranking) const;

  std::vector<Place> places_;  // each behind the one above it
  std::vector<std::int64_t> shares_;
  std::uint32_t holders_ = 0;
  OfJob of_job_;  // the holder by user and group, rising
};

}  // namespace rota
