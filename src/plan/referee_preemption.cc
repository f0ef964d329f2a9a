// What the referee demands of preemption.
#include <algorithm>

#include "plan/referee.h"

namespace rota {
namespace {

std::string name(const View& view, JobId id) { return "job " + std::to_string(view.job(id).spec.number); }

bool starts(const Plan& plan, JobId id) {
  const auto is_start = [&](const Action& a) { return a.job == id && a.kind == ActionKind::start; };
  return std::any_of(plan.actions().begin(), plan.actions().end(), is_start);
}

}  // namespace

void Referee::saw_preempted(const View& view, JobId job, JobId beneficiary) {
  leaving_ += view.job(job).spec.processors;
  if (gave_way_at_ != view.now()) gave_way_.clear();
  gave_way_at_ = view.now();
  gave_way_.push_back({job, beneficiary, false});
}

void Referee::saw_cancelled(const View& view, JobId job) {
  if (ledger_[job.value] == State::running) {
    saw_ended(view, job, false);
  } else {
    ledger_[job.value] = State::gone;
  }
  gave_way_.clear();
}

// Only to a waiting job of higher priority, and nobody is told twice.
std::optional<std::string> Referee::check_preemption(const View& view, const Action& action) const {
  const Job& job = view.job(action.job);
  const JobId beneficiary = action.reason.promised;
  if (job.leaving) return name(view, action.job) + " is preempted and is leaving already";
  if (beneficiary.value >= ledger_.size() || ledger_[beneficiary.value] != State::waiting) {
    return name(view, action.job) + " is preempted for nobody who waits";
  }
  if (view.job(beneficiary).spec.priority <= job.spec.priority) {
    return name(view, action.job) + " is preempted for " + name(view, beneficiary) + ", whose priority is no higher";
  }
  return std::nullopt;
}

// What is free, what is being freed and what this plan frees suffices for the plan's starts and for all in whose favour
// it preempts.
std::optional<std::string> Referee::check_beneficiaries(const View& view, const Plan& plan) {
  std::int64_t room = view.options().processors - held_ + leaving_;
  std::vector<JobId> victims;
  std::vector<JobId> beneficiaries;
  for (const Action& a : plan.actions()) {
    ++checks_;
    if (a.kind == ActionKind::start) room -= view.job(a.job).spec.processors;
    if (a.kind != ActionKind::preempt) continue;
    victims.push_back(a.job);
    beneficiaries.push_back(a.reason.promised);
    room += view.job(a.job).spec.processors;
  }
  std::sort(victims.begin(), victims.end());
  if (const auto twice = std::adjacent_find(victims.begin(), victims.end()); twice != victims.end()) {
    return name(view, *twice) + " is preempted twice";
  }
  std::sort(beneficiaries.begin(), beneficiaries.end());
  beneficiaries.erase(std::unique(beneficiaries.begin(), beneficiaries.end()), beneficiaries.end());
  for (const JobId id : beneficiaries) {
    room -= view.job(id).spec.processors;
    if (starts(plan, id)) return name(view, id) + " starts although others are only now told to give way to it";
  }
  if (room < 0) {
    return "jobs are preempted in vain: " + name(view, beneficiaries.back()) + " and those before it need " +
           std::to_string(-room) + " processors more than that frees";
  }
  return std::nullopt;
}

// Once they are gone, and nothing else has happened, the beneficiary starts and they do not.
std::optional<std::string> Referee::check_owed(const View& view, const Plan& plan) {
  if (gave_way_at_ != view.now()) {
    gave_way_.clear();
    return std::nullopt;
  }
  for (const GaveWay& g : gave_way_) {
    ++checks_;
    if (g.gone && starts(plan, g.job)) {
      return name(view, g.job) + " is preempted and started again at one instant";
    }
    const auto to_the_same = [&](const GaveWay& o) { return o.beneficiary == g.beneficiary; };
    const auto still_there = [&](const GaveWay& o) { return to_the_same(o) && !o.gone; };
    if (!std::any_of(gave_way_.begin(), gave_way_.end(), still_there) && !starts(plan, g.beneficiary)) {
      return name(view, g.job) + " was preempted in vain: " + name(view, g.beneficiary) +
             " does not start in its place";
    }
  }
  std::erase_if(gave_way_, [](const GaveWay& g) { return g.gone; });
  return std::nullopt;
}

}  // namespace rota
