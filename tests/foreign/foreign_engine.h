// The engine of a cluster that is somebody else's (other_cluster.h), as one of Slurm is to be: it asks for a listing
// from time to time, holds it against what the controller believes, and says what differs as facts with their times; it
// carries out commands as orders, which may be refused, or come late, or be answered by nothing. Whatever is not known
// is looked up, never assumed. It keeps nothing that must outlive it: which jobs it has told of is for the state to
// say.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/command_ledger.h"
#include "control/live_engine.h"
#include "control/overdue_watch.h"
#include "foreign/foreign_orders.h"
#include "foreign/line.h"
#include "foreign/other_cluster.h"

namespace rota::foreign {

// A hold of the cluster, as the state knows it.
Bars bar_of(Hold hold);

// The id of the partition of this name; invalid: there is none.
PartitionId partition_of(const Machine& machine, const std::string& name);

// Its nodes and partitions, as a cluster file would describe them.
Machine machine_of(const Listing& listing);

class ForeignEngine final : public LiveEngine, public Alarm, private Line::End {
 public:
  ForeignEngine(Line& line, Loop& loop, Duration poll)
      : line_(line), loop_(loop), poll_(poll), orders_(line, loop, [this] { set_alarm(); }) {}
  ~ForeignEngine() override {
    line_.connect(nullptr);
    loop_.set(*this, kNever);
  }

  Result<void> open(Intake& intake, const Takeover& from) override;
  void survey() { line_.ask(); }  // out of its turn

  Capabilities capabilities() const override;
  void dispatch(const Command& command) override;
  Observation observe() const override { return {.complete = false, .jobs = {}, .nodes = {}}; }
  void settled(JobId /*job*/, std::uint32_t /*dispatch*/) override {}  // the cluster forgets by itself
  Result<void> signal(JobId job, int number) override;
  QueueOrders* queue_orders() override { return &orders_; }
  std::vector<std::string> warnings() const override { return {}; }
  Result<void> health() const override;
  void ring() override;

  std::int64_t surveys() const { return surveys_; }

 private:
  // What this life knows of a job beside what the state says.
  struct Entry {
    JobId job;
    Instant touched = kEpoch;               // a listing from before then is too old to say anything of it
    Instant refused = kNever;               // its start was
    std::optional<Line::Order> order = {};  // that has had no answer yet
    Instant started = kNever;               // as first listed
  };

  void hear(const Listing& listing) override;
  void hear(const Line::Done& done) override;
  void hear(const Line::Reply& reply) override;
  void order(Entry& entry, const Line::Order& order);
  void order_again(Entry& entry);  // if nothing has been seen of it for long
  void compare_nodes(const Listing& listing);
  void miss_nodes(const Listing& listing);
  void compare(const JobRow& row, Instant listed);
  void meet(const JobRow& row);
  void compare_waiting(const JobRow& row, Entry& entry);
  void compare_wishes(const JobRow& row, JobId id);
  void compare_running(const JobRow& row, Entry& entry);
  void compare_ended(const JobRow& row, const Entry& entry);
  void begins(const JobRow& row, Entry& entry);
  void miss_jobs(const Listing& listing);
  void look_for_overdue();
  void set_alarm();
  bool say(const Observed& fact, Instant happened = kNever) { return intake_->record(fact, happened).has_value(); }

  const View& view() const { return state_(); }
  JobSpec spec_of(const JobRow& row) const;
  Placement place_of(const JobRow& row) const;
  std::vector<Part> parts_of(const Placement& where) const;
  NodeId node_of(const std::string& name) const;
  std::vector<PartitionId> partitions_of(const NodeRow& row) const;
  bool can_be_ours(const JobRow& row) const;

  Line& line_;
  Loop& loop_;
  Duration poll_;
  Intake* intake_ = nullptr;
  std::function<const View&()> state_;
  std::map<Number, Entry> entries_;
  std::set<Number> over_;       // and told so, while they are listed
  std::set<std::string> down_;  // partitions, as of the latest listing: their jobs are not ours to start
  CommandLedger ledger_;
  OverdueWatch overdue_;
  ForeignOrders orders_;
  Instant next_poll_ = kEpoch;
  Instant heard_ = kEpoch;  // the latest listing
  std::int64_t surveys_ = 0;
};

}  // namespace rota::foreign
