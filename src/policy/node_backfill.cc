// Backfilling where nodes are described: a job needs room on particular nodes, and a promise sets particular nodes
// aside. Each cycle draws its promises anew in queue order; the cost is O(waiting x nodes), so this is for clusters of
// up to some thousand nodes.
#include <algorithm>

#include "plan/node_timeline.h"
#include "policy/backfill.h"

namespace rota {
namespace {

class NodePlanner {
 public:
  NodePlanner(const View& view, Plan& plan, const BackfillKnobs& knobs)
      : view_(view), plan_(plan), knobs_(knobs), timeline_(view) {}

  void run() {
    const WaitingEntry* e = view_.waiting().head();
    for (; e && !blocked_; e = view_.waiting().next(e->place)) {
      if (const auto where = plan_.nodes().find(spec(*e))) {
        start(*e, *where);
      } else {
        blocked_ = e;
      }
    }
    if (!blocked_ || (knobs_.reservations == 0 && !knobs_.skip)) return;
    make_promises();
    withdraw_the_rest();
    overtake();
  }

 private:
  const JobSpec& spec(const WaitingEntry& e) const { return view_.job(e.job).spec; }

  void start(const WaitingEntry& e, const Placement& where) {
    const bool overtakes = blocked_ && knobs_.reservations > 0;
    Reason reason{overtakes  ? Rule::ends_before_promise
                  : blocked_ ? Rule::skipped_ahead
                             : Rule::head_fits,
                  {},
                  kNever,
                  plan_.free(),
                  0};
    if (overtakes) {
      reason.promised = blocked_->job;
      reason.promise = first_promise_;
      reason.needed = blocked_->processors;
    }
    plan_.start_at(e.job, where, reason, overtakes);
    timeline_.take(view_.now(), e.expected, where);
  }

  // The first blocked jobs in queue order set their nodes aside.
  void make_promises() {
    std::int32_t left = knobs_.reservations;
    for (const WaitingEntry* e = blocked_; e && left > 0; e = view_.waiting().next(e->place)) {
      const auto opening = timeline_.earliest(spec(*e), e->expected);
      if (opening.at <= view_.now()) {
        start(*e, opening.where);
        continue;
      }
      timeline_.take(opening.at, e->expected, opening.where);
      if (first_promise_ == kNever) first_promise_ = opening.at;
      plan_.promise(e->job, opening.at);
      plan_.held().push_back({e->job, e->processors, e->expected, opening.at});
      --left;
    }
  }

  void withdraw_the_rest() {
    for (const JobId id : view_.promised()) {
      if (!plan_.holds(id) && !plan_.starts(id)) plan_.promise(id, kNever);
    }
  }

  // Whoever fits now for as long as it is expected to run, beside all that is set aside.
  void overtake() {
    const WaitingEntry::Key* after = nullptr;
    while (const WaitingEntry* e = view_.waiting().candidate({plan_.free(), Duration::max(), 0}, after)) {
      after = &e->place;
      if (plan_.holds(e->job) || plan_.starts(e->job) || !plan_.nodes().find(spec(*e))) continue;
      if (const auto where = timeline_.now_for(spec(*e), e->expected)) start(*e, *where);
    }
  }

  const View& view_;
  Plan& plan_;
  const BackfillKnobs& knobs_;
  NodeTimeline timeline_;
  const WaitingEntry* blocked_ = nullptr;  // the first waiting job that does not fit
  Instant first_promise_ = kNever;
};

}  // namespace

void Backfill::on_nodes(const View& view, Plan& plan) const { NodePlanner(view, plan, knobs_).run(); }

}  // namespace rota
