// The running jobs by the time at which they are expected to end, with the processors that come free by then.
#pragma once

#include <cstdint>

#include "base/ordered_tree.h"
#include "model/job.h"

namespace rota {

struct RunningEntry {
  struct Key {
    Instant end = kEpoch;        // expected
    std::uint32_t dispatch = 0;  // order in which the jobs were started
    constexpr bool operator<(const Key& o) const { return end != o.end ? end < o.end : dispatch < o.dispatch; }
  };
  Key place;
  std::uint32_t processors = 0;
  JobId job;

  const Key& key() const { return place; }
};

struct ProcessorSum {
  std::int64_t processors = 0;

  void add(const RunningEntry& e) { processors += e.processors; }
  void add(const ProcessorSum& o) { processors += o.processors; }
  bool remove(const RunningEntry& e) {
    processors -= e.processors;
    return true;
  }
};

class RunningJobs {
 public:
  bool empty() const { return tree_.empty(); }
  std::size_t size() const { return tree_.size(); }
  std::int64_t processors() const { return tree_.total().processors; }

  void insert(const RunningEntry& entry) { tree_.insert(entry); }
  bool erase(const RunningEntry::Key& key) { return tree_.erase(key); }

  // Processors of the jobs expected to end at or before `at`.
  std::int64_t released_by(Instant at) const { return tree_.up_to({at, UINT32_MAX}).processors; }

  // The expected end by which at least `processors` come free, and how many do by then (all that end at that instant);
  // kNever if all together hold fewer.
  struct Release {
    Instant at = kNever;
    std::int64_t processors = 0;
  };
  Release release_of(std::int64_t processors) const {
    const auto reached = [&](const ProcessorSum& sum) { return sum.processors >= processors; };
    const auto together = [](const RunningEntry& a, const RunningEntry& b) { return a.place.end == b.place.end; };
    ProcessorSum by_then;
    bool cut = false;
    const RunningEntry* e = tree_.seek(reached, together, by_then, cut);
    if (!e) return {};
    return {e->place.end, cut ? released_by(e->place.end) : by_then.processors};
  }

  // In order of expected end until visit returns false.
  template <class Visit>
  void for_each(const Visit& visit) const {
    tree_.for_each(visit);
  }

 private:
  OrderedTree<RunningEntry, ProcessorSum> tree_;
};

}  // namespace rota
