#include "policy/power/power_demand.h"

#include <algorithm>
#include <vector>

#include "model/candidate_walk.h"
#include "policy/power/rest.h"

namespace rota {
namespace {

constexpr Duration kMinute = seconds(60);
constexpr Duration kLookAgain = 10 * kMinute;
constexpr Duration kSoon = seconds(1);  // behind a job that overruns promises recede: no look at each millisecond

class Demand {
 public:
  Demand(const View& view, Plan& plan, const PowerKnobs& knobs)
      : view_(view),
        plan_(plan),
        knobs_(knobs),
        power_(view.power()),
        machine_(*view.options().machine),
        booting_(power_.processors(PowerState::booting)),
        wait_(knobs.waits()),
        hope_(wait_),
        idle_(knobs.idle) {
    if (knobs.thrift == Duration{0}) return;
    const auto boot = static_cast<double>(power_.longest_boot().count());
    hope_ = knobs.thrift;
    wait_ = 3 * knobs.thrift;
    idle_ = time_of(boot * boot / (4 * static_cast<double>(knobs.thrift.count())));
  }

  void run() {
    for (const Promise& p : plan_.promises()) promised_anew_.push_back(p.job);
    std::ranges::sort(promised_anew_);
    const bool sleepers = power_.count(PowerState::off) + power_.count(PowerState::shutting_down) > 0;
    if (sleepers || booting_ > 0) {
      want_for_promises();
      if (!plan_.closed()) want_for_waiting();
    }
    reserve_ = view_.demand().reserve(view_.now(), knobs_.reserve);
    if (sleepers) wake();
    if (!plan_.closed()) sleep();  // else what is free is kept for those in whose favour others give way
    if (look_ != power_.next_review()) plan_.power_reviewed(look_);
  }

 private:
  Instant now() const { return view_.now(); }
  static Duration time_of(double milliseconds) {
    return Duration{static_cast<std::int64_t>(std::min(milliseconds, static_cast<double>(kLongest.count())))};
  }
  void look_at(Instant at) {
    if (at > now()) look_ = std::min(look_, at);
  }
  std::int64_t processors_of(NodeId node) const { return machine_.nodes[node.value].processors; }

  // visit(job, start, place) for every promise after this plan.
  template <class Visit>
  void for_each_promise(const Visit& visit) const {
    for (const Promise& p : plan_.promises()) {
      if (p.start != kNever && !plan_.starts(p.job)) visit(p.job, p.start, plan_.place_of(p));
    }
    for (const JobId id : view_.promised()) {
      if (std::ranges::binary_search(promised_anew_, id) || plan_.starts(id)) continue;
      visit(id, view_.job(id).promise, view_.promised_place(id));
    }
  }

  // Processors that are left at a promised start once the promised job has its own, if nodes that sleep count as woken
  // now. Behind several promises the profile has them all in it.
  std::int64_t left_over_at(JobId id, Instant start) const {
    if (plan_.held().empty()) return plan_.free_at(start) - view_.job(id).spec.processors;
    return plan_.profile().free_at(start) - (plan_.holds(id) ? 0 : view_.job(id).spec.processors);
  }

  // Processors that count at `start` though their nodes are not even booting.
  std::int64_t sleeping_by(Instant start) const {
    std::int64_t sleeping = 0;
    power_.for_each_return(now(), true, [&](Instant at, std::int64_t count) { sleeping += at <= start ? count : 0; });
    return sleeping - power_.booted_by(start, now());
  }

  // Wake ahead: what sleeps now and is needed at a promised start is to be on by then.
  void want_for_promises() {
    for_each_promise([&](JobId id, Instant start, const Placement& where) {
      const Instant last_moment = start - power_.longest_boot();
      if (where.shares.empty()) {
        const std::int64_t lacking = sleeping_by(start) - left_over_at(id, start);
        if (lacking <= 0) return;
        if (last_moment >= now() + kSoon) return look_at(last_moment);
        promised_ = std::max(promised_, lacking);
        due_.push_back({start, lacking});
        return;
      }
      for (const Share& s : where.shares) {
        if (power_.state(s.node) != PowerState::off) continue;
        if (last_moment >= now() + kSoon) return look_at(last_moment);
        named_.push_back(s.node);
      }
    });
  }

