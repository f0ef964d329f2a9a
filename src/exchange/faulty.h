// An exchange behind a bad network, for tests: requests and answers are late, lost, doubled and overtake one another,
// streams of changes break and go on, sites are cut off. What the port promises still holds: changes come in order, and
// a watcher that missed too many is told to resync. The same seed and the same calls give the same faults. One thread.
//
//   sim::VirtualLoop loop;
//   MemoryExchange memory(loop);
//   FaultyExchange exchange(memory, {.request_lost = 0.1, .delay = seconds(2)}, seed, loop);
//   ...                        // give `exchange` to the dispatchers, or to a whole Federation
//   exchange.cut(SiteId{1});   // from here on nothing passes, until heal(); its lease may run out meanwhile
//   exchange.calm();           // no faults any more: from here on everything must come right
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <variant>

#include "base/random.h"
#include "control/exchange.h"
#include "control/ports.h"

namespace rota {

struct Faults {
  // How probable each is, 0 to 1, for one message.
  double request_lost = 0;     // and is not applied
  double request_doubled = 0;  // the second comes at a time of its own
  double refusal_lost = 0;
  double refusal_doubled = 0;
  double change_doubled = 0;
  double stream_broken = 0;         // in front of a change: that and what was on its way behind it is told later
  Duration delay{0};                // of each message from 0 to this; changes wait for those before
  Duration reconnect = seconds(2);  // until a stream goes on
};

struct FaultCounts {
  std::int64_t requests = 0, requests_lost = 0, requests_doubled = 0, refusals_lost = 0, refusals_doubled = 0;
  std::int64_t changes_doubled = 0, streams_broken = 0, cuts = 0, resyncs = 0;
  bool operator==(const FaultCounts&) const = default;
};

class FaultyExchange final : public Exchange, public Alarm {
 public:
  FaultyExchange(Exchange& inner, const Faults& faults, std::uint64_t seed, Loop& loop);
  FaultyExchange(const FaultyExchange&) = delete;
  FaultyExchange& operator=(const FaultyExchange&) = delete;
  ~FaultyExchange() override;

  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override;
  void stop(Watcher& watcher) override;
  void ring() override;

  void cut(SiteId site);  // what it has sent may still arrive; what it sends from here on does not
  void heal(SiteId site);
  void calm() { faults_ = {}; }
  const FaultCounts& counts() const { return counts_; }

 private:
  class Line;  // to one watcher
  struct Delivery {
    SiteId site;
    std::uint32_t stream;  // of the line, when it was sent
    Change change;
  };
  struct Reconnect {
    SiteId site;
    std::uint32_t stream;
  };
  using Item = std::variant<Request, Delivery, Reconnect>;

  Duration delay();
  void put(Instant at, Item item);
  void carry(const Request& request);
  void carry(Delivery& delivery);
  void carry(const Reconnect& reconnect);
  void hand_over(Line& line, const Change& change);

  Exchange& inner_;
  Faults faults_;
  Random random_;
  Loop& loop_;
  FaultCounts counts_;
  std::map<SiteId, std::unique_ptr<Line>> lines_;
  std::map<std::pair<Instant, std::uint64_t>, Item> under_way_;
  std::uint64_t sent_ = 0;
};

}  // namespace rota
