// Backfilling behind several promises, or one for every job: conservative backfilling (Mu'alem and Feitelson 2001). The
// standing promises are drawn into the room over time, each may move forward, jobs that have none yet get one while the
// number of promises allows, and whatever is due starts; all in queue order. It is the same where processors are
// counted and where it matters on which nodes room is: that is for `Room` to know.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "model/candidate_walk.h"
#include "policy/backfill/backfill.h"

namespace rota {

// A Room has holds, each with a `job`, its `processors`, its `expected` time, its `start` (kNever: it has none) and the
// start that was `promised` before; hold_of(job), draw(held), draw_anew(held), place(hold), move_forward(hold),
// give(hold), promise(hold), start(hold, ...), finds(entry), start_found(entry, ...) and done().
template <class Room>
class ManyPromises {
 public:
  ManyPromises(const View& view, Plan& plan, std::int32_t most)
      : view_(view),
        plan_(plan),
        room_(view, plan),
        held_(room_.held()),
        every_job_(most == BackfillKnobs::kEveryJob),
        most_(most) {}

  void run() {
    collect();
    if (!room_.draw(held_)) room_.draw_anew(held_);
    if (view_.releases() > 0 || looks_again()) compress();
    if (every_job_) {
      place_newcomers();
    } else {
      place_the_first();
    }
    start_what_is_due();
    if (!every_job_) overtake();
    room_.done();
  }

 private:
  using Hold = typename Room::Hold;

  Instant now() const { return view_.now(); }
  // Nothing has happened: the plan before, of this instant, served the first of the queue and looked at no other job.
  bool looks_again() const { return view_.options().by_priority && view_.releases() == 0 && view_.arrived().empty(); }

  // All waiting jobs, or only those with a promise, in queue order.
  void collect() {
    if (every_job_) {
      view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
        add(e.job);
        return true;
      });
      return;
    }
    std::vector<std::pair<WaitingEntry::Key, JobId>> promised;
    for (const JobId id : view_.promised()) promised.emplace_back(view_.waiting().queue_place(view_.job(id)), id);
    std::sort(promised.begin(), promised.end());
    for (const auto& [place, id] : promised) add(id);
  }
  void add(JobId id) { held_.push_back(room_.hold_of(id)); }

  // Each promised job in turn takes the earliest place that there would be if it gave its own back: never a later one.
  void compress() {
    for (Hold& h : held_) {
      if (h.start > now() && h.start != kNever) room_.move_forward(h);
    }
  }

  void place_newcomers() {
    for (Hold& h : held_) {
      if (h.start == kNever) room_.place(h);
    }
  }

  // Walks the queue until so many jobs are blocked; promised jobs further back lose their promise.
  void place_the_first() {
    std::vector<Hold> first;
    std::int32_t blocked = 0;
    auto kept = held_.begin();  // in queue order too
    for (const WaitingEntry* e = view_.waiting().head(); e && blocked < most_; e = view_.waiting().next(e->place)) {
      if (kept != held_.end() && kept->job == e->job) {
        first.push_back(std::move(*kept++));
      } else {
        room_.place(first.emplace_back(room_.hold_of(e->job)));
      }
      blocked += first.back().start > now() ? 1 : 0;
    }
    for (; kept != held_.end(); ++kept) {
      if (kept->start != kNever) room_.give(*kept);
      plan_.promise(kept->job, kNever);
    }
    held_ = std::move(first);
  }

  void start_what_is_due() {
    for (const Hold& h : held_) {
      if (h.start > now()) {
        if (!passed_) passed_ = &h;
        room_.promise(h);
        continue;
      }
      const bool planned = h.promised != kNever && h.promised <= now();
      const Rule rule = planned ? Rule::planned : Rule::ends_before_promise;
      room_.start(h, passed_ ? overtaking(rule) : Reason{}, passed_ != nullptr);
    }
  }

  Reason overtaking(Rule rule) const { return {rule, passed_->job, passed_->start, plan_.free(), passed_->processors}; }

  // Jobs without a promise start if no promise is touched by it.
  void overtake() {
    if (!passed_) return;
    const auto holds = [&](JobId id) { return std::ranges::find(held_, id, &Hold::job) != held_.end(); };
    CandidateWalk walk(view_.waiting(), nullptr);
    while (const WaitingEntry* e = walk.next({plan_.free(), Duration::max(), 0})) {
      if (!holds(e->job) && room_.finds(*e)) room_.start_found(*e, overtaking(Rule::ends_before_promise));
    }
  }

  const View& view_;
  Plan& plan_;
  Room room_;
  std::vector<Hold>& held_;  // in queue order
  bool every_job_;
  std::int32_t most_;
  const Hold* passed_ = nullptr;  // the first waiting job that is overtaken
};

}  // namespace rota
