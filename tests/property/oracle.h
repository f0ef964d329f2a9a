// The textbook's rules as one slow loop that shares nothing with Rota's planning: every pass looks at every job. Times
// in milliseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "log/workload.h"
#include "model/order.h"
#include "model/recent_use.h"

namespace rota::oracle {

inline constexpr std::int64_t kFar = std::int64_t{1} << 60;

// Processors, and then licences of three kinds.
struct Amounts {
  std::array<std::int64_t, 4> of{};

  Amounts& operator-=(const Amounts& o) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] -= o.of[i];
    return *this;
  }
  friend Amounts operator-(Amounts a, const Amounts& b) { return a -= b; }
  bool covers(const Amounts& asked) const {
    return std::equal(of.begin(), of.end(), asked.of.begin(), [](auto has, auto wants) { return has >= wants; });
  }
};

enum class Backfill : std::uint8_t { none, skip, easy, conservative };

struct Rules {
  Amounts all = {};  // that there is
  Backfill backfill = Backfill::easy;
  Order order = Order::fcfs;
  Order candidates = Order::fcfs;
  bool submit_first = false;  // else all events of an instant together, ends first
  bool predict = false;       // Tsafrir's predictions and corrections
  std::int64_t grace = 0;     // a job is killed so long after its limit; kFar: never
};

struct NaiveJob {
  Job as_model;  // for the order's score only
  std::int64_t submit, run, limit, expected;
  Amounts asks;
  std::int64_t first_expected = 0, start = kFar, end = kFar, planned = kFar, sequence = 0, dispatch = 0;
  std::size_t corrections = 0;
  bool timed_out = false, overdue_told = false;
  enum { coming, waiting, running, done, rejected } state = coming;

  std::int64_t expected_end() const { return start + expected; }
};

