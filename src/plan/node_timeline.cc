#include "plan/node_timeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace rota {
namespace {

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
  least.set_per_node(a.per_node().least(b.per_node()));
  return least;
}

}  // namespace

NodeTimeline NodeTimeline::unused(const View& view) {
  const Machine& machine = *view.options().machine;
  const NodeSpace space(&machine);
  const NodeRoom room(space);
  NodeTimeline all;
  all.nodes_ = static_cast<std::uint32_t>(view.nodes().size());
  all.all_through_.copy(view.nodes());
  all.steps_.push_back({view.now(), 0, kNoChange});
  for (std::uint32_t i = 0; i < all.nodes_; ++i) {
    all.tracks_.push_back({{view.now(), room.on(NodeId{i})}});
    all.steps_[0].free += all.counts(i, room.on(NodeId{i}));
  }
  for (const Licence& licence : machine.licences) {
    all.tracks_.push_back({{view.now(), {.memory = licence.count}}});
  }
  return all;
}

void NodeTimeline::advance(Instant now) {
  std::size_t past = 0;
  for (; past < steps_.size() && steps_[past].at <= now; ++past) {
    if (past > 0 && steps_[past].changes == kNoChange) --idle_steps_;
    while (steps_[past].changes != kNoChange) {
      const std::uint32_t c = steps_[past].changes;
      Track& all = tracks_[changes_[c].track];
      all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(index_at(all, now)));
      steps_[past].changes = std::exchange(changes_[c].next, std::exchange(spare_change_, c));
    }
  }
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(past) - 1);
  steps_.front().at = now;
  if (idle_steps_ > 16 + steps_.size() / 4) drop_idle_steps();
}

void NodeTimeline::drop_idle_steps() {
  const auto idle = [](const Step& step) { return step.changes == kNoChange; };
  steps_.erase(std::remove_if(steps_.begin() + 1, steps_.end(), idle), steps_.end());
  idle_steps_ = 0;
}

template <class What>
void NodeTimeline::change(std::uint32_t track, Instant from, Instant to, const What& what) {
  if (to <= from) return;
  const std::size_t first = cut(track, from);
  const std::size_t last = to == kNever ? tracks_[track].size() : cut(track, to);
  std::size_t step = index_at(steps_, from);
  for (std::size_t i = first; i < last; ++i) {
    Segment& segment = tracks_[track][i];
    const std::int64_t before = counts(track, segment.free);
    what(segment.free);
    const std::int64_t more = counts(track, segment.free) - before;
    const Instant end = i + 1 < tracks_[track].size() ? tracks_[track][i + 1].at : kNever;
    for (; step < steps_.size() && steps_[step].at < end; ++step) steps_[step].free += more;
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
  if (all[i].at >= at || at <= begin()) return i;  // what was before is not asked for
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
  std::size_t i = index_at(steps_, at);
  if (steps_[i].at != at) {
    ++i;
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i), {at, steps_[i - 1].free, kNoChange});
  } else if (i > 0 && steps_[i].changes == kNoChange) {
    --idle_steps_;
  }
  std::uint32_t c = spare_change_;
  if (c == kNoChange) {
    c = static_cast<std::uint32_t>(changes_.size());
    changes_.emplace_back();
  } else {
    spare_change_ = changes_[c].next;
  }
  changes_[c] = {track, std::exchange(steps_[i].changes, c)};
}

// The step stays, if only to be passed over.
void NodeTimeline::forget(std::uint32_t track, Instant at) {
  Step& step = steps_[index_at(steps_, at)];
  std::uint32_t* link = &step.changes;
  while (*link != kNoChange && changes_[*link].track != track) link = &changes_[*link].next;
  CHECK(*link != kNoChange, "each change on a node is known by its instant");
  const std::uint32_t c = *link;
  *link = std::exchange(changes_[c].next, std::exchange(spare_change_, c));
  if (step.changes == kNoChange) ++idle_steps_;
}

