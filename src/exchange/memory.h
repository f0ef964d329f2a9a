// The exchange of a rehearsal, and the yardstick for every other: the same laws, in memory. One thread.
#pragma once

#include <map>
#include <vector>

#include "control/exchange.h"

namespace rota {

class MemoryExchange final : public Exchange, public Alarm {
 public:
  explicit MemoryExchange(Loop& loop) : loop_(loop) {}

  Result<void> offer(const Offer& offer) override;
  const Offer* find(std::int64_t job) const override;
  void lease(SiteId site, Duration ttl) override;
  bool bid(std::int64_t job, const Bid& bid) override;
  bool claim(std::int64_t job, SiteId site) override;
  bool settle(std::int64_t job, SiteId site) override;
  bool put_back(std::int64_t job, SiteId site) override;
  std::span<const Change> changes(Revision seen) const override;
  void watch(Alarm& alarm) override { watchers_.push_back(&alarm); }

  void ring() override;  // a lease may have run out

 private:
  enum class State : std::uint8_t { open, claimed, settled };
  struct Record {
    Offer offer;
    State state = State::open;
    SiteId claimant;
  };

  bool alive(SiteId site) const;
  Record* record(std::int64_t job, State state);
  void expire(SiteId site);
  void happened(Change change);

  Loop& loop_;
  std::map<std::int64_t, Record> records_;  // by job number
  std::map<SiteId, Instant> leases_;        // until when
  std::vector<Change> log_;                 // [revision - 1]
  std::vector<Alarm*> watchers_;
};

}  // namespace rota
