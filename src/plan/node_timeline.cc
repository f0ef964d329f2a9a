#include "plan/node_timeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "model/moment.h"

namespace rota {
namespace {

// When nodes that are away are there again, by instant: those that sleep only if they are woken for promises.
std::vector<std::pair<Instant, NodeId>> returns_of(const View& view) {
  std::vector<std::pair<Instant, NodeId>> returns;
  const NodePower& power = view.power();
  if (power.all_on()) return returns;
  const auto collect = [&](NodeId node) {
    returns.emplace_back(power.back_at(node, view.now()), node);
    return true;
  };
  power.for_each_in(PowerState::booting, collect);
  if (view.options().wakes_for_promises) {
    power.for_each_in(PowerState::shutting_down, collect);
    power.for_each_in(PowerState::off, collect);
  }
  std::sort(returns.begin(), returns.end());
  return returns;
}

// The last of some, by instant, that does not begin after `at`; the first one if all do.
template <class Some>
std::size_t index_at(const Some& some, Instant at) {
  const auto after =
      std::upper_bound(some.begin(), some.end(), at, [](Instant t, const auto& one) { return t < one.at; });
  return after == some.begin() ? 0 : static_cast<std::size_t>(after - some.begin()) - 1;
}

NodeFree lesser(const NodeFree& a, const NodeFree& b) {
  NodeFree least = a;
  least.processors = std::min(a.processors, b.processors);
  least.set_rest(a.rest().least(b.rest()));
  return least;
}

}  // namespace

NodeTimeline::NodeTimeline(const View& view)
    : nodes_(static_cast<std::uint32_t>(view.nodes().size())), all_through_(view.nodes()) {
  const Instant now = view.now();
  tracks_.resize(nodes_ + view.nodes().licences().size());
  steps_.push_back({now, {}});
  free_.push_back(0);
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    tracks_[i].push_back({now, all_through_.on(NodeId{i})});
    free_[0] += counts(i, tracks_[i][0].free);
  }
  for (std::uint32_t i = nodes_; i < tracks_.size(); ++i) {
    tracks_[i].push_back({now, {.memory = view.nodes().licences()[i - nodes_]}});
  }
  const auto returns = returns_of(view);
  auto back = returns.begin();
  const auto bring_back_by = [&](Instant at) {
    for (; back != returns.end() && back->first <= at; ++back) {
      const std::uint32_t processors = view.options().machine->nodes[back->second.value].processors;
      change_from(back->second.value, back->first, [&](NodeFree& free) { free.bring_back(processors); });
    }
  };
  view.running().for_each([&](const RunningEntry& e) {
    const Instant end = std::max(e.place.end, now + kMoment);  // an overdue job holds its nodes a moment longer
    bring_back_by(end);
    const Placement& where = view.placement(e.job);
    for (const Share& s : where.shares) {
      change_from(s.node.value, end, [&](NodeFree& free) { free.change(s.processors, where.per_node, 1); });
    }
    each_licence(where, [&](LicenceId id, std::uint32_t count) {
      change_from(track_of(id), end, [&](NodeFree& free) { free.memory += count; });
    });
    return true;
  });
  bring_back_by(kNever);
  for (const Reservation& r : view.reservations().all()) {
    for (const NodeId node : r.nodes) {  // no room as long as it lasts
      change(node.value, std::max(r.from, now), r.until,
             [](NodeFree& free) { free.processors = std::min(free.processors, 0); });
    }
  }
}

// While it is made, in order of time.
template <class Change>
void NodeTimeline::change_from(std::uint32_t track, Instant at, const Change& what) {
  Track& all = tracks_[track];
  NodeFree free = all.back().free;
  what(free);
  if (free == all.back().free) return;
  const std::int64_t more = counts(track, free) - counts(track, all.back().free);
  if (all.back().at != at) {
    all.push_back({at, free});
    note(track, at);
  } else {
    all.back().free = free;
  }
  free_.back() += more;
}

template <class Change>
void NodeTimeline::change(std::uint32_t track, Instant from, Instant to, const Change& what) {
  if (to <= from) return;
  const std::size_t first = cut(track, from);
  const std::size_t last = cut(track, to);
  std::size_t step = index_at(steps_, from);
  for (std::size_t i = first; i < last; ++i) {
    Segment& segment = tracks_[track][i];
    const std::int64_t before = counts(track, segment.free);
    what(segment.free);
    const std::int64_t more = counts(track, segment.free) - before;
    const std::size_t end = index_at(steps_, tracks_[track][i + 1].at);
    for (; step < end; ++step) free_[step] += more;
  }
  join(track, first, last);
}