template <class Suffices>
bool NodeTimeline::holds_all_through(std::uint32_t track, Instant from, Instant to, const Suffices& suffices) const {
  const Track& all = tracks_[track];
  for (std::size_t i = index_at(all, from); i < all.size() && all[i].at < to; ++i) {
    if (!suffices(all[i].free)) return false;
  }
  return true;
}

bool NodeTimeline::fits(Instant from, Duration duration, const Placement& where) const {
  const Instant to = from + duration;
  const auto has_licences = [&](LicenceId id, std::uint32_t count) {
    return holds_all_through(track_of(id), from, to, [&](const NodeFree& free) { return free.memory >= count; });
  };
  if (!all_licences(where, has_licences)) return false;
  return std::ranges::all_of(where.shares, [&](const Share& s) {
    return holds_all_through(s.node.value, from, to, [&](const NodeFree& free) {
      return free.processors >= std::int64_t{s.processors} && free.per_node().covers(where.per_node);
    });
  });
}

bool NodeTimeline::overdrawn(Instant from, Duration duration, const Placement& where) const {
  const Instant to = from + duration;
  const auto has_some = [](const NodeFree& free) { return free.processors >= 0 && free.per_node().covers({}); };
  const auto has_licences = [&](LicenceId id, std::uint32_t) {
    return holds_all_through(track_of(id), from, to, [](const NodeFree& free) { return free.memory >= 0; });
  };
  return !all_licences(where, has_licences) || !std::ranges::all_of(where.shares, [&](const Share& s) {
    return holds_all_through(s.node.value, from, to, has_some);
  });
}

Instant NodeTimeline::free_since(Instant at, const JobSpec& spec, const Placement& where) const {
  if (where.licence.valid()) return begin();
  const std::int64_t share = Spread(spec).share;
  Instant since = at;
  for (const Share& s : where.shares) {
    const Track& all = tracks_[s.node.value];
    for (std::size_t i = index_at(all, at - Duration{1}) + 1; i > 0; --i) {
      const NodeFree& free = all[i - 1].free;
      if (free.processors < share || !free.per_node().covers(where.per_node)) break;
      since = std::min(since, all[i - 1].at);
    }
  }
  return since;
}

bool NodeTimeline::place_at(Instant at, const JobSpec& spec, Duration duration, Placement& where) {
  // What is free on a track all through, or the first amount that is too little: one still lower makes no difference.
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
  const auto suffices = [&](const NodeFree& free) {
    return free.processors >= share && free.per_node().covers(per_node);
  };
  for (std::uint32_t i = 0; i < nodes_; ++i) all_through_.set(NodeId{i}, least(tracks_[i], suffices));
  return all_through_.find_as_for_a_start(spec, where);
}

