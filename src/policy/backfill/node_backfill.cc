// Backfilling behind one promise or none where it matters on which nodes room is: the promise sets nodes aside. Two
// spaces are enough: what is free now, for jobs that are over before the promise, and what of it stays free when the
// promised job has its nodes, for all others.
#include <algorithm>

#include "base/check.h"
#include "policy/backfill/backfill.h"
#include "policy/refused.h"

namespace rota {
namespace {

class OnePromise {
 public:
  OnePromise(const View& view, Plan& plan, const BackfillKnobs& knobs) : view_(view), plan_(plan), knobs_(knobs) {}

  void run() {
    head_ = view_.waiting().head();
    while (head_ && plan_.nodes().find(spec(*head_), where_)) {
      plan_.start_at(head_->job, where_, {}, false);
      head_ = view_.waiting().next(head_->place);
    }
    if (!head_) return;
    if (knobs_.promises == 0) {
      if (knobs_.skip) start_all_that_fit();
      return;
    }
    after_ = overtaking_from(view_, *head_);
    const JobId newcomer = only_newcomer();
    make_promise();
    if (newcomer.valid() && plan_.actions().empty()) {
      if (newcomer != head_->job) try_one(newcomer, view_.job(newcomer).expected);
    } else {
      overtake();
    }
  }

 private:
  const JobSpec& spec(const WaitingEntry& e) const { return view_.job(e.job).spec; }
  Instant now() const { return view_.now(); }

  void start_all_that_fit() {
    CandidateWalk walk(view_.waiting(), overtaking_from(view_, *head_));
    while (const WaitingEntry* e = walk.next({plan_.free(), Duration::max(), 0})) {
      if (!overtakes(view_, *e, *head_) || !finds(plan_.nodes(), spec(*e), refused_now_)) continue;
      plan_.start_at(e->job, where_, {Rule::skipped_ahead, {}, kNever, plan_.free(), 0}, false);
    }
  }

  // A job that passes puts the promise off.
  [[gnu::cold]] void pass() {
    if (promise_ == kNever) return;
    const std::size_t before = plan_.actions().size();
    after_ = pass_unforeseen(view_, plan_, *head_, knobs_, [&](const WaitingEntry& e, const Reason& reason) {
      if (!finds(plan_.nodes(), spec(e), refused_now_)) return false;
      plan_.start_at(e.job, where_, reason, true);
      return true;
    });
    if (plan_.actions().size() > before) promise_ = plan_.opening_on_nodes(spec(*head_));
  }

  // Nothing was released and one job has come: what is free now, what stays free and the time until the promise have
  // only shrunk since the last cycle, so no job but the newcomer can have become a candidate. Invalid: not so.
  JobId only_newcomer() const {
    const Job& head = view_.job(head_->job);
    const bool same =
        head.promise != kNever && head.promise > now() && !view_.promised_place(head_->job).shares.empty();
    const bool only = view_.releases() == 0 && view_.arrived().size() == 1 && plan_.actions().empty();
    return same && only && knobs_.stretch == 100 && !view_.counts_decided() ? view_.arrived().front() : JobId{};
  }

  // The promise that stands stays if nothing was released; otherwise it is drawn anew, and can only come earlier, or at
  // the same instant go where it leaves more to others.
  void make_promise() {
    withdraw_all_but(head_->job, view_, plan_);
    const Instant kept = view_.job(head_->job).promise;
    const Placement& kept_place = view_.promised_place(head_->job);
    if (knobs_.keeps_fixed(kept, now())) return keep_fixed_promise(kept, kept_place);
    const bool stands =
        kept > now() && is_foreseeable(kept, now()) && !kept_place.shares.empty() && view_.releases() == 0;
    if (stands && plan_.actions().empty()) {
      promise_ = kept;
      set_aside_ = &kept_place;
      return;
    }
    promise_ = plan_.opening_on_nodes(spec(*head_));
    if (!is_foreseeable(promise_, now())) pass();
    if (promise_ == kNever) return plan_.promise(head_->job, kNever);  // its nodes are away, it is not known till when
    const bool may_stay = promise_ == kept && !kept_place.shares.empty() && plan_.room().fits(kept_place);
    CHECK(plan_.room().find_busy_first(spec(*head_), head_place_), "the promised job has room when it is promised");
    if (may_stay && kept_from_others(kept_place) <= kept_from_others(head_place_)) {
      set_aside_ = &kept_place;
    } else {
      set_aside_ = &head_place_;
      plan_.promise_at(head_->job, promise_, head_place_);
    }
    plan_.room().occupy(*set_aside_);
    room_is_drawn_ = true;
  }

  // Processors that are free now and would not be once the promised job is there: no job that outlasts that has them.
  std::int64_t kept_from_others(const Placement& where) const {
    std::int64_t kept = 0;
    for (const Share& s : where.shares) {
      if (!plan_.nodes().available(s.node)) continue;  // set aside on a node that is not there yet
      const std::int64_t stays = plan_.room().processors_on(s.node) - s.processors;
      kept += std::max<std::int64_t>(0, plan_.nodes().free_on(s.node) - stays);
    }
    return kept;
  }

