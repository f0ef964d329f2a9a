#include "policy/backfill/head_room.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

HeadRoom::HeadRoom(const View& view, Plan& plan, const WaitingEntry& head, std::span<const WaitingEntry> before)
    : view_(view), plan_(plan), head_(head), counts_decide_(view.counts_decide()), free_(plan.free()) {
  if (!counts_decide_) plan_.some_nodes().follow(plan_.nodes());
  for (const WaitingEntry& other : before) {
    if (!fits(other, free_)) continue;
    free_ -= other.processors;
    if (!counts_decide_) plan_.some_nodes().occupy(where_);
  }
}

std::vector<JobId> HeadRoom::overdue() const {
  std::vector<JobId> all;
  view_.running().for_each([&](const RunningEntry& e) {
    if (e.place.end > view_.now()) return false;
    all.push_back(e.job);
    return true;
  });
  std::sort(all.begin(), all.end(), [&](JobId a, JobId b) { return view_.job(a).dispatch < view_.job(b).dispatch; });
  return all;
}

std::vector<JobId> HeadRoom::blockers() const {
  if (counts_decide_) return sets_aside() ? view_.blockers() : overdue();
  const JobSpec& spec = view_.job(head_.job).spec;
  Placement set_aside = view_.promised_place(head_.job);
  if (set_aside.shares.empty()) {  // it was promised by counting: those that are expected to be free the earliest
    if (plan_.opening_on_nodes(spec) == kNever) return {};
    CHECK(plan_.room().find(spec, set_aside), "a job has room at its opening");
  }
  std::vector<std::uint32_t> short_of_room;
  for (const Share& s : set_aside.shares) {
    const NodeSpace& nodes = plan_.nodes();
    const bool enough = nodes.free_on(s.node) >= s.processors && nodes.per_node_on(s.node).covers(spec.per_node());
    if (!enough) short_of_room.push_back(s.node.value);
  }
  std::sort(short_of_room.begin(), short_of_room.end());
  std::vector<JobId> blockers;
  view_.running().for_each([&](const RunningEntry& e) {
    const auto& shares = view_.placement(e.job).shares;
    const auto there = [&](const Share& s) {
      return std::binary_search(short_of_room.begin(), short_of_room.end(), s.node.value);
    };
    if (std::any_of(shares.begin(), shares.end(), there)) blockers.push_back(e.job);
    return true;
  });
  std::sort(blockers.begin(), blockers.end(),
            [&](JobId a, JobId b) { return view_.job(a).dispatch < view_.job(b).dispatch; });
  return blockers;
}

void HeadRoom::release(JobId running) {
  free_ += view_.job(running).spec.processors;
  if (!counts_decide_) plan_.some_nodes().give(view_.placement(running), view_.now());
}

void HeadRoom::take_back(JobId running) {
  free_ -= view_.job(running).spec.processors;
  if (!counts_decide_) plan_.some_nodes().occupy(view_.placement(running));
}

bool HeadRoom::head_fits() { return fits(head_, free_); }

bool HeadRoom::fits(const WaitingEntry& e, std::int64_t room) {
  if (counts_decide_) return e.processors <= room;
  return plan_.some_nodes().find(view_.job(e.job).spec, where_);
}

bool HeadRoom::any_job_fits_beside(JobId running, Duration window) {
  const WaitingEntry* next = view_.waiting().next(head_.place);
  if (!next) return false;
  Placement head_place;
  if (!counts_decide_) {
    NodeSpace& nodes = plan_.some_nodes();
    CHECK(nodes.find(view_.job(head_.job).spec, head_place), "the head fits");
    nodes.occupy(head_place);
  }
  release(running);
  const std::int64_t room = free_ - head_.processors;
  bool found = fits(*next, room);
  const Gap gap{room, window - Duration{1}, 0};  // in less time than that
  const WaitingEntry* e = found ? nullptr : view_.waiting().candidate(gap, nullptr);
  while (e && !found) {
    found = e->job != head_.job && e->job != next->job && fits(*e, room);
    const WaitingEntry::Key passed = e->place;
    e = view_.waiting().candidate(gap, &passed);
  }
  take_back(running);
  if (!counts_decide_) plan_.some_nodes().give(head_place, view_.now());
  return found;
}

}  // namespace rota
