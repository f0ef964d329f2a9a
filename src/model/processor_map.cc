#include "model/processor_map.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

std::vector<std::uint32_t> listed(std::span<const ProcessorRange> ranges) {
  std::vector<std::uint32_t> all;
  for (const ProcessorRange& r : ranges) {
    for (std::uint32_t i = 0; i < r.count; ++i) all.push_back(r.first + i);
  }
  return all;
}

std::vector<ProcessorRange> in_ranges(std::span<const std::uint32_t> processors) {
  std::vector<ProcessorRange> ranges;
  for (const std::uint32_t p : processors) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count == p) {
      ++ranges.back().count;
    } else {
      ranges.push_back({p, 1});
    }
  }
  return ranges;
}

ProcessorMap::ProcessorMap(std::int64_t processors) : size_(processors), free_(processors) {
  if (processors > 0) free_ranges_[0] = static_cast<std::uint32_t>(processors);
}

JobId ProcessorMap::owner(std::uint32_t processor) const {
  JobId owner;
  for_each_held({processor, 1}, [&](JobId job, const ProcessorRange&) { owner = job; });
  return owner;
}

// A part of one free range; how many that is.
std::uint32_t ProcessorMap::take_free(JobId job, std::map<std::uint32_t, std::uint32_t>::iterator from,
                                      const ProcessorRange& part) {
  const ProcessorRange whole{from->first, from->second};
  const std::uint32_t before = part.first - whole.first;
  const std::uint32_t after = whole.count - before - part.count;
  if (before > 0) {
    from->second = before;
  } else {
    free_ranges_.erase(from);
  }
  if (after > 0) free_ranges_[part.first + part.count] = after;
  held_[part.first] = {part.count, job};
  by_job_[job].push_back(part.first);
  free_ -= part.count;
  return part.count;
}

void ProcessorMap::occupy(JobId job, std::uint32_t count, std::span<const ProcessorRange> preferred) {
  CHECK(count <= free_, "a job starts on free processors");
  for (const ProcessorRange& wanted : preferred) {
    const std::uint64_t end = std::uint64_t{wanted.first} + wanted.count;
    std::uint64_t at = wanted.first;
    while (count > 0 && at < end) {  // the free ranges that reach into the wanted one
      auto from = free_ranges_.upper_bound(static_cast<std::uint32_t>(at));
      if (from != free_ranges_.begin() && std::uint64_t{std::prev(from)->first} + std::prev(from)->second > at) --from;
      if (from == free_ranges_.end() || from->first >= end) break;
      const std::uint64_t first = std::max<std::uint64_t>(at, from->first);
      const std::uint64_t last = std::min(end, std::uint64_t{from->first} + from->second);
      const std::uint32_t some = std::min(count, static_cast<std::uint32_t>(last - first));
      count -= take_free(job, from, {static_cast<std::uint32_t>(first), some});
      at = first + some;
    }
  }
  while (count > 0) {
    const auto lowest = free_ranges_.begin();
    count -= take_free(job, lowest, {lowest->first, std::min(count, lowest->second)});
  }
}

std::vector<ProcessorRange> ProcessorMap::held_by(JobId job) const {
  std::vector<ProcessorRange> held;
  const auto firsts = by_job_.find(job);
  if (firsts == by_job_.end()) return held;
  for (const std::uint32_t first : firsts->second) held.push_back({first, held_.at(first).count});
  std::ranges::sort(held, {}, &ProcessorRange::first);
  return held;
}

void ProcessorMap::put_back(JobId job, std::span<const std::uint32_t> processors) {
  const std::vector<ProcessorRange> ranges = in_ranges(processors);
  const std::int64_t left = free_ - static_cast<std::int64_t>(processors.size());
  for (const ProcessorRange& r : ranges) {
    for_each_held(r, [](JobId, const ProcessorRange&) { CHECK(false, "a processor is held by one job"); });
  }
  occupy(job, static_cast<std::uint32_t>(processors.size()), ranges);
  CHECK(free_ == left, "a processor is held by one job");
}

void ProcessorMap::release(JobId job) {
  const auto firsts = by_job_.find(job);
  if (firsts == by_job_.end()) return;  // presumed to have ended
  for (const std::uint32_t first : firsts->second) {
    const auto held = held_.find(first);
    add_free({first, held->second.count});
    held_.erase(held);
  }
  by_job_.erase(firsts);
}

// Together with the free ranges beside it.
void ProcessorMap::add_free(ProcessorRange range) {
  free_ += range.count;
  const auto next = free_ranges_.find(range.first + range.count);
  if (next != free_ranges_.end()) {
    range.count += next->second;
    free_ranges_.erase(next);
  }
  const auto after = free_ranges_.upper_bound(range.first);
  if (after != free_ranges_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == range.first) {
      before->second += range.count;
      return;
    }
  }
  free_ranges_[range.first] = range.count;
}

}  // namespace rota
