// What users, or the holders of shares, have used lately (RecentUse), and what their shares come to by that. Where it
// is reckoned in periods, use counts from the end of each: also that of runs that go on. A fold, kept up by Cluster.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "model/recent_use.h"
#include "model/share_tree.h"

namespace rota {

struct UseRules {
  Duration half_life{0};              // 0: no use is kept
  Duration period{0};                 // 0: use counts when a run is over
  Duration phase{0};                  // from second 0, or a whole number of periods later, to the end of a period
  const ShareTree* shares = nullptr;  // use is by its holders; nullptr: by users
  bool classic = false;               // the factors are those of the classic rule, with this
  std::int64_t dampening = 1;
  bool weighed = false;  // each job's use counts by the factor of its QOS and the billing of its partition
};

class UseLedger {
 public:
  explicit UseLedger(const UseRules& rules)
      : rules_(rules),
        use_(rules.half_life),
        owed_(rules.half_life),
        due_(use_.kept() && in_periods() ? kEpoch : kNever) {}

  bool kept() const { return use_.kept(); }
  const RecentUse& recent() const { return use_; }  // as it was reckoned last
  // The factors of shares by that: all use fades alike, so they change with use only.
  const std::vector<double>& share_factors() const;
  std::uint32_t user_of(const JobSpec& spec) const {
    return rules_.shares ? rules_.shares->holder_of(spec) : spec.user;
  }

  // When a period ends next, or has ended and was not reckoned; kNever: there are none.
  Instant due() const { return due_; }
  // From when on the use of a job that started then is yet to be counted, at `now`.
  Instant uncounted(Instant start, Instant now) const {
    return in_periods() ? std::max(start, period_before(now)) : start;
  }
  // A run, or a part of one, is over; so long of it is yet to be counted.
  void add(const JobSpec& spec, Duration counts, Instant now) {
    (in_periods() ? owed_ : use_).add(user_of(spec), spec.processors, counts, now);
  }
  // The end of the latest period by `at`, until which runs go on; `done` by each user from the last one up to then.
  Instant period_before(Instant at) const;
  void reckon(Instant until, const std::map<std::uint32_t, RecentUse::Work>& done);

  // For those that go by the order of users (RecentUse::changed).
  void settle() { use_.settle(); }
  // For a snapshot.
  const RecentUse& owed() const { return owed_; }
  void put_back(std::uint32_t user, std::int64_t spent, std::int64_t owed) {
    use_.put_back(user, spent);
    owed_.put_back(user, owed);
  }

 private:
  bool in_periods() const { return rules_.period > Duration{0}; }

  UseRules rules_;
  RecentUse use_;
  RecentUse owed_;  // of runs that ended within the period
  Instant due_;
  mutable std::vector<double> factors_;  // of use that had changed so often:
  mutable std::uint64_t factors_of_ = 0;
};

}  // namespace rota