  // What jobs could start on now if all nodes were on.
  void want_for_waiting() {
    const WaitingEntry* const head = first_left();
    if (!head) return;
    std::int64_t spare = plan_.free() + machine_.processors - power_.processors(PowerState::on);
    Gap gap{spare, Duration::max(), spare};
    JobId promised;
    for_each_promise([&](JobId id, Instant start, const Placement&) {
      if (promised.valid()) return;
      promised = id;
      gap.window = std::max(start - now() - power_.longest_boot(), Duration{0});
      gap.beside = std::max<std::int64_t>(left_over_at(id, start), 0);
    });
    if (!view_.counts_decide()) return want_nodes(head, gap, promised);
    const auto want = [&](const WaitingEntry& e) {
      if (e.job == promised || plan_.starts(e.job) || plan_.holds(e.job)) return;
      if (e.processors > gap.free) return;
      gap.free -= e.processors;
      hoped_ += e.processors;
      const Instant ripe = view_.job(e.job).spec.submit + wait_;
      if (ripe > now() && may_come_free(hoped_ - plan_.free() - booting_)) return look_at(ripe);
      wanted_ += e.processors;
    };
    walk(head, gap, want);
  }

  // In the order in which jobs would be tried, as long as one fits.
  template <class Want>
  void walk(const WaitingEntry* head, const Gap& gap, const Want& want) const {
    const bool overtaking = view_.options().waiting.by_size;
    if (!overtaking) {
      for (; head && head->processors <= gap.free; head = view_.waiting().next(head->place)) want(*head);
      return;
    }
    CandidateWalk candidates(view_.waiting(), nullptr);
    for (int i = 0; i < kMostTried; ++i) {
      const WaitingEntry* e = candidates.next(gap);
      if (!e) return;
      want(*e);
    }
  }

  // What jobs could start on where it matters which nodes: places are looked for as if all nodes were on.
  void want_nodes(const WaitingEntry* head, Gap& gap, JobId promised) {
    NodeSpace& all_on = plan_.some_nodes();
    all_on.follow(plan_.nodes());
    const auto open = [&](NodeId node) {
      if (power_.shunned_until(node) > now()) {
        look_at(power_.shunned_until(node));
        return true;
      }
      if (!all_on.available(node)) all_on.set_available(node, true);
      return true;
    };
    for (const PowerState s : {PowerState::booting, PowerState::shutting_down, PowerState::off}) {
      power_.for_each_in(s, open);
    }
    Placement where;
    int in_vain = 0;
    std::int64_t lacking = 0;  // processors that sleep
    const auto want = [&](const WaitingEntry& e) {
      if (e.job == promised || plan_.starts(e.job) || in_vain > kMostInVain) return;
      const JobSpec& spec = view_.job(e.job).spec;
      if (!all_on.find(spec, where)) return void(++in_vain);
      all_on.occupy(where);
      gap.free -= e.processors;
      for (const Share& s : where.shares) {
        if (power_.state(s.node) == PowerState::on) spared_.push_back(s.node);
      }
      std::int64_t asleep = 0;
      for (const Share& s : where.shares) asleep += power_.state(s.node) == PowerState::off ? s.processors : 0;
      lacking += asleep;
      const Instant ripe = spec.submit + wait_;
      if (ripe > now() && may_come_free(lacking)) return look_at(ripe);
      for (const Share& s : where.shares) {
        if (power_.state(s.node) == PowerState::off) named_.push_back(s.node);
      }
    };
    walk(head, gap, want);
    std::sort(spared_.begin(), spared_.end());
  }

  void wake() {
    std::int64_t room = left_of_ramp(knobs_, power_.woken_in_minute(now()));
    std::int64_t waking = 0;
    const auto wake_one = [&](NodeId node, Rule rule) {  // false: no more in this minute
      if (power_.shunned_until(node) > now()) {
        look_at(power_.shunned_until(node));
        return room > 0;
      }
      if (room <= 0) {
        look_at(next_minute(now()));
        return false;
      }
      --room;
      plan_.power_on(node, {rule, {}, kNever, plan_.free(), wanted_});
      waking += processors_of(node);
      woken_.push_back({power_.back_at(node, now()), processors_of(node)});
      return room > 0;
    };
    std::sort(named_.begin(), named_.end());
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    for (const NodeId node : named_) wake_one(node, Rule::promise_rests);
    wake_in_time(waking, wake_one);
    // Where nodes are woken for a promise, those that are free are for it too.
    const std::int64_t for_jobs = promised_ > 0 ? promised_ + wanted_ : wanted_ - plan_.free() - booting_;
    const std::int64_t to_stay_warm = wanted_ + reserve_ - plan_.free() - booting_;
    const std::int64_t needed = std::max(for_jobs, to_stay_warm);
    if (waking >= needed) return;
    power_.for_each_asleep([&](NodeId node) {
      if (std::binary_search(named_.begin(), named_.end(), node)) return true;
      const bool more = wake_one(node, waking < promised_  ? Rule::promise_rests
                                       : waking < for_jobs ? Rule::job_waits
                                                           : Rule::keeps_warm);
      return more && waking < needed;
    });
  }

