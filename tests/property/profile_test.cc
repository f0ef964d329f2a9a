// Profile against a row of seconds; Plan::opening and free_at against every running job and every start, one by one.
#include "plan/profile.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "model/world_test.h"
#include "plan/plan.h"

namespace rota {
namespace {

constexpr std::int64_t kHorizon = 120;  // beyond it nothing changes

class Seconds {
 public:
  explicit Seconds(std::int64_t free) : free_(kHorizon, free) {}
  void change(std::int64_t from, std::int64_t to, std::int64_t by) {
    for (std::int64_t t = from; t < std::min(to, kHorizon); ++t) free_[static_cast<std::size_t>(t)] += by;
  }
  std::int64_t at(std::int64_t t) const { return free_[static_cast<std::size_t>(std::min(t, kHorizon - 1))]; }
  std::int64_t earliest(std::int64_t from, std::int64_t need, std::int64_t length) const {
    for (std::int64_t start = from; start < kHorizon; ++start) {
      bool fits = true;
      for (std::int64_t t = start; fits && t < start + length; ++t) fits = at(t) >= need;
      if (fits) return start;
    }
    return -1;
  }

 private:
  std::vector<std::int64_t> free_;
};

RC_GTEST_PROP(Profile, AnswersAsARowOfSecondsWould, ()) {
  const std::int64_t now = *rc::gen::inRange(0, 20);
  const std::int64_t free = *rc::gen::inRange(0, 9);
  Profile profile;
  profile.open(at_seconds(now), free);
  Seconds oracle(free);
  std::int64_t at = now;
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    at += *rc::gen::inRange(0, 9);
    const std::int64_t more = *rc::gen::inRange(1, 5);
    profile.release(at_seconds(at), more);
    oracle.change(at, kHorizon, more);
  }
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    const std::int64_t from = *rc::gen::inRange(0, 90);
    const std::int64_t to = from + *rc::gen::inRange(0, 30);
    const bool for_ever = *rc::gen::inRange(0, 8) == 0;
    const std::int64_t by = *rc::gen::inRange(-4, 5);
    profile.change(at_seconds(from), for_ever ? kNever : at_seconds(to), by);
    oracle.change(std::max(from, now), for_ever ? kHorizon : to, by);
  }
  bool negative = false;
  for (std::int64_t t = now; t < kHorizon; ++t) {
    RC_ASSERT(profile.free_at(at_seconds(t)) == oracle.at(t));
    negative = negative || oracle.at(t) < 0;
  }
  RC_ASSERT(profile.overcommitted() == negative);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t from = *rc::gen::inRange<std::int64_t>(now, 100);
    const std::int64_t need = *rc::gen::inRange(0, 16);
    const std::int64_t length = *rc::gen::inRange(1, 40);
    const std::int64_t expected = oracle.earliest(from, need, length);
    const Instant start = profile.earliest(at_seconds(from), need, seconds(length));
    RC_ASSERT(start == (expected < 0 ? kNever : at_seconds(expected)));
    RC_ASSERT(profile.fits(at_seconds(from), need, seconds(length)) == (expected == from));
  }
}

// Many changes at once are what they are one by one.
RC_GTEST_PROP(Profile, TakesManyChangesAtOnce, ()) {
  const std::int64_t now = *rc::gen::inRange(0, 20);
  Profile one_by_one;
  Profile at_once;
  for (Profile* profile : {&one_by_one, &at_once}) {
    profile->open(at_seconds(now), 10);
    profile->release(at_seconds(40), 3);
  }
  for (int i = *rc::gen::inRange(0, 15); i > 0; --i) {
    const std::int64_t from = *rc::gen::inRange(0, 60);
    const std::int64_t to = from + *rc::gen::inRange(0, 20);
    const bool for_ever = *rc::gen::inRange(0, 8) == 0;
    const std::int64_t by = *rc::gen::inRange(-3, 4);
    one_by_one.change(at_seconds(from), for_ever ? kNever : at_seconds(to), by);
    at_once.collect_change(at_seconds(from), for_ever ? kNever : at_seconds(to), by);
  }
  at_once.make_changes();
  for (std::int64_t t = now; t < kHorizon; ++t) {
    RC_ASSERT(at_once.free_at(at_seconds(t)) == one_by_one.free_at(at_seconds(t)));
  }
  RC_ASSERT(at_once.steps() == one_by_one.steps());
}

// A job that holds a place and looks for an earlier one finds what it would find if it gave its own back first.
RC_GTEST_PROP(Profile, LooksBeforeAPlaceAsIfItWereGivenBack, ()) {
  Profile profile;
  profile.open(at_seconds(5), 2);
  profile.release(at_seconds(20), 3);
  profile.release(at_seconds(35), 4);
  struct Place {
    std::int64_t from, length, processors;
  };
  std::vector<Place> places;
  for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
    const Place p{*rc::gen::inRange(5, 60), *rc::gen::inRange(1, 20), *rc::gen::inRange(1, 6)};
    if (!profile.fits(at_seconds(p.from), p.processors, seconds(p.length))) continue;
    profile.change(at_seconds(p.from), at_seconds(p.from + p.length), -p.processors);
    places.push_back(p);
  }
  for (const Place& p : places) {
    const Instant found = profile.earliest_before(at_seconds(p.from), p.processors, seconds(p.length));
    profile.change(at_seconds(p.from), at_seconds(p.from + p.length), p.processors);
    RC_ASSERT(profile.earliest(kEpoch, p.processors, seconds(p.length)) == found);
    profile.change(at_seconds(p.from), at_seconds(p.from + p.length), -p.processors);
  }
}

