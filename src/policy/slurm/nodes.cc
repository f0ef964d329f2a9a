#include <algorithm>

#include "base/check.h"
#include "model/moment.h"
#include "policy/slurm/consecutive.h"
#include "policy/slurm/slurm_room.h"

namespace rota {

SlurmNodes::SlurmNodes(const View& view, Plan& plan, const SlurmKnobs& knobs)
    : view_(view),
      plan_(plan),
      knobs_(knobs),
      around_reservations_(view.reserved_in_reach()),
      all_(view.nodes().size()),
      open_(all_),
      closed_(view.options().machine->partitions.size(), false) {}

// ---- the main pass

bool SlurmNodes::fits_now(const WaitingEntry& e) {
  if (!plan_.nodes().find(spec(e), where_)) return false;  // nowhere at all
  NodeSet nodes = open_;
  drop_reserved(now(), now() + e.expected, nodes);
  free_.copy(plan_.nodes());
  restrict_to(nodes);
  return place(spec(e));
}

bool SlurmNodes::place(const JobSpec& spec) {
  return spec.nodes <= 1 ? find_consecutive(room_, view_.options().machine->nodes, spec, where_)
                         : room_.find(spec, where_);
}

bool SlurmNodes::open_to(PartitionId partition) const { return !partition.valid() || !closed_[partition.value]; }

bool SlurmNodes::close(const JobSpec& spec) {
  const bool names_nodes = spec.node_wish && !spec.node_wish->among.empty();
  if (!names_nodes && !spec.partition.valid()) return false;
  if (!names_nodes && open_.size() < all_.size() && !would_run_on_idle(spec, open_)) return true;
  const std::vector<NodeId>& nodes =
      names_nodes ? spec.node_wish->among : view_.options().machine->partitions[spec.partition.value].nodes;
  for (const NodeId node : nodes) open_.erase(node);
  if (!names_nodes) closed_[spec.partition.value] = true;
  return !open_.empty();
}

// ---- the backfill pass

void SlurmNodes::open_pass() {
  free_.copy(plan_.nodes());
  ends_.clear();
  view_.running().for_each([&](const RunningEntry& e) {
    add_end(e.job, e.place.end, view_.placement(e.job));
    return true;
  });
  std::size_t place = 0;
  for (const Action& a : plan_.actions()) {
    if (!a.has_place()) continue;
    const Placement& where = started_.emplace_back(plan_.places()[place++]);
    if (a.kind == ActionKind::start) add_end(a.job, now() + view_.job(a.job).expected, where);
  }
  stretches_.assign(1, {now(), now() + knobs_.window, all_});
  planned_ = false;
  alike_ = std::min(same_ends_until(view_), ends_.empty() ? kNever : ends_.front().at);
}

// Slurm reckons in whole seconds of its clock: a job ends at the one before its end, unless that is over.
void SlurmNodes::add_end(JobId job, Instant at, const Placement& where) {
  const Instant second = knobs_.rounded_down(at, seconds(1));
  const End end{second > now() ? second : std::max(at, now() + kMoment), job, &where};
  ends_.insert(std::ranges::upper_bound(ends_, end), end);
}

Instant SlurmNodes::earliest(const WaitingEntry& e, bool now_only) {
  const JobSpec& asked = spec(e);
  const NodeSet& partition = nodes_of(asked.partition);
  NodeSet nodes;
  Instant from = now();
  while (from < stretches_.back().until) {
    const Instant later = usable(from, e.expected, partition, nodes);
    drop_unsuitable(asked, nodes);
    const Instant found = too_few(asked, nodes) ? kNever : will_run(asked, nodes, now_only);
    const Instant start = std::max(found, from);
    if (start <= now() || now_only) return found;
    if (from == now()) is_alike_until(same_from_now(e, nodes, later, start));
    if (start == kNever || start > later) {
      if (later == kNever) return kNever;
      from = later;
      continue;
    }
    if (start - now() > knobs_.window) {
      is_alike_until(start - knobs_.window);
      return kNever;
    }
    if (!reserved_within(slot_of(start, e.expected, knobs_))) return start;
    from = start == from ? start + knobs_.resolution : start;
  }
  is_alike_until(from - knobs_.window + kMoment);
  return kNever;
}

// From another instant on a job is looked for alike as long as it is. But what is reserved between the end that the job
// would have if it started now and the one that it would have if it started a little later may take nodes from it, or
// give it others afterwards. The former means nothing to a job that has no room on any of these nodes as long.
Instant SlurmNodes::same_from_now(const WaitingEntry& e, const NodeSet& nodes, Instant later, Instant start) {
  if (alike_ <= now()) return now();
  const bool needs_others = start == kNever || (start > later && not_before_ > later);
  const NodeSet& partition = nodes_of(spec(e).partition);
  NodeSet left = partition;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& s = stretches_[i];
    left &= s.unreserved;
    if (s.from <= now() + e.expected) continue;
    if (!needs_others && !s.unreserved.includes(nodes)) return s.from - e.expected;
    if (later < kNever || i + 2 >= stretches_.size() || stretches_[i + 1].until >= start) continue;
    if (!left.shares_all_of(stretches_[i + 1].unreserved, partition, stretches_[i + 2].unreserved))
      return s.from - e.expected;
  }
  return kNever;
}

