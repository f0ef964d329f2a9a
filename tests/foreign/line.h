// The way between a client and somebody else's cluster (other_cluster.h): messages take time, overtake one another, and
// are lost. In virtual time; drawn from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "engine/sim/loop.h"
#include "foreign/other_cluster.h"

namespace rota::foreign {

// In each direction.
struct LineFaults {
  Duration longest{0};  // that a message takes
  double loses = 0;     // so often an answer, or an order, never comes
};

// The way to the cluster. Orders that are on it arrive whatever becomes of the engine; answers come to the life of the
// engine that asked.
class Line final : public Alarm {
 public:
  struct Order {
    enum class Kind : std::uint8_t { start, cancel, requeue };
    Kind kind = Kind::start;
    Number number = 0;
    std::uint64_t key = 0;
    std::vector<Part> where = {};
  };
  struct Done {
    Order order;
    Instant at;
    std::optional<std::string> refusal;
  };
  struct Reply {
    std::string key;
    ClientAnswer answer;
  };

  class End {
   public:
    virtual ~End() = default;
    virtual void hear(const Listing& listing) = 0;
    virtual void hear(const Done& done) = 0;
    virtual void hear(const Reply& reply) = 0;
  };

  Line(OtherCluster& cluster, sim::VirtualLoop& loop, LineFaults faults, std::uint64_t seed)
      : cluster_(cluster), loop_(loop), faults_(faults), chance_(seed) {}

  void connect(End* end) {
    end_ = end;
    ++life_;
  }
  void ask() { send({true, Ask{}}); }
  void order(const Order& order) { send({true, order}); }
  void order(const ClientOrder& order) { send({true, order}); }
  void set_faults(LineFaults faults) { faults_ = faults; }
  // After what ring() called has come to a sudden end.
  void wake() {
    if (!on_the_way_.empty()) loop_.set(*this, on_the_way_.begin()->first.first);
  }
  bool idle() const { return on_the_way_.empty(); }
  void ring() override;

 private:
  struct Ask {};
  struct Message {
    bool to_cluster;
    std::variant<Ask, Order, ClientOrder, Listing, Done, Reply> what;
    std::uint64_t life = 0;
  };
  void send(Message message);
  void arrive(const Message& message);
  void answer(std::uint64_t life, Reply reply);
  Done carry_out(const Order& order);

  OtherCluster& cluster_;
  sim::VirtualLoop& loop_;
  LineFaults faults_;
  Random chance_;
  End* end_ = nullptr;
  std::uint64_t life_ = 0;
  std::uint64_t messages_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, Message> on_the_way_;
};

}  // namespace rota::foreign