void NodeTimeline::change(Instant from, Duration duration, const Placement& where, std::int32_t sign) {
  const Instant to = from + duration;
  for (const Share& s : where.shares) {
    change(s.node.value, from, to, [&](NodeFree& free) { free.change(s.processors, where.per_node, sign); });
  }
  each_licence(where, [&](LicenceId id, std::uint32_t count) {
    change(track_of(id), from, to, [&](NodeFree& free) { free.memory += std::int64_t{sign} * count; });
  });
}

std::size_t NodeTimeline::cut(std::uint32_t track, Instant at) {
  Track& all = tracks_[track];
  const std::size_t i = index_at(all, at);
  if (all[i].at >= at) return i;
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, {at, all[i].free});
  note(track, at);
  return i + 1;
}

// Segments that say what the one before says.
void NodeTimeline::join(std::uint32_t track, std::size_t first, std::size_t last) {
  Track& all = tracks_[track];
  for (std::size_t i = std::min(last, all.size() - 1); i > 0 && i >= first; --i) {
    if (!(all[i].free == all[i - 1].free)) continue;
    forget(track, all[i].at);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void NodeTimeline::note(std::uint32_t track, Instant at) {
  const std::size_t i = index_at(steps_, at);
  if (steps_[i].at == at) return steps_[i].tracks.push_back(track);
  const auto place = static_cast<std::ptrdiff_t>(i) + 1;
  steps_.insert(steps_.begin() + place, Step{at, {track}});
  free_.insert(free_.begin() + place, free_[i]);
}

// The step stays, if only to be passed over.
void NodeTimeline::forget(std::uint32_t track, Instant at) {
  auto& tracks = steps_[index_at(steps_, at)].tracks;
  const auto found = std::find(tracks.begin(), tracks.end(), track);
  CHECK(found != tracks.end(), "each change on a node is known by its instant");
  *found = tracks.back();
  tracks.pop_back();
}

bool NodeTimeline::fits(Instant from, Duration duration, const Placement& where) const {
  const auto holds = [&](std::uint32_t track, const auto& suffices) {
    const Track& all = tracks_[track];
    for (std::size_t i = index_at(all, from); i < all.size() && all[i].at < from + duration; ++i) {
      if (!suffices(all[i].free)) return false;
    }
    return true;
  };
  const auto has_licences = [&](LicenceId id, std::uint32_t count) {
    return holds(track_of(id), [&](const NodeFree& free) { return free.memory >= count; });
  };
  if (!all_licences(where, has_licences)) return false;
  return std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
    return holds(s.node.value, [&](const NodeFree& free) {
      return free.processors >= std::int64_t{s.processors} && free.rest().covers(where.per_node);
    });
  });
}

Instant NodeTimeline::free_since(Instant at, const JobSpec& spec, const Placement& where) const {
  if (where.licence.valid()) return steps_.front().at;
  const std::int64_t share = Spread(spec).share;
  Instant since = at;
  for (const Share& s : where.shares) {
    const Track& all = tracks_[s.node.value];
    for (std::size_t i = index_at(all, at - Duration{1}) + 1; i > 0; --i) {
      const NodeFree& free = all[i - 1].free;
      if (free.processors < share || !free.rest().covers(where.per_node)) break;
      since = std::min(since, all[i - 1].at);
    }
  }
  return since;
}

bool NodeTimeline::place_at(Instant at, const JobSpec& spec, Duration duration, Placement& where) {
  // Of a track, until there is too little: less of it is no different.
  const auto least = [&](const Track& all, const auto& suffices) {
    std::size_t i = index_at(all, at);
    NodeFree free = all[i].free;
    while (suffices(free) && ++i < all.size() && all[i].at < at + duration) free = lesser(free, all[i].free);
    return free;
  };
  each_licence(spec, [&](LicenceId id, std::uint32_t count) {
    const auto suffices = [&](const NodeFree& free) { return free.memory >= count; };
    all_through_.set_licences_free(id, least(tracks_[track_of(id)], suffices).memory);
  });
  const std::int64_t share = Spread(spec).share;
  const PerNode per_node = spec.per_node();
  const auto suffices = [&](const NodeFree& free) { return free.processors >= share && free.rest().covers(per_node); };
  for (std::uint32_t i = 0; i < nodes_; ++i) all_through_.set(NodeId{i}, least(tracks_[i], suffices));
  return all_through_.find_as_for_a_start(spec, where);
}