// Before the first stretch is over, the nodes that a job could have from now on are these, or fewer.
Instant SlurmNodes::alike_until() const {
  return stretches_.size() > 1 ? std::min(alike_, stretches_.front().until) : alike_;
}

const NodeSet& SlurmNodes::nodes_of(PartitionId partition) {
  const std::vector<Partition>& all = view_.options().machine->partitions;
  if (!partition.valid()) return all_;
  if (of_partition_.empty()) of_partition_.resize(all.size());
  NodeSet& nodes = of_partition_[partition.value];
  if (nodes.empty()) {
    nodes = all_;
    nodes.clear();
    for (const NodeId node : all[partition.value].nodes) nodes.insert(node);
  }
  return nodes;
}

// Those without the features that it asks for, and those that it excludes.
void SlurmNodes::drop_unsuitable(const JobSpec& spec, NodeSet& nodes) const {
  if (!spec.node_wish) return;
  const NodeWish& wish = *spec.node_wish;
  const std::vector<Node>& all = view_.options().machine->nodes;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (!wish.suits(all[i].features)) nodes.erase(NodeId{i});
  for (const NodeId node : wish.without) nodes.erase(node);
}

// The nodes of a partition that no reservation keeps while a job would run from an instant on. When others of them are
// there: kNever, or at the end of the first stretch after which that is so, the one behind the end of the job included.
Instant SlurmNodes::usable(Instant from, Duration expected, const NodeSet& partition, NodeSet& nodes) const {
  nodes = partition;
  Instant later = kNever;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& s = stretches_[i];
    if (s.until <= from) continue;
    if (later == kNever && i + 1 < stretches_.size() &&
        !nodes.shares_all_of(s.unreserved, partition, stretches_[i + 1].unreserved))
      later = s.until;
    if (s.from > from + expected) break;
    nodes &= s.unreserved;
  }
  return std::min(later, drop_reserved(from, from + expected, nodes));
}

// What is reserved from all jobs for a part of the time. When the first of that is over.
Instant SlurmNodes::drop_reserved(Instant from, Instant until, NodeSet& nodes) const {
  Instant over = kNever;
  if (!around_reservations_) return over;
  for (const Reservation& r : view_.reservations().all()) {
    if (r.from >= until || r.until <= from) continue;
    for (const NodeId node : r.nodes) nodes.erase(node);
    over = std::min(over, r.until);
  }
  return over;
}

bool SlurmNodes::too_few(const JobSpec& spec, const NodeSet& nodes) const {
  return nodes.size() < std::max<std::size_t>(1, Spread(spec).nodes);
}

// When there is room on these nodes if running jobs end as expected and no other job starts. Ends that are close to
// each other are looked at together, as Slurm does: those up to a barrier, which lies a while after the first of them,
// and the while doubles from one look to the next. A job that ends on other nodes is passed over, and the job after it
// is taken along without a look at the clock.
Instant SlurmNodes::will_run(const JobSpec& spec, const NodeSet& nodes, bool now_only) {
  restrict_to(nodes);
  if (place(spec)) return now();
  if (now_only) return kNever;
  FitWatch watch(room_, spec);
  const auto is_there = [&](const End& end) {
    return std::any_of(end.where->shares.begin(), end.where->shares.end(),
                       [&](const Share& s) { return nodes.contains(s.node); });
  };
  Duration together = seconds(30);
  Instant barrier = kNever;
  not_before_ = kNever;
  for (auto end = ends_.begin(); end != ends_.end();) {
    Instant last = kNever;
    while (end != ends_.end()) {
      const End& one = *end++;
      if (!is_there(one)) continue;
      if (barrier == kNever) barrier = knobs_.rounded_down(one.at, together) + together;
      watch.give(room_, *one.where);
      if (last == kNever) not_before_ = one.at;
      last = one.at;
      if (end != ends_.end() && end->at > barrier + together) break;
    }
    if (last == kNever) return kNever;
    do together *= 2;
    while (end != ends_.end() && end->at > barrier + together);
    if (!watch.fits()) continue;
    CHECK(place(spec), "a job that has room has a place");
    return last;
  }
  return kNever;
}