  // For promises that were made by counting: nodes that are on by then. They are named from here on.
  template <class WakeOne>
  void wake_in_time(const std::int64_t& waking, const WakeOne& wake_one) {
    std::stable_sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.start < b.start; });
    for (const Due& due : due_) {
      const auto named = static_cast<std::ptrdiff_t>(named_.size());
      power_.for_each_asleep([&](NodeId node) {
        if (waking >= due.lacking) return false;
        if (std::binary_search(named_.begin(), named_.begin() + named, node)) return true;
        const bool shunned = power_.shunned_until(node) > now();
        if (!shunned && power_.back_at(node, now()) > due.start) return true;
        named_.push_back(node);
        return wake_one(node, Rule::promise_rests);
      });
      std::sort(named_.begin(), named_.end());
    }
  }

  void sleep() {
    if (plan_.nodes().idle_count() == 0 || owes_the_queue_a_look()) return;
    const bool foresight = knobs_.rule == Power::demand;
    const std::int64_t keep = std::max({reserve_, hoped_ - booting_ - plan_.waking(), asked_by_the_first()});
    std::int64_t room = left_of_ramp(knobs_, power_.slept_in_minute(now()));
    std::int64_t spare = -1;  // processors that no promise needs; -1: not reckoned yet
    std::vector<NodeId> needed;
    plan_.nodes().for_each_longest_idle([&](NodeId node) {
      const Instant expires = plan_.nodes().idle_since(node) + idle_for(plan_.free());
      if (expires > now()) {
        look_at(later(expires));
        return false;
      }
      if (spare < 0) spare = reckon_spare(foresight, needed);
      const std::int64_t processors = processors_of(node);
      if (plan_.free() - processors < keep || spare < processors) {
        look_at(now() + kLookAgain);
        return false;
      }
      if (room <= 0) {
        look_at(next_minute(now()));
        return false;
      }
      if (std::binary_search(needed.begin(), needed.end(), node)) return true;
      if (std::binary_search(spared_.begin(), spared_.end(), node) || power_.serves(node)) return true;
      if (foresight && !rested(node)) return true;
      spare -= processors;
      --room;
      plan_.power_off(node, {Rule::idle_for_long, {}, kNever, plan_.free(), keep});
      return true;
    });
  }

  // "slurm" has not looked at the queue since nodes came on or came free: they stay for those that wait until it does,
  // or they would be woken and sent to sleep for ever where they may be idle for less than that.
  bool owes_the_queue_a_look() const {
    const Replanned& last = plan_.replans() ? plan_.replan() : view_.replanned();
    return last.owes_try && last.tried <= now() && first_left() != nullptr;
  }

  // The first of the queue that the draft does not start; nullptr: none.
  const WaitingEntry* first_left() const {
    const WaitingEntry* head = view_.waiting().head();
    while (head && plan_.starts(head->job)) head = view_.waiting().next(head->place);
    return head;
  }

  // Where nodes are woken a few a minute, a promise does not know when the last of them is on: what the first of the
  // queue needs is gathered until it starts.
  std::int64_t asked_by_the_first() const {
    const WaitingEntry* const head = knobs_.ramp > 0 ? first_left() : nullptr;
    return head ? head->processors : 0;
  }

  // Nodes whose times run out one shortly after the other go to sleep together: each look costs a cycle.
  Instant later(Instant at) const {
    const Duration step = power_.longest_boot() / 50;
    if (knobs_.rule != Power::demand || step <= Duration{0}) return at;
    return kEpoch + step * ((at.time_since_epoch() + step - Duration{1}) / step);
  }

  // Whether so many may come free while a job waits: as fast as they were asked for lately.
  bool may_come_free(std::int64_t processors) {
    const auto boot = static_cast<double>(power_.longest_boot().count());
    return lately() * static_cast<double>(hope_.count()) / boot >= static_cast<double>(processors);
  }
  double lately() {
    if (lately_ < 0) lately_ = view_.demand().lately(now());
    return lately_;
  }