class Scheduler {
 public:
  Scheduler(const log::Workload& workload, const Rules& rules) : rules_(rules) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      NaiveJob job;
      const JobSpec& spec = workload.jobs[i];
      job.as_model.spec = spec;
      job.submit = (spec.submit - kEpoch).count();
      job.run = workload.run_times[i].count();
      job.limit = spec.limit.count();
      if (rules.submit_first) {
        const std::int64_t asked = job.limit;
        job.limit = std::max(asked, job.run);
        job.run = std::min(asked, job.run);
      }
      job.asks.of[0] = spec.processors;
      each_licence(spec, [&](LicenceId id, std::uint32_t count) { job.asks.of.at(1 + id.value) = count; });
      jobs_.push_back(job);
    }
  }

  const std::vector<NaiveJob>& run() {
    while ((now_ = next_instant()) < kFar) {
      if (rules_.submit_first) {
        if (correct_all()) pass();
        while (NaiveJob* job = next_coming()) {
          submit(*job);
          pass();
        }
        while (NaiveJob* job = next_ending()) {
          finish(*job);
          pass();
        }
      } else {
        bool worth_a_pass = false;
        while (NaiveJob* job = next_ending()) {
          finish(*job);
          worth_a_pass = true;
        }
        std::vector<NaiveJob*> outlived = overdue();
        while (NaiveJob* job = next_coming()) {
          submit(*job);
          worth_a_pass = true;
        }
        for (NaiveJob* job : outlived) worth_a_pass = !correct(*job) || worth_a_pass;
        if (worth_a_pass) pass();
      }
    }
    return jobs_;
  }

 private:
  template <class Yes>
  std::vector<NaiveJob*> all(const Yes& yes) {
    std::vector<NaiveJob*> found;
    for (NaiveJob& job : jobs_) {
      if (yes(job)) found.push_back(&job);
    }
    return found;
  }

  std::int64_t next_instant() const {
    std::int64_t at = kFar;
    for (const NaiveJob& job : jobs_) {
      if (job.state == NaiveJob::coming) at = std::min(at, job.submit);
      if (job.state == NaiveJob::running) {
        at = std::min(at, job.end);
        if (!job.overdue_told) at = std::min(at, job.expected_end());
      }
    }
    return at;
  }
  NaiveJob* next_coming() {
    const auto found = all([&](const NaiveJob& j) { return j.state == NaiveJob::coming && j.submit <= now_; });
    return found.empty() ? nullptr : found.front();
  }
  NaiveJob* next_ending() {
    auto found = all([&](const NaiveJob& j) { return j.state == NaiveJob::running && j.end <= now_; });
    std::sort(found.begin(), found.end(), [](NaiveJob* a, NaiveJob* b) { return a->dispatch < b->dispatch; });
    return found.empty() ? nullptr : found.front();
  }
  std::vector<NaiveJob*> overdue() {
    return all([&](const NaiveJob& j) {
      return j.state == NaiveJob::running && !j.overdue_told && j.expected_end() <= now_ && j.end > now_;
    });
  }

  // One that can never run is worth a pass too: time has passed, and predictions have been corrected.
  void submit(NaiveJob& job) {
    if (!rules_.all.covers(job.asks)) {
      job.state = NaiveJob::rejected;
      return;
    }
    job.state = NaiveJob::waiting;
    if (next_sequence_ == 0) first_submit_ = job.as_model.spec.submit;
    job.sequence = next_sequence_++;
    job.expected = job.limit;
    const std::vector<std::int64_t>& past = runs_of_[job.as_model.spec.user];
    if (rules_.predict && past.size() >= 2) {
      const std::int64_t mean = (past[past.size() - 1] + past[past.size() - 2]) / 2 / 1000 * 1000;
      job.expected = std::clamp<std::int64_t>(mean, 1000, std::max<std::int64_t>(job.limit, 1000));
    }
    job.first_expected = job.expected;
    job.as_model.expected = Duration{job.expected};
  }

  void finish(NaiveJob& job) {
    job.state = NaiveJob::done;
    runs_of_[job.as_model.spec.user].push_back(job.end - job.start);
    use_.add(job.as_model.spec.user, job.as_model.spec.processors, Duration{job.end - job.start},
             Instant{Duration{now_}});
    released_ = true;
  }

  std::int64_t score_of(Order order, const NaiveJob& job) const {
    if (order == Order::fair) return use_.spent_at(job.as_model.spec.user);
    return score(order, job.as_model, Instant{Duration{now_}}, first_submit_);
  }

  bool correct_all() {
    bool worth_a_pass = false;
    for (NaiveJob* job : overdue()) worth_a_pass = !correct(*job) || worth_a_pass;
    return worth_a_pass;
  }
  // False if its limit is reached: then it is overdue and nothing is left to correct.
  bool correct(NaiveJob& job) {
    static constexpr std::int64_t kMinutes[]{1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000};
    if (job.start + job.limit <= now_) {
      job.overdue_told = true;
      return false;
    }
    job.expected = std::min(job.limit, job.first_expected + kMinutes[job.corrections++] * 60'000);
    released_ = true;
    return true;
  }

  void start(NaiveJob& job) {
    job.state = NaiveJob::running;
    job.start = now_;
    job.dispatch = next_dispatch_++;
    job.end = now_ + job.run;
    if (rules_.grace < kFar && !rules_.submit_first && job.run > job.limit + rules_.grace) {
      job.end = now_ + job.limit + rules_.grace;
      job.timed_out = true;
    }
    job.overdue_told = job.end <= job.expected_end();
  }

  // When a running job gives back what it has, as far as planning knows.
  std::int64_t freed_at(const NaiveJob& job) const {
    return rules_.submit_first ? job.expected_end() : std::max(job.expected_end(), now_ + 1);
  }
  Amounts free_at(std::int64_t at) const {
    Amounts free = rules_.all;
    for (const NaiveJob& job : jobs_) {
      if (job.state == NaiveJob::running && freed_at(job) > at) free -= job.asks;
    }
    return free;
  }

  std::vector<NaiveJob*> queue(Order order) {
    auto jobs = all([](const NaiveJob& j) { return j.state == NaiveJob::waiting; });
    const auto place = [&](const NaiveJob* j) {
      return std::tuple(-j->as_model.spec.priority, score_of(order, *j), j->sequence);
    };
    std::sort(jobs.begin(), jobs.end(), [&](NaiveJob* a, NaiveJob* b) { return place(a) < place(b); });
    return jobs;
  }

  void pass() {
    if (rules_.backfill == Backfill::conservative) {
      pass_conservatively();
      return;
    }
    for (NaiveJob* job : queue(rules_.order)) {
      if (!free_at(now_).covers(job->asks)) break;
      start(*job);
    }
    released_ = false;
    const auto left = queue(rules_.order);
    if (left.empty() || rules_.backfill == Backfill::none) return;
    for (NaiveJob* job : queue(rules_.candidates)) {
      if (rules_.backfill == Backfill::skip ? free_at(now_).covers(job->asks) : harmless(*job, *left.front()))
        start(*job);
    }
  }

  bool harmless(const NaiveJob& job, const NaiveJob& head) const {
    if (&job == &head || !free_at(now_).covers(job.asks)) return false;
    std::int64_t shadow = kFar;
    for (const NaiveJob& j : jobs_) {
      if (j.state == NaiveJob::running && free_at(freed_at(j)).covers(head.asks))
        shadow = std::min(shadow, freed_at(j));
    }
    return now_ + job.expected <= shadow || (free_at(shadow) - head.asks).covers(job.asks);
  }

  // ---- conservative: every waiting job has a planned start
  Amounts unplanned_at(std::int64_t at) const {
    Amounts free = free_at(at);
    for (const NaiveJob& j : jobs_) {
      if (j.state == NaiveJob::waiting && j.planned <= at && at < j.planned + j.expected) free -= j.asks;
    }
    return free;
  }
  void place(NaiveJob& job) {
    job.planned = kFar;
    std::vector<std::int64_t> turns{now_};  // where what is free may change
    for (const NaiveJob& j : jobs_) {
      if (j.state == NaiveJob::running) turns.push_back(freed_at(j));
      if (j.state == NaiveJob::waiting && j.planned < kFar)
        turns.insert(turns.end(), {j.planned, j.planned + j.expected});
    }
    std::sort(turns.begin(), turns.end());
    for (const std::int64_t at : turns) {
      const bool fits = at >= now_ && unplanned_at(at).covers(job.asks) &&
                        std::all_of(turns.begin(), turns.end(), [&](std::int64_t t) {
                          return t < at || t >= at + job.expected || unplanned_at(t).covers(job.asks);
                        });
      if (!fits) continue;
      job.planned = at;
      return;
    }
  }
  void pass_conservatively() {
    const auto jobs = queue(rules_.order);
    for (NaiveJob* job : jobs) {
      if (released_ && job->planned > now_ && job->planned < kFar) place(*job);
    }
    released_ = false;
    for (NaiveJob* job : jobs) {
      if (job->planned == kFar) place(*job);
    }
    for (NaiveJob* job : jobs) {
      if (job->planned <= now_) start(*job);
    }
  }

  Rules rules_;
  std::vector<NaiveJob> jobs_;
  std::map<std::uint32_t, std::vector<std::int64_t>> runs_of_;
  Instant first_submit_ = kEpoch;
  RecentUse use_{seconds(7 * 86'400)};
  std::int64_t now_ = 0, next_sequence_ = 0, next_dispatch_ = 0;
  bool released_ = false;
};

}  // namespace rota::oracle