// What has been taken and given back leaves no trace, not even a step.
RC_GTEST_PROP(Profile, ForgetsWhatIsGivenBack, ()) {
  Profile profile;
  profile.open(kEpoch, 10);
  profile.release(at_seconds(50), 5);
  struct Take {
    std::int64_t from, to, processors;
  };
  std::vector<Take> takes;
  for (int i = *rc::gen::inRange(0, 15); i > 0; --i) {
    const std::int64_t from = *rc::gen::inRange(0, 80);
    takes.push_back({from, from + *rc::gen::inRange(1, 40), *rc::gen::inRange(1, 9)});
    profile.change(at_seconds(from), at_seconds(takes.back().to), -takes.back().processors);
  }
  while (!takes.empty()) {
    const auto at = takes.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(takes.size()));
    profile.change(at_seconds(at->from), at_seconds(at->to), at->processors);
    takes.erase(at);
  }
  RC_ASSERT(profile.steps() == 2U);
  RC_ASSERT(profile.free_at(kEpoch) == 10);
  RC_ASSERT(profile.free_at(at_seconds(50)) == 15);
}

struct Held {
  std::int64_t until, processors;
};

// A cluster with running jobs, some overdue, and a draft that starts some more.
class Draft {
 public:
  Draft(std::int64_t processors, bool presume_ended)
      : cluster_(options(processors, presume_ended)), processors_(processors) {
    for (std::int64_t left = processors - *rc::gen::inRange(0, 4); left > 0;) {
      const Held held{*rc::gen::inRange(1, 30), *rc::gen::inRange<std::int64_t>(1, left + 1)};
      left -= held.processors;
      fold(cluster_, Started{submit(held)});
      held_.push_back(held);
    }
    cluster_.open_cycle(at_seconds(now_));
    plan_.open(cluster_);
    presume_ended_ = presume_ended;
  }

  void start_some() {
    std::vector<std::pair<JobId, Held>> waiting;
    for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
      const Held held{*rc::gen::inRange(1, 20), *rc::gen::inRange(1, 4)};
      waiting.emplace_back(submit(held), Held{now_ + held.until, held.processors});
    }
    for (const auto& [id, held] : waiting) {
      if (held.processors > plan_.free()) continue;
      plan_.start(id, {}, false);
      held_.push_back(held);
    }
  }

  // A running job whose time is up holds its processors a moment longer, unless it is presumed to have ended.
  std::int64_t free_at(Instant at) const {
    std::int64_t free = processors_;
    for (const Held& h : held_) {
      const Instant end = at_seconds(h.until);
      const Instant moment = at_seconds(now_) + Duration{1};
      free -= (presume_ended_ ? end : std::max(end, moment)) > at ? h.processors : 0;
    }
    return free;
  }

  Instant earliest(std::int64_t need) const {
    std::vector<Instant> ends{at_seconds(now_) + Duration{1}};
    for (const Held& h : held_) {
      if (h.until > now_) ends.push_back(at_seconds(h.until));
    }
    std::sort(ends.begin(), ends.end());
    for (const Instant at : ends) {
      if (free_at(at) >= need) return at;
    }
    return kNever;
  }

  Plan& plan() { return plan_; }
  std::int64_t now() const { return now_; }

 private:
  static ClusterOptions options(std::int64_t processors, bool presume_ended) {
    ClusterOptions options;
    options.processors = processors;
    options.presume_ended = presume_ended;
    return options;
  }
  JobId submit(const Held& held) {
    JobSpec spec;
    spec.processors = static_cast<std::uint32_t>(held.processors);
    spec.limit = seconds(held.until);
    return rota::submit(cluster_, spec);
  }

  Cluster cluster_;
  Plan plan_;
  std::vector<Held> held_;
  std::int64_t processors_;
  std::int64_t now_ = *rc::gen::inRange(0, 15);
  bool presume_ended_ = false;
};

RC_GTEST_PROP(PlanOpening, IsTheFirstEndAtWhichTheJobFits, ()) {
  const std::int64_t processors = *rc::gen::inRange(4, 20);
  Draft draft(processors, *rc::gen::arbitrary<bool>());
  draft.start_some();
  RC_ASSERT(draft.plan().free() == draft.free_at(at_seconds(draft.now())));
  for (std::int64_t need = draft.plan().free() + 1; need <= processors; ++need) {
    const Opening opening = draft.plan().opening(need);
    RC_ASSERT(opening.at == draft.earliest(need));
    RC_ASSERT(opening.beside == draft.free_at(opening.at) - need);
  }
  RC_ASSERT(draft.plan().opening(processors + 1).at == kNever);
}

RC_GTEST_PROP(PlanLeftAt, CountsWhatEndsByThen, ()) {
  Draft draft(*rc::gen::inRange(4, 20), *rc::gen::arbitrary<bool>());
  draft.start_some();
  for (std::int64_t t = draft.now() + 1; t < draft.now() + 40; ++t) {
    RC_ASSERT(draft.plan().free_at(at_seconds(t)) == draft.free_at(at_seconds(t)));
  }
}

RC_GTEST_PROP(PlanProfile, SaysTheSameOfEveryLaterInstant, ()) {
  Draft draft(*rc::gen::inRange(4, 20), *rc::gen::arbitrary<bool>());
  if (*rc::gen::arbitrary<bool>()) draft.plan().profile();  // opened before the starts, or after
  draft.start_some();
  for (std::int64_t t = draft.now(); t < draft.now() + 40; ++t) {
    RC_ASSERT(draft.plan().profile().free_at(at_seconds(t)) == draft.free_at(at_seconds(t)));
  }
}

}  // namespace
}  // namespace rota
