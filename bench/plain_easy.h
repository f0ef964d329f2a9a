// EASY as a textbook loop that looks at every waiting and every running job in each pass: what Rota's indexes are
// measured against. Jobs of a source as the simulated cluster takes them with ties submit_first and a queue floor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "engine/sim/engine.h"

namespace rota::bench {

class PlainEasy {
 public:
  PlainEasy(std::int64_t processors, std::int64_t floor, sim::Source& source)
      : processors_(processors), floor_(floor), source_(source) {}

  // Jobs come until more than `floor` wait, then those of the earliest instant end. False if nothing is left to happen.
  bool step() {
    if (!ends_.empty()) now_ = ends_.top().at;
    while (std::int64_t(queue_.size()) <= floor_) {
      if (!arrive()) break;
      pass();
    }
    if (ends_.empty()) return false;
    for (now_ = ends_.top().at; !ends_.empty() && ends_.top().at <= now_;) {
      const std::size_t gone = ends_.top().job;
      ends_.pop();
      running_.erase(std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.job == gone; }));
      pass();
    }
    return true;
  }

  std::int64_t events() const { return events_; }
  const std::vector<Instant>& starts() const { return starts_; }  // in order of submission

 private:
  struct Waiting {
    std::size_t job;
    std::int64_t processors;
    Duration limit;
    Duration run_time;
  };
  struct Running {
    Instant expected_end;
    std::size_t job;
    std::int64_t processors;
  };
  struct End {
    Instant at;
    std::size_t dispatch;
    std::size_t job;
    bool operator>(const End& o) const { return at != o.at ? at > o.at : dispatch > o.dispatch; }
  };
  struct Shadow {
    Instant at = kNever;
    std::int64_t extra = 0;
  };

  bool arrive() {
    sim::Arrival a;
    if (!source_.next(a)) return false;
    queue_.push_back({starts_.size(), a.spec.processors, a.spec.limit, a.run_time});
    starts_.push_back(kNever);
    return true;
  }

  void start(const Waiting& w) {
    starts_[w.job] = now_;
    const Running r{now_ + w.limit, w.job, w.processors};
    const auto later = [](const Running& a, const Running& b) { return a.expected_end < b.expected_end; };
    running_.insert(std::upper_bound(running_.begin(), running_.end(), r, later), r);
    ends_.push({now_ + w.run_time, ++dispatches_, w.job});
  }

  // When the head can start if all jobs end as expected, and what is left over then.
  Shadow shadow(std::int64_t needed, std::int64_t free) const {
    Shadow s;
    for (const Running& r : running_) {
      if (r.expected_end <= now_) continue;
      if (free >= needed && r.expected_end > s.at) break;
      free += r.processors;
      s.at = r.expected_end;
    }
    s.extra = free - needed;
    return s;
  }

  void pass() {
    ++events_;
    std::int64_t free = processors_;
    for (const Running& r : running_) free -= r.expected_end > now_ ? r.processors : 0;
    if (free == 0) return;
    std::size_t head = 0;
    for (; head < queue_.size() && queue_[head].processors <= free; ++head) {
      free -= queue_[head].processors;
      start(queue_[head]);
    }
    std::size_t kept = 0;
    if (head < queue_.size()) {
      Shadow s = shadow(queue_[head].processors, free);
      queue_[kept++] = queue_[head];
      for (std::size_t i = head + 1; i < queue_.size(); ++i) {
        const Waiting w = queue_[i];
        const bool in_time = now_ + w.limit <= s.at;
        if (w.processors > free || (!in_time && w.processors > s.extra)) {
          queue_[kept++] = w;
          continue;
        }
        free -= w.processors;
        if (!in_time) s.extra -= w.processors;
        start(w);
      }
    }
    queue_.resize(kept);
  }

  std::int64_t processors_;
  std::int64_t floor_;
  sim::Source& source_;
  Instant now_ = kEpoch;
  std::vector<Waiting> queue_;
  std::vector<Running> running_;  // by expected end
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<Instant> starts_;
  std::size_t dispatches_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace rota::bench
