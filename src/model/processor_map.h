// Which processors each running job holds. Kept only where a policy asks for it: elsewhere processors that are
// interchangeable are counted, not listed. Jobs take the free processors with the lowest numbers. Processors are kept
// as ranges of one owner, so that what it costs goes by ranges and not by processors; neighbours are not merged.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/id.h"

namespace rota {

struct ProcessorRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  bool operator==(const ProcessorRange&) const = default;
};

// The same processors, one by one and in ranges, in the same order: for snapshots.
std::vector<std::uint32_t> listed(std::span<const ProcessorRange> ranges);
std::vector<ProcessorRange> in_ranges(std::span<const std::uint32_t> processors);

class ProcessorMap {
 public:
  explicit ProcessorMap(std::int64_t processors);

  std::int64_t size() const { return size_; }
  std::int64_t free() const { return free_; }
  JobId owner(std::uint32_t processor) const;  // invalid: free

  // Takes `count` free processors for the job: first those of `preferred` that are free, then the lowest numbers.
  // O((ranges taken + preferred) log ranges)
  void occupy(JobId job, std::uint32_t count, std::span<const ProcessorRange> preferred);
  void release(JobId job);

  // visit(owner, range) for all that are held among some, rising; and for all processors, owner invalid: free. A range
  // of one owner may come in parts.
  template <class Visit>
  void for_each_held(const ProcessorRange& among, const Visit& visit) const {
    const std::uint64_t end = std::uint64_t{among.first} + among.count;
    auto at = held_.upper_bound(among.first);
    if (at != held_.begin() && end_of(*std::prev(at)) > among.first) --at;
    for (; at != held_.end() && at->first < end; ++at) {
      visit(at->second.owner, ProcessorRange{at->first, at->second.count});
    }
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [first, held] : held_) visit(held.owner, ProcessorRange{first, held.count});
    for (const auto& [first, count] : free_ranges_) visit(JobId{}, ProcessorRange{first, count});
  }

  // For a snapshot: the processors that a job holds, rising; and how they are put back.
  std::vector<ProcessorRange> held_by(JobId job) const;
  void put_back(JobId job, std::span<const std::uint32_t> processors);

 private:
  struct Held {
    std::uint32_t count;
    JobId owner;
  };
  static std::uint64_t end_of(const std::pair<const std::uint32_t, Held>& held) {
    return std::uint64_t{held.first} + held.second.count;
  }
  std::uint32_t take_free(JobId job, std::map<std::uint32_t, std::uint32_t>::iterator from, const ProcessorRange& part);
  void add_free(ProcessorRange range);

  std::map<std::uint32_t, std::uint32_t> free_ranges_;  // how many from which on
  std::map<std::uint32_t, Held> held_;                  // by the first of each range
  std::map<JobId, std::vector<std::uint32_t>> by_job_;  // the first of each of its ranges
  std::int64_t size_;
  std::int64_t free_;
};

}  // namespace rota