  // How long the longest idle node stays on where so many processors are free, its own among them.
  Duration idle_for(std::int64_t free) {
    if (knobs_.rule != Power::demand) return idle_;
    return time_of(static_cast<double>(idle_.count()) * lately() /
                   static_cast<double>(std::max<std::int64_t>(free, 1)));
  }

  bool rested(NodeId node) {
    const Instant at = may_sleep_at(power_, knobs_, node, now());
    look_at(at);
    return at <= now();
  }

  // What no promise needs before a sleep that begins now has paid; nodes that are set aside until then are listed.
  std::int64_t reckon_spare(bool foresight, std::vector<NodeId>& needed) const {
    const Duration pays = std::max(foresight ? power_.longest_break_even() : Duration{0}, longest_absence());
    std::int64_t spare = INT64_MAX;
    for_each_promise([&](JobId id, Instant start, const Placement& where) {
      const bool by_counting = where.shares.empty();
      const std::int64_t left_over = by_counting ? left_over_at(id, start) : 0;
      const std::int64_t asleep = by_counting ? sleeping_by(start) - woken_by(start) : asleep_among(where);
      const Duration wakes = time_to_wake(std::max<std::int64_t>(asleep - left_over, 0));
      if (start - now() >= std::max(pays, wakes)) return;
      // Once it is time to wake others for it, those that are on are for it too.
      const std::int64_t left_on = start - now() < wakes ? left_over - asleep : left_over;
      if (by_counting) spare = std::min(spare, std::max<std::int64_t>(left_on, 0));
      for (const Share& s : where.shares) needed.push_back(s.node);
    });
    std::sort(needed.begin(), needed.end());
    return spare;
  }
  // Processors that the draft wakes and that are on by then.
  std::int64_t woken_by(Instant start) const {
    std::int64_t woken = 0;
    for (const Woken& w : woken_) woken += w.on <= start ? w.processors : 0;
    return woken;
  }
  std::int64_t asleep_among(const Placement& where) const {
    return std::count_if(where.shares.begin(), where.shares.end(),
                         [&](const Share& s) { return power_.state(s.node) == PowerState::off; });
  }
  // Where nodes are woken a few a minute: until so many processors or nodes that sleep are on, at most.
  Duration time_to_wake(std::int64_t asleep) const {
    if (knobs_.ramp == 0) return Duration{0};
    return power_.longest_boot() + kSoon +
           kMinute * (1 + std::min(asleep, power_.count(PowerState::off)) / knobs_.ramp);
  }
  Duration longest_absence() const { return power_.longest_absence(); }

  static constexpr int kMostTried = 1'000;
  static constexpr int kMostInVain = 32;

  const View& view_;
  Plan& plan_;
  const PowerKnobs& knobs_;
  const NodePower& power_;
  const Machine& machine_;
  std::int64_t booting_;  // processors, as are
  struct Woken {
    Instant on;
    std::int64_t processors;
  };
  // A promise that was made by counting, and so many processors that must be woken for it now.
  struct Due {
    Instant start;
    std::int64_t lacking;
  };

  std::vector<JobId> promised_anew_;  // by links before this one, rising
  std::int64_t promised_ = 0;         // that must be woken now for promises
  std::int64_t wanted_ = 0;           // that jobs which have waited could start on now
  std::int64_t hoped_ = 0;            // that jobs could start on now, however short they have waited
  std::int64_t reserve_ = 0;          // to keep free
  std::vector<Due> due_;
  std::vector<Woken> woken_;    // in this draft
  std::vector<NodeId> named_;   // asleep, and wanted by name
  std::vector<NodeId> spared_;  // idle, and wanted by name
  Duration wait_;               // the longest that a job waits before nodes are woken for it
  Duration hope_;               // in which what it lacks must be likely to come free, or else they are woken at once
  Duration idle_;
  double lately_ = -1;  // processors asked for in a boot time; -1: not looked up yet
  Instant look_ = kNever;
};

}  // namespace

void DemandPower::decide(const View& view, Plan& plan) const {
  if (!plan.kills()) Demand(view, plan, knobs_).run();
}

Instant DemandPower::next_wakeup(const View& view) const {
  const Instant next = view.power().next_review();
  return next > view.now() ? next : kNever;
}

}  // namespace rota
