// What overrun rules let jobs do, and what was lost to kills, moves and preemption: an observer of facts, for reports.
#pragma once

#include <cstdint>
#include <vector>

#include "control/ports.h"

namespace rota {

// A decision to let a job go on, and why that harms no other. Jobs by the numbers that people use.
struct GrantRecord {
  std::int64_t job = 0;
  Instant at;
  Instant until = kNever;         // kNever: no limit was set
  std::int64_t beneficiary = -1;  // the waiting job whose promise was due; -1: none
  Instant promise = kNever;
  std::int64_t free = 0;    // processors free at that moment
  std::int64_t needed = 0;  // processors that the waiting job asks for
};

// Grows with the grants; one for a rehearsal, none for a service.
class GrantLog final : public FactObserver {
 public:
  explicit GrantLog(Instant counted_from = kEpoch) : counted_from_(counted_from) {}  // earlier submissions: not told

  std::uint64_t wants() const override {
    return FactKinds::bit<Requeued>() | FactKinds::bit<Vacated>() | FactKinds::bit<Cancelled>() |
           FactKinds::bit<Migrated>() | FactKinds::bit<Extended>();
  }
  void fact_recorded(const View& before, const FactRef& fact) override;

  const std::vector<GrantRecord>& grants() const { return grants_; }
  Duration lost_work() const { return lost_work_; }  // processor time that has to be done again, or was for nothing

 private:
  void lose(const View& before, JobId job, Duration kept);

  Instant counted_from_;
  std::vector<GrantRecord> grants_;
  Duration lost_work_{0};
};

}  // namespace rota
