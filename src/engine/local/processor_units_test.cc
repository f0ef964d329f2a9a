#include "engine/local/processor_units.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>

namespace rota::local {
namespace {

std::size_t allowed() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

std::set<std::uint32_t> threads_of(const ProcessorUnits& found) {
  std::set<std::uint32_t> threads;
  for (const auto& unit : found.units) threads.insert(unit.begin(), unit.end());
  return threads;
}

TEST(ProcessorUnits, without_the_library_each_processor_that_may_be_used_is_one_and_a_warning_says_so) {
  const ProcessorUnits found = processor_units(1, "libwhich-is-not-there.so.15");
  EXPECT_EQ(found.units.size(), allowed());
  EXPECT_EQ(threads_of(found).size(), allowed());
  EXPECT_NE(found.warning.find("libwhich-is-not-there.so.15"), std::string::npos);
}

TEST(ProcessorUnits, a_library_that_is_not_hwloc_counts_as_none) {
  EXPECT_FALSE(processor_units(1, "libm.so.6").warning.empty());
}

TEST(ProcessorUnits, the_library_finds_cores_or_where_more_are_wanted_threads) {
  const ProcessorUnits cores = processor_units(1);
  if (!cores.warning.empty()) GTEST_SKIP() << cores.warning;
  const ProcessorUnits threads = processor_units(static_cast<std::int64_t>(cores.units.size()) + 1);
  EXPECT_FALSE(cores.units.empty());
  EXPECT_EQ(threads.units.size(), threads_of(cores).size());
  EXPECT_EQ(threads_of(threads), threads_of(cores));
}

}  // namespace
}  // namespace rota::local
