#include "model/processor_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace rota {
namespace {

constexpr std::uint32_t kProcessors = 60;

std::vector<std::uint32_t> held(const ProcessorMap& map, JobId job) { return listed(map.held_by(job)); }

TEST(ProcessorMap, gives_the_lowest_numbers_that_are_free) {
  ProcessorMap map(10);
  map.occupy(JobId{0}, 3, {});
  map.occupy(JobId{1}, 2, {});
  map.release(JobId{0});
  map.occupy(JobId{2}, 5, {});
  EXPECT_EQ(held(map, JobId{2}), (std::vector<std::uint32_t>{0, 1, 2, 5, 6}));
  EXPECT_EQ(map.owner(4), JobId{1});
  EXPECT_FALSE(map.owner(7).valid());
  EXPECT_EQ(map.free(), 3);
}

TEST(ProcessorMap, gives_what_is_preferred_first_where_it_is_free) {
  ProcessorMap map(10);
  map.occupy(JobId{0}, 6, {});
  const std::vector<ProcessorRange> preferred{{8, 1}, {4, 3}};
  map.occupy(JobId{1}, 3, preferred);
  EXPECT_EQ(held(map, JobId{1}), (std::vector<std::uint32_t>{6, 7, 8}));
}

TEST(ProcessorMap, costs_nothing_for_processors_that_are_not_told_apart) {
  ProcessorMap map(std::int64_t{1} << 31);
  map.occupy(JobId{0}, 1U << 31, {});
  EXPECT_EQ(map.free(), 0);
  EXPECT_EQ(map.held_by(JobId{0}).size(), 1U);
  map.release(JobId{0});
  EXPECT_EQ(map.free(), std::int64_t{1} << 31);
}

// Owners one by one.
class Row {
 public:
  void occupy(JobId job, std::uint32_t count, const std::vector<std::uint32_t>& preferred) {
    for (const std::uint32_t p : preferred) take_one(job, p, count);
    for (std::uint32_t p = 0; p < kProcessors; ++p) take_one(job, p, count);
  }
  void release(JobId job) { std::ranges::replace(owners_, job, JobId{}); }
  JobId owner(std::uint32_t p) const { return owners_[p]; }
  std::int64_t free() const { return std::ranges::count(owners_, JobId{}); }

 private:
  void take_one(JobId job, std::uint32_t p, std::uint32_t& count) {
    if (count == 0 || owners_[p].valid()) return;
    owners_[p] = job;
    --count;
  }
  std::vector<JobId> owners_ = std::vector<JobId>(kProcessors);
};

TEST(ProcessorMap, keeps_what_a_row_of_processors_would) {
  Random random(4);
  ProcessorMap map(kProcessors);
  Row row;
  std::vector<JobId> running;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    if (map.free() == 0 || random.chance(0.45)) {
      if (running.empty()) continue;
      const auto at = random.between(0, static_cast<std::int64_t>(running.size()) - 1);
      map.release(running[static_cast<std::size_t>(at)]);
      row.release(running[static_cast<std::size_t>(at)]);
      running.erase(running.begin() + at);
    } else {
      std::vector<std::uint32_t> preferred;
      for (std::int64_t n = random.between(0, 12); n > 0; --n) {
        const auto p = static_cast<std::uint32_t>(random.between(0, kProcessors - 1));
        if (std::ranges::find(preferred, p) == preferred.end()) preferred.push_back(p);
        if (std::ranges::find(preferred, p + 1) == preferred.end() && p + 1 < kProcessors) preferred.push_back(p + 1);
      }
      const auto count = static_cast<std::uint32_t>(random.between(1, std::min<std::int64_t>(map.free(), 15)));
      map.occupy(JobId{i}, count, in_ranges(preferred));
      row.occupy(JobId{i}, count, preferred);
      running.push_back(JobId{i});
    }
    ASSERT_EQ(map.free(), row.free());
    for (std::uint32_t p = 0; p < kProcessors; ++p) ASSERT_EQ(map.owner(p), row.owner(p)) << i << ": " << p;
  }
}

}  // namespace
}  // namespace rota
