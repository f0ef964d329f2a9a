// Accelerator containers of a live cluster, and the nodes bound to them: Li, Zhu, Liu and Qian 2016, by the state
// machine that a rehearsal binds nodes by (policy/bind/bind.h). One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "policy/bind/bind.h"
#include "serve/accelerator_slots.h"
#include "serve/desk.h"

namespace rota::serve {

// What a container says of itself, when it registers and again with each sign of life.
struct AcceleratorCard {
  int device = 0;           // tells the containers of one node apart, where each device has its own
  std::string address;      // where clients reach it: HOST:PORT, or the path of a Unix socket
  std::string token;        // that it asks clients for; empty: none
  std::string epoch;        // of its start: no other start has the same
  std::int64_t weight = 1;  // how fast its devices are together, beside those of others; > 0
  Duration period{1000};    // between two signs of life
  std::string state;        // JSON (docs/accelerators.md): its queues, memory, counts and devices
};

// Containers are state of the moment: they say what they are with each sign of life, so that a service that starts
// again knows all of them after one period, and nothing of them is in the journal. Which node is bound to which other
// one is a matter of the past as well: few nodes are to move, and each stays with its container over a restart. So
// bindings are facts, Bound and Unbound, and what a restart finds of them stays as it is.
//
// Nodes are bound in proportion to the containers' weights (NodeBinding::Stop::weighted); with equal weights that is
// the published rule. A container is lost when three of its periods have gone by without a sign: its nodes are bound
// anew. Its own node is then one of those without, unless the cluster is described with accelerators there. A node
// that is down is bound to none.
//
// A node may have several containers, one for each device: nodes are bound to the node, whose weight is that of its
// containers together, and shared out among them by the same rule. Slots of jobs that ask for it are bound to nodes
// with containers one by one (serve/accelerator_slots.h), and to the containers there in turn.
class AcceleratorDesk final : public FactObserver {
 public:
  using Clock = std::chrono::steady_clock;
  struct Place {
    NodeId node;
    int device = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Container {
    AcceleratorCard card;
    Clock::time_point seen;
  };
  enum class Taken : std::uint8_t {
    yes,
    replaced,  // another one of the node and device has registered after it, which is the node's now
  };

  // `book`: which jobs have slots of their own (accel_tasks).
  AcceleratorDesk(boost::asio::io_context& io, Desk& desk, const JobBook& book)
      : desk_(desk), timer_(io), slots_(desk, book) {}

  // The state is this service's: bindings that were are held for containers that will register again, but not for ever.
  void open();
  // Nodes are described anew.
  void nodes_changed();
  void stop() { timer_.cancel(); }

  // A card of a container of this node, which is known: the first one registers it.
  Taken take(NodeId node, AcceleratorCard card);
  // It accepts no more tasks. False: that start of it is not known.
  bool leave(NodeId node, std::string_view epoch);

  std::optional<NodeId> node_called(std::string_view name) const;
  const std::map<Place, Container>& containers() const { return containers_; }
  std::vector<Bound> bindings() const { return desk_.view().bindings().all(); }
  // The node whose container computes the tasks of this one: itself, or that which it is bound to. Invalid: none now.
  NodeId host_of(NodeId node) const;
  // Which of that node's containers, for all nodes that have one.
  std::map<NodeId, Place> places() const;
  // The container of a slot of a job on a node; nothing: none now, or there is no such slot.
  std::optional<Place> place_of(JobId job, NodeId node, std::int64_t slot) const;

  std::uint64_t wants() const override {
    return FactKinds::bits<HealthChanged, Started, LaunchFailed, Vacated, Requeued, Finished, Cancelled, Preempted,
                           Migrated>();
  }
  void fact_recorded(const View& before, const FactRef& fact) override;

 private:
  struct Restarted {  // it is not known yet which containers are still there
    Clock::time_point until;
  };

  bool has_container(NodeId node) const { return weight_of(node) > 0; }
  std::int64_t weight_of(NodeId node) const;  // of all of its containers; 0: it has none
  std::string shown(Place place) const;
  bool is_to_be_bound(NodeId node) const;
  bool all_are_back() const;
  void came_or_went(NodeId node);
  void bind_all();
  void look_at_health();
  void bind_slots();
  void tell();
  void record(const Observed& fact);
  void look();
  void wait();

  Desk& desk_;
  boost::asio::steady_timer timer_;
  Clock::time_point due_{};  // the timer's
  std::map<Place, Container> containers_;
  std::map<Place, std::string> replaced_;  // the epoch that was followed by another one
  std::variant<Restarted, NodeBinding> binding_ = Restarted{};
  AcceleratorSlots slots_;
  bool slots_due_ = false;
};

}  // namespace rota::serve