// Whether a part of the place that was found last is reserved for a part of that time.
bool SlurmNodes::reserved_within(const SlurmSlot& slot) const {
  return std::any_of(stretches_.begin(), stretches_.end(), [&](const Stretch& s) {
    if (s.until <= slot.from || s.from >= slot.until) return false;
    return std::any_of(where_.shares.begin(), where_.shares.end(),
                       [&](const Share& share) { return !s.unreserved.contains(share.node); });
  });
}

void SlurmNodes::reserve(const WaitingEntry& e, Instant start) {
  const SlurmSlot slot = slot_of(start, e.expected, knobs_);
  cut(slot.from);
  cut(slot.until);
  for (Stretch& s : stretches_) {
    if (s.until <= slot.from || s.from >= slot.until) continue;
    for (const Share& share : where_.shares) {
      s.unreserved.erase(share.node);
      planned_ |= free_.processors_on(share.node) > 0;
    }
  }
  join_stretches(slot);
  for (const Instant at : {slot.from, slot.until})  // the window has not come so far
    if (at >= now() + knobs_.window) is_alike_until(at - knobs_.window);
}

// As Slurm does, which decides where a job is tried next: of the stretches about what has been reserved, the first that
// keeps the same nodes as the next one becomes one with it. No other one does, so that alike neighbours may stay.
void SlurmNodes::join_stretches(const SlurmSlot& slot) {
  const auto begins_at = [&](Instant at) { return std::ranges::lower_bound(stretches_, at, {}, &Stretch::from); };
  auto first = begins_at(slot.from);
  first -= std::min<std::ptrdiff_t>(2, first - stretches_.begin());
  auto last = begins_at(slot.until);
  if (last != stretches_.end()) ++last;
  const auto one =
      std::adjacent_find(first, last, [](const Stretch& a, const Stretch& b) { return a.unreserved == b.unreserved; });
  if (one == last) return;
  one->until = std::next(one)->until;
  stretches_.erase(std::next(one));
}

void SlurmNodes::start(const WaitingEntry& e, const Reason& reason, bool backfilled) {
  plan_.start_at(e.job, where_, reason, backfilled);
  if (stretches_.empty()) return;  // it is the main pass
  free_.occupy(where_);
  add_end(e.job, now() + e.expected, started_.emplace_back(where_));
}

bool SlurmNodes::would_run_on_idle(const JobSpec& spec, const NodeSet& nodes) {
  const std::vector<Node>& all = view_.options().machine->nodes;
  room_.copy(plan_.nodes());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const bool there = nodes.contains(NodeId{i});
    room_.set(NodeId{i}, {.processors = there ? static_cast<std::int32_t>(all[i].processors) : 0,
                          .accelerators = static_cast<std::int16_t>(there ? all[i].accelerators : 0),
                          .there = there,
                          .memory = all[i].memory > 0 ? all[i].memory : PerNode::kUnlimited});
  }
  return place(spec);
}

// Nothing else counts.
void SlurmNodes::restrict_to(const NodeSet& nodes) {
  room_ = free_;
  for (std::uint32_t i = 0; i < view_.nodes().size(); ++i) {
    if (!nodes.contains(NodeId{i})) room_.set(NodeId{i}, {.there = false});
  }
}

// A stretch begins there, if it lies within the window.
void SlurmNodes::cut(Instant at) {
  const auto around =
      std::find_if(stretches_.begin(), stretches_.end(), [&](const Stretch& s) { return s.from < at && at < s.until; });
  if (around == stretches_.end()) return;
  Stretch after = *around;
  after.from = around->until = at;
  stretches_.insert(std::next(around), std::move(after));
}

}  // namespace rota
