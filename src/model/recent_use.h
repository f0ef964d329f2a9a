// How much each user has used lately: processor-milliseconds, of which half is forgotten every half-life.
//
// All use fades alike, so it is kept as what does not change while time goes by: the instant at which a user's use will
// have faded to one processor-millisecond,
//   spent = end + half-life x log2(2^((spent before - end) / half-life) + processors x run time)
// after a run that ends at `end`. The user with the earlier one has used less, at every instant. Instants are counted
// in 1024ths of a millisecond; fading is exact, and each run is rounded once, to the nearest: an error of at most one
// part in 2^11 of a millisecond's fading, one in 10^12 with a half-life of a week. Integers only: equal runs that end
// together come out equal, everywhere. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"

namespace rota {

class RecentUse {
 public:
  static constexpr std::int64_t kNothing = INT64_MIN;  // of a user that never used anything: before all others

  explicit RecentUse(Duration half_life) : half_life_(half_life) {}

  bool kept() const { return half_life_ > Duration{0}; }

  // Processor-milliseconds, of more processors than there are for longer than there is.
  __extension__ using Work = unsigned __int128;

  // A run of `user` is over, or work was done until `end`. O(log users)
  void add(std::uint32_t user, std::uint32_t processors, Duration run, Instant end);
  void add(std::uint32_t user, Work work, Instant end);
  // What another one has of each user, kept with the same half-life; the other one is empty then.
  void take_over(RecentUse& other);

  // Less: less recent use.
  std::int64_t spent_at(std::uint32_t user) const {
    const auto found = spent_.find(user);
    return found == spent_.end() ? kNothing : found->second;
  }
  const std::map<std::uint32_t, std::int64_t>& all() const { return spent_; }

  std::uint64_t changes() const { return changes_; }  // so far

  // Users whose use has changed since settle(), perhaps several times each.
  const std::vector<std::uint32_t>& changed() const { return changed_; }
  void settle() { changed_.clear(); }

  // Use as a part of other use, at every instant; 0 of kNothing.
  double beside(std::int64_t spent, std::int64_t other) const;

  void put_back(std::uint32_t user, std::int64_t spent);

 private:
  void add_spent(std::uint32_t user, std::int64_t alone);

  Duration half_life_;
  std::map<std::uint32_t, std::int64_t> spent_;  // by user
  std::vector<std::uint32_t> changed_;
  std::uint64_t changes_ = 0;
};

}  // namespace rota
