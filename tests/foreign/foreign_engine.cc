#include "foreign/foreign_engine.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "model/never_fits.h"

namespace rota::foreign {
namespace {

bool same(const Placement& a, const Placement& b) {
  const auto by_node = [](const Share& x, const Share& y) { return x.node < y.node; };
  std::vector<Share> first = a.shares;
  std::vector<Share> second = b.shares;
  std::ranges::sort(first, by_node);
  std::ranges::sort(second, by_node);
  return std::ranges::equal(
      first, second, [](const Share& x, const Share& y) { return x.node == y.node && x.processors == y.processors; });
}

Outcome outcome_of(Ending how) {
  switch (how) {
    case Ending::completed:
      return Outcome::completed;
    case Ending::timed_out:
      return Outcome::timed_out;
    case Ending::cancelled:
      return Outcome::cancelled;
    case Ending::node_failed:
      return Outcome::node_failed;
  }
  return Outcome::unknown;
}

constexpr Duration kPatience = seconds(90);  // until an order is sent again of which nothing is seen

Health health_of(NodeState state) {
  return state == NodeState::up ? Health::up : state == NodeState::draining ? Health::draining : Health::down;
}

}  // namespace

Bars bar_of(Hold hold) { return hold == Hold::none ? kNoBars : hold == Hold::by_user ? kHeldByUser : kHeldByOperator; }

PartitionId partition_of(const Machine& machine, const std::string& name) {
  const auto found = std::ranges::find(machine.partitions, name, &Partition::name);
  return found == machine.partitions.end()
             ? PartitionId{}
             : PartitionId{static_cast<std::uint32_t>(found - machine.partitions.begin())};
}

Machine machine_of(const Listing& listing) {
  Machine machine;
  for (const PartitionRow& row : listing.partitions) machine.partitions.emplace_back().name = row.name;
  machine.default_partition = PartitionId{0};
  for (const NodeRow& row : listing.nodes) {
    const NodeId id{static_cast<std::uint32_t>(machine.nodes.size())};
    Node& node = machine.nodes.emplace_back(Node{row.name, row.processors, row.memory, {}});
    machine.processors += row.processors;
    machine.memory += row.memory;
    for (const std::string& name : row.partitions) {
      node.partitions.push_back(partition_of(machine, name));
      Partition& partition = machine.partitions[node.partitions.back().value];
      partition.nodes.push_back(id);
      partition.processors += row.processors;
      partition.memory += row.memory;
    }
  }
  machine.racks = {""};
  return machine;
}

Capabilities ForeignEngine::capabilities() const {
  Capabilities can;
  can.suspend = can.checkpoint = can.extend = can.power = can.move = can.tasks = can.sites = false;
  can.submits = false;
  can.shared = true;
  can.answers_within = seconds(60);
  can.remembers = OtherCluster::kRemembers;
  can.confirms_starts = true;
  return can;
}

Result<void> ForeignEngine::open(Intake& intake, const Takeover& from) {
  intake_ = &intake;
  state_ = from.state;
  view().for_each_job([&](JobId id, const Job& job) {
    if (!job.gone()) entries_[job.spec.number] = {.job = id};
  });
  line_.connect(this);
  orders_.open(state_);
  next_poll_ = heard_ = loop_.now();
  loop_.set(*this, next_poll_);
  return {};
}

Result<void> ForeignEngine::signal(JobId /*job*/, int /*number*/) { return fail("Jobs there take no signals."); }

Result<void> ForeignEngine::health() const {
  const Duration silent = loop_.now() - heard_;
  if (silent <= kPatience + 2 * poll_) return {};
  return fail("The cluster has not been heard of for {}.", format_duration(silent));
}

void ForeignEngine::ring() {
  if (loop_.now() >= next_poll_) {
    survey();
    next_poll_ = loop_.now() + poll_;
  }
  orders_.look();
  look_for_overdue();
}

void ForeignEngine::look_for_overdue() {
  const std::vector<Overdue> late = overdue_.newly_overdue(view(), loop_.now());
  set_alarm();
  for (const Overdue& each : late) say(each);
  if (!late.empty()) static_cast<void>(intake_->decide());
}

void ForeignEngine::set_alarm() { loop_.set(*this, std::min({next_poll_, overdue_.next(), orders_.next()})); }

NodeId ForeignEngine::node_of(const std::string& name) const {
  const std::vector<Node>& nodes = view().options().machine->nodes;
  const auto found = std::ranges::find(nodes, name, &Node::name);
  return found == nodes.end() ? NodeId{} : NodeId{static_cast<std::uint32_t>(found - nodes.begin())};
}

Placement ForeignEngine::place_of(const JobRow& row) const {
  Placement where;
  for (const Part& part : row.where) {
    if (const NodeId node = node_of(part.node); node.valid()) where.shares.push_back({node, part.processors});
  }
  return where;
}

std::vector<Part> ForeignEngine::parts_of(const Placement& where) const {
  std::vector<Part> parts;
  for (const Share& s : where.shares)
    parts.push_back({view().options().machine->nodes[s.node.value].name, s.processors});
  return parts;
}

JobSpec ForeignEngine::spec_of(const JobRow& row) const {
  JobSpec spec;
  spec.number = row.number;
  spec.submit = row.submitted;
  spec.limit = row.asks.limit;
  spec.memory = row.asks.memory;
  spec.processors = row.asks.processors;
  spec.nodes = row.asks.nodes;
  spec.user = row.asks.user;
  spec.restart = row.asks.requeue ? Restart::from_start : Restart::never;
  spec.priority = static_cast<std::int32_t>(row.asks.priority);
  spec.partition = partition_of(*view().options().machine, row.asks.partition);
  return spec;
}

std::vector<PartitionId> ForeignEngine::partitions_of(const NodeRow& row) const {
  std::vector<PartitionId> all;
  for (const std::string& name : row.partitions) all.push_back(partition_of(*view().options().machine, name));
  return all;
}

bool ForeignEngine::can_be_ours(const JobRow& row) const {
  const Machine& machine = *view().options().machine;
  return row.asks.gated && !down_.contains(row.asks.partition) && row.asks.processors <= machine.processors &&
         !never_fits(machine, spec_of(row));
}

void ForeignEngine::dispatch(const Command& command) {
  // One that comes again is ordered again: the cluster refuses what it has carried out.
  if (ledger_.judge(command) == CommandLedger::Verdict::ignore) return;
  if (command.kind == Command::Kind::expect) return loop_.set(*this, loop_.now());
  const Job* job = command.job.valid() ? view().find_job(command.job) : nullptr;
  if (!job || job->gone()) return;  // what is said of it is late
  const Number number = job->spec.number;
  Entry& entry = entries_[number];
  entry.job = command.job;
  switch (command.kind) {
    case Command::Kind::start:
      return order(entry, {Line::Order::Kind::start, number, command.key, parts_of(command.where)});
    case Command::Kind::kill:
    case Command::Kind::preempt:
      return order(entry,
                   {command.for_good ? Line::Order::Kind::cancel : Line::Order::Kind::requeue, number, command.key});
    case Command::Kind::adjust:
    case Command::Kind::expect:
    case Command::Kind::migrate:
    case Command::Kind::power_on:
    case Command::Kind::power_off:
      return;
  }
}

void ForeignEngine::order(Entry& entry, const Line::Order& order) {
  entry.refused = kNever;
  entry.touched = loop_.now();
  entry.order = order;
  line_.order(order);
}

void ForeignEngine::order_again(Entry& entry) {
  if (entry.order && entry.touched + kPatience < loop_.now()) order(entry, Line::Order(*entry.order));
}

// That an order was refused says little: it may have been carried out before. The next listing tells.
void ForeignEngine::hear(const Line::Done& done) {
  const auto found = entries_.find(done.order.number);
  if (found == entries_.end() || ledger_.key_of(found->second.job) != done.order.key) return;
  Entry& entry = found->second;
  entry.touched = std::max(entry.touched, done.at);
  entry.order.reset();
  if (done.refusal) {
    if (done.order.kind == Line::Order::Kind::start) entry.refused = done.at;
    survey();
    return;
  }
  const Job* job = view().find_job(entry.job);
  if (!job || job->state != JobState::running) return;
  if (done.order.kind == Line::Order::Kind::start && job->starting) {
    say(Launched{entry.job, job->dispatch});
    static_cast<void>(intake_->decide());
  } else {
    survey();
  }
}

void ForeignEngine::hear(const Line::Reply& reply) {
  orders_.hear(reply);
  survey();
}

void ForeignEngine::hear(const Listing& listing) {
  heard_ = loop_.now();
  if (listing.at < view().surveyed()) return;  // a later one came before it
  ++surveys_;
  down_.clear();
  for (const PartitionRow& row : listing.partitions) {
    if (!row.up) down_.insert(row.name);
  }
  compare_nodes(listing);
  for (const JobRow& row : listing.jobs) compare(row, listing.at);
  miss_jobs(listing);
  miss_nodes(listing);
  std::erase_if(over_,
                [&](Number n) { return std::ranges::find(listing.jobs, n, &JobRow::number) == listing.jobs.end(); });
  if (listing.at > view().surveyed()) say(Surveyed{listing.at});
  static_cast<void>(intake_->decide());
  look_for_overdue();
}

void ForeignEngine::compare_nodes(const Listing& listing) {
  for (const NodeRow& row : listing.nodes) {
    NodeId id = node_of(row.name);
    const Machine& machine = *view().options().machine;
    const bool is_new = !id.valid();
    if (is_new) id = NodeId{static_cast<std::uint32_t>(machine.nodes.size())};
    Node is = is_new ? Node{.name = row.name, .partitions = {}} : machine.nodes[id.value];
    is.processors = row.processors;
    is.memory = row.memory;
    is.partitions = partitions_of(row);
    if (is_new || is != machine.nodes[id.value]) say(Described{id, std::move(is)});
    if (view().power().health(id) != health_of(row.state)) say(HealthChanged{id, health_of(row.state)});
  }
}

void ForeignEngine::miss_nodes(const Listing& listing) {
  for (std::uint32_t n = 0; n < view().options().machine->nodes.size(); ++n) {
    Node gone = view().options().machine->nodes[n];
    if (gone.processors == 0) continue;
    if (std::ranges::find(listing.nodes, gone.name, &NodeRow::name) != listing.nodes.end()) continue;
    gone.processors = 0;
    gone.memory = 0;
    say(Described{NodeId{n}, std::move(gone)});
  }
}

void ForeignEngine::compare(const JobRow& row, Instant listed) {
  const auto found = entries_.find(row.number);
  if (found == entries_.end()) return meet(row);
  Entry& entry = found->second;
  if (listed <= entry.touched && row.state != State::ended) return;  // what has ended stays so
  const Job* job = view().find_job(entry.job);
  const bool is_being_cancelled = job && job->cancelling && row.state != State::ended;
  if (is_being_cancelled) return order_again(entry);
  if (!job || job->gone()) {
    entries_.erase(found);
    if (row.state == State::ended) over_.insert(row.number);
    return;
  }
  switch (row.state) {
    case State::waiting:
      return compare_waiting(row, entry);
    case State::running:
      return compare_running(row, entry);
    case State::ended:
      return compare_ended(row, entry);
  }
}

// One that the controller has never heard of, or has forgotten since it was over.
void ForeignEngine::meet(const JobRow& row) {
  if (over_.contains(row.number)) return;
  if (row.state == State::ended && row.ended <= view().surveyed()) return;
  const bool ours = can_be_ours(row);
  Bars bars = ours ? kNoBars : kNotOurs;
  bars |= bar_of(row.hold);
  const JobId id = intake_->submit(spec_of(row), bars);
  if (!id.valid()) return;
  Entry& entry = entries_[row.number] = {.job = id};
  if (row.state == State::running) begins(row, entry);
  if (row.state == State::ended) compare_ended(row, entry);
}

void ForeignEngine::begins(const JobRow& row, Entry& entry) {
  compare_wishes(row, entry.job);
  entry.started = row.started;
  say(Found{entry.job, place_of(row)}, row.started);
}

void ForeignEngine::compare_waiting(const JobRow& row, Entry& entry) {
  const Job& job = view().job(entry.job);
  if (job.state != JobState::running) return compare_wishes(row, entry.job);
  if (job.starting && !job.stopping) {
    if (entry.refused == kNever) {  // its order is on its way, or is lost
      return order_again(entry);
    }
    entry.refused = kNever;
    say(LaunchFailed{entry.job, true, job.dispatch});
    if (!job.gone() && job.state != JobState::running) compare_wishes(row, entry.job);  // by which it may not be ours
    return;
  }
  if (job.leaving) {
    say(Vacated{entry.job, Duration{0}, job.dispatch});
  } else {
    say(Requeued{entry.job, job.spec.limit, job.dispatch});
  }
}

void ForeignEngine::compare_wishes(const JobRow& row, JobId id) {
  const Job& job = view().job(id);
  const bool ours = can_be_ours(row);
  if (!ours && job.ours()) say(Held{id, kNotOurs});
  const auto held = static_cast<Bars>(job.bars & kHolds);
  const Bars holds = bar_of(row.hold);
  if ((holds & ~held) != 0) say(Held{id, holds});
  const JobSpec asks = spec_of(row);
  const auto terms_of = [](const JobSpec& spec) {
    return std::tie(spec.limit, spec.priority, spec.processors, spec.nodes, spec.memory, spec.partition);
  };
  if (terms_of(asks) != terms_of(job.spec)) {
    const JobTerms* own = view().eligibility().terms(id);
    JobTerms terms = own ? *own : JobTerms{asks.limit, asks.priority, job.spec.partition};
    terms.limit = asks.limit;
    terms.priority = asks.priority;
    terms.partition = asks.partition;
    say(Amended{id, terms, asks.processors, asks.nodes, asks.memory});
  }
  for (const Bars each : {kHeldByUser, kHeldByOperator}) {
    if ((held & ~holds & each) != 0) say(Released{id, each});
  }
  if (ours && !view().job(id).ours()) say(Released{id, kNotOurs});
}

void ForeignEngine::compare_running(const JobRow& row, Entry& entry) {
  const Job& job = view().job(entry.job);
  if (job.state != JobState::running) {
    return begins(row, entry);
  }
  const bool elsewhere = !same(place_of(row), view().placement(entry.job));
  if (job.starting) {
    if (elsewhere) {
      say(LaunchFailed{entry.job, true, job.dispatch});
      return begins(row, entry);
    }
    say(Launched{entry.job, job.dispatch});
  } else if (entry.started != kNever
                 ? entry.started != row.started
                 : !job.ours() && row.started > job.start) {  // it went back to the queue, and began again
    say(Requeued{entry.job, job.spec.limit, job.dispatch}, row.started);
    return begins(row, entry);
  }
  entry.started = row.started;
  if (elsewhere && job.settled()) say(Found{entry.job, place_of(row)});
  if (row.asks.limit != job.spec.limit && job.settled()) say(LimitChanged{entry.job, row.asks.limit});
}

void ForeignEngine::compare_ended(const JobRow& row, const Entry& entry) {
  const JobId id = entry.job;
  const bool runs = view().job(id).state == JobState::running;
  if (!runs && row.started == kNever) {
    say(Cancelled{id}, row.ended);
  } else {
    if (!runs) say(Found{id, place_of(row)}, row.started);
    if (row.started == kNever || (view().job(id).starting && row.how == Ending::cancelled)) {
      say(Cancelled{id}, row.ended);
    } else {
      say(Finished{id, outcome_of(row.how)}, row.ended);
    }
  }
  over_.insert(row.number);
  entries_.erase(row.number);
}

void ForeignEngine::miss_jobs(const Listing& listing) {
  std::vector<Number> missing;
  for (const auto& [number, entry] : entries_) {
    if (entry.touched >= listing.at) continue;
    const bool listed = std::ranges::find(listing.jobs, number, &JobRow::number) != listing.jobs.end();
    if (!listed) missing.push_back(number);
  }
  for (const Number number : missing) {
    const JobId id = entries_[number].job;
    entries_.erase(number);
    const Job* job = view().find_job(id);
    if (job && !job->gone()) say(Finished{id, Outcome::unknown});
  }
}

}  // namespace rota::foreign