// Looks at one start after the other, and at each node again only where something changes on it. While the job would
// run, from the step `left` to before the step `right`, a node gives the least that is free on it: its level. A node
// whose level will be higher for starts from some later step on is counted there already (`later`).
class NodeTimeline::Search {
 public:
  Search(NodeTimeline& timeline, const JobSpec& spec, std::size_t first)
      : timeline_(timeline),
        spec_(spec),
        asked_(spec),
        per_node_(spec.per_node()),
        memory_(timeline.memory_),
        left_(static_cast<std::uint32_t>(first)),
        right_(left_ + 1) {
    memory_.runs.assign(1, {0, 0, kBottom});
    memory_.cursors.resize(timeline.tracks_.size());
    memory_.later.resize(timeline.steps_.size());
    for (std::uint32_t i = 0; i < timeline.nodes_; ++i) {
      if (timeline_.all_through_.admits(NodeId{i}, spec)) {
        begin(i);
      } else {
        memory_.cursors[i].segment = kNotThis;
      }
    }
    for (std::uint32_t i = timeline.nodes_; i < timeline.tracks_.size(); ++i) memory_.cursors[i].segment = kNotThis;
    each_licence(spec, [&](LicenceId id, std::uint32_t) {
      ++kinds_;
      begin(timeline.track_of(id));
    });
  }

  std::size_t left() const { return left_; }
  // The job would start no earlier than at this step, which is not before the last.
  void move_on_to(std::size_t step) {
    while (left_ < step) {
      if (++left_ < right_) {
        add(sum_, memory_.later[left_], 1);
      } else {
        look_at(right_++);
      }
    }
  }
  // Whether it has room until this instant. Looks no further than to where it has none: that is far from the end as a
  // rule, and the next start to be tried has none there either.
  bool fits_until(Instant end) {
    while (fits() && right_ < timeline_.steps_.size() && timeline_.steps_[right_].at < end) look_at(right_++);
    return fits();
  }

 private:
  bool fits() const { return sum_.given.suffices(asked_, spec_.processors) && sum_.licences == kinds_; }

  using Sum = NodeSearchMemory::Sum;
  using Run = NodeSearchMemory::Run;
  static constexpr std::uint32_t kNotThis = UINT32_MAX;
  static constexpr std::uint32_t kBottom = 0;  // the run of level 0 that has no beginning

  void begin(std::uint32_t track) {
    const Track& all = timeline_.tracks_[track];
    const std::size_t segment = left_ == 0 ? 0 : index_at(all, timeline_.steps_[left_].at);
    memory_.cursors[track] = {static_cast<std::uint32_t>(segment), kBottom};
    set_level(track, left_, level_of(track, all[segment].free));
  }

  void look_at(std::uint32_t right) {
    memory_.later[right] = {};
    for (const std::uint32_t track : timeline_.steps_[right].tracks) {
      NodeSearchMemory::Cursor& cursor = memory_.cursors[track];
      if (cursor.segment == kNotThis) continue;
      set_level(track, right, level_of(track, timeline_.tracks_[track][++cursor.segment].free));
    }
  }

  // As much as matters of what is free: processors, or else whether that is a share (1) or more (2); of licences
  // whether they suffice.
  std::int64_t level_of(std::uint32_t track, const NodeFree& free) const {
    if (is_licence(track)) return free.memory >= licences_of(spec_, LicenceId{track - timeline_.nodes_}) ? 1 : 0;
    if (free.processors <= 0 || !free.rest().covers(per_node_)) return 0;
    if (asked_.nodes == 0) return std::min<std::int64_t>(free.processors, spec_.processors);
    const std::int64_t more = free.processors - std::int64_t{asked_.share};
    return more < 0 ? 0 : more > 0 && asked_.larger > 0 ? 2 : 1;
  }

  bool is_licence(std::uint32_t track) const { return track >= timeline_.nodes_; }

