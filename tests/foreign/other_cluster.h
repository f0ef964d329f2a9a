// A resource manager that is not ours, in memory: it has users, operators and a scheduler of its own. It knows
// jobs by its own numbers and nodes by their names, forgets jobs a while after their end, and is away at times. What a
// client sees of it is a listing; what a client may ask for are orders, each of which it may refuse. In virtual time;
// the test moves it on. It knows nothing of Rota.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota::foreign {

using Number = std::int64_t;

// What a user asks for.
struct Wish {
  std::uint32_t user = 0;
  std::uint32_t processors = 1;
  std::uint32_t nodes = 0;  // over so many, with equal shares; 0: however they come
  std::int64_t memory = 0;  // bytes on each node
  Duration limit = seconds(60);
  Duration run_time = seconds(30);  // that it takes; the manager does not look at it
  std::int64_t priority = 0;
  std::string partition = "all";  // whose nodes it may use
  bool gated = false;             // its own scheduler leaves it alone: a client starts it
  bool requeue = false;           // a client may stop it and start it over
  bool operator==(const Wish&) const = default;
};

// What is to be other in what a job asks for.
struct Change {
  std::optional<Duration> limit = {};
  std::optional<std::int64_t> priority = {};
  std::optional<std::uint32_t> processors = {};
  std::optional<std::uint32_t> nodes = {};
  std::optional<std::int64_t> memory = {};
  std::optional<std::string> partition = {};
};

enum class State : std::uint8_t { waiting, running, ended };
enum class Hold : std::uint8_t {
  none,
  by_user,
  by_operator
};  // what a user holds an operator releases, and not the
    // other way round
enum class Ending : std::uint8_t { completed, timed_out, cancelled, node_failed };
enum class NodeState : std::uint8_t { up, draining, down };

struct Part {
  std::string node;
  std::uint32_t processors = 0;
  bool operator==(const Part&) const = default;
};

struct JobRow {
  Number number = 0;
  State state = State::waiting;
  Wish asks;
  Hold hold = Hold::none;
  std::int64_t starts = 0;  // it has begun so often
  Instant submitted = kNever, started = kNever, ended = kNever;
  std::vector<Part> where;  // of its latest run
  Ending how = Ending::completed;
  std::string key;  // that it was submitted under; empty: by hand
  std::string
      changed_by;  // key of the order that last submitted, held, released, changed or cancelled it; empty: by hand
  bool operator==(const JobRow&) const = default;
};

// What a client asks for under a key of its own.
struct ClientOrder {
  enum class Kind : std::uint8_t { submit, cancel, hold, release, change };
  std::string key;
  Kind kind = Kind::submit;
  Number job = 0;           // but of a submission
  Hold by = Hold::by_user;  // hold, release; submit: held from the beginning, or not
  Change change = {};
  Wish wish = {};  // submit
};
struct ClientAnswer {
  std::optional<std::string> refusal = {};
  Number job = 0;
  bool changed = false;  // for tests alone: anything is other than before
};

struct NodeRow {
  std::string name;
  std::uint32_t processors = 1;
  std::int64_t memory = 0;  // bytes; 0: not said
  NodeState state = NodeState::up;
  std::vector<std::string> partitions = {"all"};  // that it belongs to, in the order in which the cluster has them
};

struct PartitionRow {
  std::string name;
  bool up = true;  // else no job of it starts; those that run go on
};

// All that it knows, as of an instant.
struct Listing {
  Instant at;
  std::vector<JobRow> jobs;    // by number
  std::vector<NodeRow> nodes;  // in its order, which may change
  std::vector<PartitionRow> partitions;
};

class OtherCluster {
 public:
  explicit OtherCluster(std::vector<NodeRow> nodes) : nodes_(std::move(nodes)) {}

  // Time moves on: jobs end, its scheduler starts others, old ones are forgotten.
  void run_to(Instant now);
  Instant next() const;  // when something will happen by itself; kNever: nothing
  Instant now() const { return now_; }

  // Users.
  Number submit(const Wish& wish, Hold hold = Hold::none);

  // Users, operators and clients. Fails with a sentence, and changes nothing, where that cannot be.
  Result<void> cancel(Number job);
  Result<void> hold(Number job, Hold by = Hold::by_operator);
  Result<void> release(Number job, Hold by = Hold::by_operator);
  Result<void> requeue(Number job);
  Result<void> set_limit(Number job, Duration limit);
  Result<void> set_processors(Number job, std::uint32_t processors);  // of one that waits
  Result<void> set_priority(Number job, std::int64_t priority);
  Result<void> change(Number job, const Change& change);  // of one that waits; all of it or nothing
  // Starts a waiting job there. Refused where a node is not up or has too little room, unless it is forced.
  Result<void> start(Number job, const std::vector<Part>& where, bool forced = false);

  // Clients. What has one key is carried out once, and answered as it was then if it comes again. It must not be away.
  ClientAnswer carry_out(const ClientOrder& order);
  const std::map<std::string, ClientAnswer>& answers() const { return answers_; }  // for tests alone, as is this:
  std::int64_t repeats() const { return repeats_; }  // so many orders came whose key had been answered

  // Operators.
  void add_node(NodeRow node);
  Result<void> rename_node(const std::string& from, const std::string& to);
  Result<void> resize_node(const std::string& name, std::uint32_t processors, std::int64_t memory);
  Result<void> drop_node(const std::string& name);  // what runs there is lost
  Result<void> set_node(const std::string& name, NodeState state);
  Result<void> move_node(const std::string& name, const std::vector<std::string>& partitions);
  Result<void> set_partition(const std::string& name, bool up);
  void gate(Number job, bool gated);
  // It is gone for so long; jobs run on meanwhile and end unseen, and its scheduler stands still.
  void restart(Duration away) { back_at_ = now_ + away; }
  bool away() const { return now_ < back_at_; }

  Listing listing() const;
  const std::map<Number, JobRow>& jobs() const { return jobs_; }  // those that are not forgotten
  // Those that it has forgotten: for tests alone.
  const std::map<Number, JobRow>& forgotten() const { return forgotten_; }
  const JobRow* find(Number job) const;

  static constexpr Duration kRemembers = seconds(300);

 private:
  JobRow* known(Number job);
  Result<Number> do_as_told(const ClientOrder& order);
  NodeRow* node_of(const std::string& name);
  std::int64_t free_on(const NodeRow& node) const;
  std::int64_t memory_free_on(const NodeRow& node) const;
  bool has_partition(const std::string& name) const;
  bool is_up(const std::string& partition) const;
  std::optional<std::vector<Part>> place_for(const Wish& wish) const;
  Instant ends_at(const JobRow& job) const;
  void begin(JobRow& job, std::vector<Part> where);
  void end(JobRow& job, Ending how, Instant at);
  void lose(const std::string& node);
  void schedule();
  void forget();

  Instant now_ = kEpoch;
  Instant back_at_ = kEpoch;
  Number next_number_ = 5'482'113;
  std::map<Number, JobRow> jobs_;
  std::vector<NodeRow> nodes_;
  std::vector<PartitionRow> partitions_{{"all"}, {"day"}, {"night"}};
  std::map<Number, JobRow> forgotten_;
  std::map<std::string, ClientAnswer> answers_;
  std::int64_t repeats_ = 0;
};

}  // namespace rota::foreign
