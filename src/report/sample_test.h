// For tests: seeded workloads and plausible outcomes, made by a scheduler of a few lines (first come first served, or
// with EASY's backfill) that shares no code with Rota's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "base/random.h"
#include "report/outcome.h"

namespace rota::report {

struct SampleJob {
  JobSpec spec;
  Duration run;
};

inline SampleJob sample_job(std::int64_t number, std::int64_t submit, std::int64_t run, std::uint32_t processors) {
  SampleJob job;
  job.spec.number = number;
  job.spec.submit = at_seconds(submit);
  job.spec.limit = seconds(run * 2);
  job.spec.processors = processors;
  job.spec.user = static_cast<std::uint32_t>(number % 7);
  job.run = seconds(run);
  return job;
}

// A job as a rehearsal leaves it behind: started after `wait` seconds.
inline Job ended_job(std::int64_t number, std::int64_t submit, std::int64_t wait, std::int64_t run,
                     std::uint32_t processors) {
  Job job;
  job.spec = sample_job(number, submit, run, processors).spec;
  job.start = job.spec.submit + seconds(wait);
  job.end = job.start + seconds(run);
  job.state = JobState::completed;
  return job;
}

inline std::vector<SampleJob> sample_jobs(std::int64_t n, std::int64_t processors, std::uint64_t seed) {
  Random random(seed);
  std::vector<SampleJob> jobs;
  double submit = 0;
  for (std::int64_t i = 1; i <= n; ++i) {
    const auto widest = static_cast<double>(processors) / 2;
    const auto width = static_cast<std::int64_t>(std::exp2(random.uniform(0, std::log2(widest))));
    const auto run = static_cast<std::int64_t>(10 + random.exponential(3600));
    jobs.push_back(sample_job(i, static_cast<std::int64_t>(submit), run, static_cast<std::uint32_t>(width)));
    jobs.back().spec.limit = seconds(run + random.between(0, 7200));
    const double mean_width = widest / std::log(widest);
    submit += random.exponential(3600 * mean_width / (0.9 * static_cast<double>(processors)));
  }
  return jobs;
}

// One rehearsal as a loop over ends and submissions.
class SampleRehearsal {
 public:
  SampleRehearsal(const std::vector<SampleJob>& jobs, std::int64_t processors, bool backfill)
      : source_(jobs), free_(processors), backfill_(backfill) {
    outcome_.workload = "sample";
    outcome_.policy = backfill ? "easy" : "fcfs";
    outcome_.processors = processors;
    for (const SampleJob& job : jobs) outcome_.jobs.push_back({.spec = job.spec, .expected = job.spec.limit});
  }

  Outcome run() {
    std::size_t next = 0;
    while (next < source_.size() || !ends_.empty()) {
      const bool ending = !ends_.empty() && (next == source_.size() || ends_.top().first <= submit_of(next));
      const Instant now = ending ? ends_.top().first : submit_of(next);
      if (ending) {
        finish(ends_.top().second);
        ends_.pop();
      } else {
        queue_.push_back(next++);
      }
      pass(now);
      ++outcome_.cycles;
    }
    return std::move(outcome_);
  }

 private:
  using End = std::pair<Instant, std::size_t>;

  Instant submit_of(std::size_t i) const { return source_[i].spec.submit; }
  std::int64_t width(std::size_t i) const { return source_[i].spec.processors; }

  void start(std::size_t i, Instant now) {
    Job& job = outcome_.jobs[i];
    job.start = now;
    job.end = now + source_[i].run;
    job.state = JobState::completed;
    free_ -= width(i);
    ends_.emplace(job.end, i);
    expected_.emplace(job.limit_end(), i);
  }

  void finish(std::size_t i) {
    free_ += width(i);
    auto at = expected_.find(outcome_.jobs[i].limit_end());
    while (at->second != i) ++at;
    expected_.erase(at);
  }

  void pass(Instant now) {
    while (head_ < queue_.size() && width(queue_[head_]) <= free_) start(queue_[head_++], now);
    if (!backfill_ || head_ == queue_.size() || free_ == 0) return;
    std::int64_t extra = free_ - width(queue_[head_]);
    Instant shadow = now;
    for (auto at = expected_.begin(); extra < 0 && at != expected_.end(); ++at) {
      extra += width(at->second);
      shadow = at->first;
    }
    Job& head = outcome_.jobs[queue_[head_]];
    head.promise = shadow;
    if (head.first_promise == kNever) head.first_promise = shadow;
    const std::size_t look = std::min(queue_.size(), head_ + 50);  // enough for a sample
    for (std::size_t at = head_ + 1; at < look; ++at) {
      const std::size_t i = queue_[at];
      if (outcome_.jobs[i].start != kNever || width(i) > free_) continue;
      const bool in_time = now + source_[i].spec.limit <= shadow;
      if (!in_time && width(i) > extra) continue;
      if (!in_time) extra -= width(i);
      start(i, now);
      outcome_.jobs[i].backfilled = true;
      outcome_.jobs[i].backfills = 1;
    }
    std::erase_if(queue_, [&, at = std::size_t{0}](std::size_t i) mutable {
      return at++ > head_ && outcome_.jobs[i].start != kNever;
    });
    if (head_ > 1000) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  const std::vector<SampleJob>& source_;
  std::int64_t free_;
  bool backfill_;
  Outcome outcome_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::multimap<Instant, std::size_t> expected_;
  std::vector<std::size_t> queue_;
  std::size_t head_ = 0;
};

inline Outcome rehearsed(const std::vector<SampleJob>& jobs, std::int64_t processors, bool backfill) {
  return SampleRehearsal(jobs, processors, backfill).run();
}

}  // namespace rota::report