  static void add(Sum& to, const Sum& sum, std::int64_t count) {
    to.given.add(sum.given, count);
    to.licences += count * sum.licences;
  }
  // Counts what a track gives in one level but not in the lower one.
  void count(std::uint32_t track, std::uint32_t since, std::int64_t lower, std::int64_t upper, std::int64_t sign) {
    Sum& sum = since <= left_ ? sum_ : memory_.later[since];
    if (is_licence(track)) {
      sum.licences += sign * (upper - lower);
    } else if (asked_.nodes == 0) {
      sum.given.processors += sign * (upper - lower);
    } else {
      if (lower == 0) sum.given.wide += sign;
      if (upper == 2) sum.given.wider += sign;
    }
  }

  void set_level(std::uint32_t track, std::uint32_t step, std::int64_t level) {
    std::uint32_t& top = memory_.cursors[track].run;
    while (memory_.runs[top].level > level) {
      Run& run = memory_.runs[top];
      const std::int64_t below = memory_.runs[run.below].level;
      count(track, run.since, std::max(below, level), run.level, -1);
      if (below >= level) {
        top = run.below;
      } else {
        run.level = level;
      }
    }
    if (memory_.runs[top].level == level) return;
    count(track, step, memory_.runs[top].level, level, 1);
    memory_.runs.push_back({level, step, top});
    top = static_cast<std::uint32_t>(memory_.runs.size()) - 1;
  }

  const NodeTimeline& timeline_;
  const JobSpec& spec_;
  Spread asked_;
  PerNode per_node_;
  NodeSearchMemory& memory_;
  std::int64_t kinds_ = 0;  // of licences that it asks for
  std::uint32_t left_;      // the step at which it would start,
  std::uint32_t right_;     // and the first at which it would be over, as far as was looked
  Sum sum_;                 // for a start at left_
};

// The steps, one after the other, from which on enough processors are free for as long as a job runs, on whatever
// nodes.
class NodeTimeline::CountedStarts {
 public:
  // own: from when on it has room whatever is free.
  CountedStarts(const NodeTimeline& timeline, const JobSpec& spec, Duration duration, const Bounds& bounds,
                Instant own = kNever)
      : steps_(timeline.steps_),
        free_(timeline.free_),
        processors_(spec.processors),
        stay_(std::max(duration, Duration{1})),
        own_(own),
        left_(index_at(steps_, bounds.from)),
        end_(bounds.before > bounds.from ? index_at(steps_, bounds.before - Duration{1}) + 1 : left_) {}

  std::size_t next() {  // the number of steps: no more
    while (left_ < end_) {
      right_ = std::max(right_, left_);
      const Instant end = std::min(steps_[left_].at + stay_, own_);
      while (right_ < free_.size() && free_[right_] >= processors_ && steps_[right_].at < end) ++right_;
      if (right_ == free_.size() || steps_[right_].at >= end) return left_++;
      left_ = right_ + 1;  // nobody who runs then has room
      while (left_ < end_ && free_[left_] < processors_) ++left_;
    }
    return free_.size();
  }

 private:
  const std::vector<Step>& steps_;
  const std::vector<std::int64_t>& free_;
  std::int64_t processors_;
  Duration stay_;
  Instant own_;
  std::size_t left_;
  std::size_t end_;        // of the starts that are looked for
  std::size_t right_ = 0;  // from left_ up to before it there is room
};

bool NodeTimeline::may_start_in(const Bounds& bounds, const JobSpec& spec, Duration duration) const {
  return CountedStarts(*this, spec, duration, bounds, bounds.before).next() < steps_.size();
}

Instant NodeTimeline::earliest(const JobSpec& spec, Duration duration, Placement& where, const Bounds& bounds) {
  const Duration stay = std::max(duration, Duration{1});
  CountedStarts starts(*this, spec, duration, bounds);
  std::optional<Search> search;
  for (;;) {
    const std::size_t left = starts.next();
    if (left == steps_.size()) return kNever;
    if (!search || left - search->left() > tracks_.size()) {
      search.emplace(*this, spec, left);
    } else {
      search->move_on_to(left);
    }
    if (!search->fits_until(steps_[left].at + stay)) continue;
    CHECK(place_at(steps_[left].at, spec, duration, where), "there is a place where there is room");
    return steps_[left].at;
  }
}

}  // namespace rota