// Looks at one start after the other, and at each node again only where something changes on it. While the job would
// run, from the step `start` to before the step `looked_to`, a node gives the least that is free on it: its level. A
// node whose level will be higher for starts from some later step on is counted there already (`later`).
class NodeTimeline::Search {
 public:
  Search(NodeTimeline& timeline, const JobSpec& spec, std::size_t first)
      : timeline_(timeline),
        spec_(spec),
        asked_(spec),
        per_node_(spec.per_node()),
        memory_(timeline.memory_),
        start_(static_cast<std::uint32_t>(first)),
        looked_to_(start_ + 1) {
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

  std::size_t start() const { return start_; }
  // The job would start no earlier than at this step, which is not before the last.
  void move_on_to(std::size_t step) {
    while (start_ < step) {
      if (++start_ < looked_to_) {
        add(sum_, memory_.later[start_], 1);
      } else {
        look_at(looked_to_++);
      }
    }
  }
  // Whether it has room until this instant. Looks no further than to where it has none: that is far from the end as a
  // rule, and the next start to be tried has none there either.
  bool fits_until(Instant end) {
    while (fits() && looked_to_ < timeline_.steps_.size() && timeline_.steps_[looked_to_].at < end)
      look_at(looked_to_++);
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
    const std::size_t segment = start_ == 0 ? 0 : index_at(all, timeline_.steps_[start_].at);
    memory_.cursors[track] = {static_cast<std::uint32_t>(segment), kBottom};
    set_level(track, start_, level_of(track, all[segment].free));
  }

  void look_at(std::uint32_t step) {
    memory_.later[step] = {};
    timeline_.for_each_changed(step, [&](std::uint32_t track) {
      NodeSearchMemory::Cursor& cursor = memory_.cursors[track];
      if (cursor.segment == kNotThis) return;
      set_level(track, step, level_of(track, timeline_.tracks_[track][++cursor.segment].free));
    });
  }

  // As much as matters of what is free: processors, or else whether that is a share (1) or more (2); of licences
  // whether they suffice.
  std::int64_t level_of(std::uint32_t track, const NodeFree& free) const {
    if (is_licence(track)) return free.memory >= licences_of(spec_, LicenceId{track - timeline_.nodes_}) ? 1 : 0;
    if (free.processors <= 0 || !free.per_node().covers(per_node_)) return 0;
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
    Sum& sum = since <= start_ ? sum_ : memory_.later[since];
    if (is_licence(track)) {
      sum.licences += sign * (upper - lower);
    } else if (asked_.nodes == 0) {
      sum.given.processors += sign * (upper - lower);
    } else {
      if (lower == 0) sum.given.with_share += sign;
      if (upper == 2) sum.given.with_larger += sign;
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
  std::int64_t kinds_ = 0;   // of licences that it asks for
  std::uint32_t start_;      // the step at which it would start,
  std::uint32_t looked_to_;  // and the first at which it would be over, as far as was looked
  Sum sum_;                  // for a start at start_
};

// The steps, one after the other, from which on enough processors are free for as long as a job runs, on whatever
// nodes.
class NodeTimeline::CountedStarts {
 public:
  // own: from when on it has room whatever is free.
  CountedStarts(const NodeTimeline& timeline, const JobSpec& spec, Duration duration, const Bounds& bounds,
                Instant own = kNever)
      : steps_(timeline.steps_),
        processors_(spec.processors),
        stay_(std::max(duration, Duration{1})),
        own_(own),
        start_(index_at(steps_, bounds.from)),
        end_(bounds.before > bounds.from ? index_at(steps_, bounds.before - Duration{1}) + 1 : start_) {}

  std::size_t next() {  // the number of steps: no more
    while (start_ < end_) {
      room_to_ = std::max(room_to_, start_);
      const Instant end = std::min(steps_[start_].at + stay_, own_);
      while (room_to_ < steps_.size() && steps_[room_to_].free >= processors_ && steps_[room_to_].at < end) ++room_to_;
      if (room_to_ == steps_.size() || steps_[room_to_].at >= end) return start_++;
      start_ = room_to_ + 1;  // a job that runs at that step has no room
      while (start_ < end_ && steps_[start_].free < processors_) ++start_;
    }
    return steps_.size();
  }

 private:
  const std::vector<Step>& steps_;
  std::int64_t processors_;
  Duration stay_;
  Instant own_;
  std::size_t start_;
  std::size_t end_;          // of the starts that are looked for
  std::size_t room_to_ = 0;  // from start_ up to before it there is room
};

Instant NodeTimeline::none_before(const Bounds& bounds, const JobSpec& spec, Duration duration) const {
  const std::size_t first = CountedStarts(*this, spec, duration, bounds, bounds.before).next();
  return first < steps_.size() ? std::max(steps_[first].at, bounds.from) : kNever;
}

Instant NodeTimeline::earliest(const JobSpec& spec, Duration duration, Placement& where, const Bounds& bounds) {
  const Duration stay = std::max(duration, Duration{1});
  CountedStarts starts(*this, spec, duration, bounds);
  std::optional<Search> search;
  for (;;) {
    const std::size_t start = starts.next();
    if (start == steps_.size()) return kNever;
    if (!search || start - search->start() > tracks_.size()) {
      search.emplace(*this, spec, start);
    } else {
      search->move_on_to(start);
    }
    if (!search->fits_until(steps_[start].at + stay)) continue;
    CHECK(place_at(steps_[start].at, spec, duration, where), "there is a place where there is room");
    return steps_[start].at;
  }
}

}  // namespace rota