  // The instant never moves; a promise that was made by counting gets its place now, if there is one.
  void keep_fixed_promise(Instant kept, const Placement& kept_place) {
    promise_ = kept;
    if (!kept_place.shares.empty() || kept <= now()) return;
    if (plan_.room_at(kept).find_busy_first(spec(*head_), head_place_)) plan_.promise_at(head_->job, kept, head_place_);
  }

  // Starts every job that fits, in candidate order.
  void overtake() {
    CandidateWalk walk(view_.waiting(), after_);
    for (Gap gap = gap_now(); const WaitingEntry* e = walk.next(gap);) {
      if (overtakes(view_, *e, *head_) && try_one(e->job, e->expected)) gap = gap_now();
    }
  }

  Duration window() const { return knobs_.window(now(), promise_); }
  bool beside() const { return knobs_.beside && set_aside_ != nullptr; }

  // What candidates must keep to, as far as counts can tell.
  Gap gap_now() const {
    if (!beside()) return {plan_.free(), window(), 0};
    std::int64_t others = plan_.free();
    for (const Share& s : set_aside_->shares) {
      if (!room_is_drawn_) break;
      if (!plan_.nodes().available(s.node)) continue;  // set aside on a node that is not there yet
      others -= std::max<std::int64_t>(0, plan_.nodes().free_on(s.node) - plan_.room().processors_on(s.node));
    }
    return {plan_.free(), window(), others};
  }

  bool finds(const NodeSpace& nodes, const JobSpec& spec, Refused& refused) {
    if (!nodes.has_licences(spec)) return false;
    if (refused.covers(spec)) return false;
    if (nodes.find(spec, where_)) return true;
    refused.add(spec);
    return false;
  }

  bool try_one(JobId id, Duration expected) {
    const JobSpec& asked = view_.job(id).spec;
    const bool in_time = expected <= window();
    if ((!in_time && !beside()) || !finds(plan_.nodes(), asked, refused_now_)) return false;
    if (!in_time && !finds(nodes_that_stay_free(), asked, refused_beside_)) return false;
    const Reason because{in_time ? Rule::ends_before_promise : Rule::beside_promise, head_->job, promise_, plan_.free(),
                         head_->processors};
    plan_.start_at(id, where_, because, true);
    if (!in_time) plan_.room().occupy(where_);
    if (stays_is_drawn_) {
      for (const Share& s : where_.shares) shrink(s.node);
      shrink_licences();
    }
    return true;
  }

  // What is free now and also once the promised job has its nodes.
  NodeSpace& nodes_that_stay_free() {
    if (stays_is_drawn_) return plan_.some_nodes();
    stays_is_drawn_ = true;
    if (!room_is_drawn_) plan_.room_at(promise_).occupy(*set_aside_);
    room_is_drawn_ = true;
    plan_.some_nodes().follow(plan_.nodes());
    for (const Share& s : set_aside_->shares) shrink(s.node);
    shrink_licences();
    return plan_.some_nodes();
  }

  void shrink(NodeId node) {
    const NodeSpace& free_now = plan_.nodes();
    const bool usable = !free_now.overdrawn(node);
    const std::int64_t processors = usable ? std::min(free_now.free_on(node), plan_.room().processors_on(node)) : 0;
    const PerNode per_node = free_now.per_node_on(node).least(plan_.room().per_node_on(node));
    plan_.some_nodes().set_free(node, std::max<std::int64_t>(processors, 0), per_node.at_least_nothing());
  }

  void shrink_licences() {
    for (std::uint32_t i = 0; i < plan_.nodes().licences().size(); ++i) {
      const std::int64_t stays = std::min(plan_.nodes().licences()[i], plan_.room().licences_free(LicenceId{i}));
      plan_.some_nodes().set_licences_free(LicenceId{i}, std::max<std::int64_t>(stays, 0));
    }
  }

  const View& view_;
  Plan& plan_;
  const BackfillKnobs& knobs_;
  const WaitingEntry* head_ = nullptr;        // the first waiting job that does not fit
  const WaitingEntry::Key* after_ = nullptr;  // jobs behind this one are yet to be tried
  Instant promise_ = kNever;
  const Placement* set_aside_ = nullptr;  // for the head; nullptr: the promise is fixed, and no job starts beside it
  Placement head_place_;
  Placement where_;
  bool room_is_drawn_ = false;   // plan_.room() is what is left when the promised job has its nodes
  bool stays_is_drawn_ = false;  // plan_.some_nodes() is what is free now and stays so
  Refused refused_now_;
  Refused refused_beside_;
};

}  // namespace

void Backfill::on_nodes(const View& view, Plan& plan) const {
  if (knobs_.promises > 1) return behind_many_on_nodes(view, plan);
  if (view.reserved_in_reach()) return around_reservations(view, plan);
  OnePromise(view, plan, knobs_).run();
}

}  // namespace rota
