#include "cli/live/job_use.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

TEST(JobUse, is_told_of_what_was_held) {
  const Json job = {{"cpu_time", 3723.5},
                    {"cpu_time_held", 14400.0},
                    {"peak_memory", std::int64_t{5} << 28U},
                    {"memory", std::int64_t{1} << 31},
                    {"nodes", 2}};
  EXPECT_EQ(cpu_use(job), "1:02:03 of 4:00:00 (26%)");
  EXPECT_EQ(memory_use(job), "1.2G of 4G (31%)");
  EXPECT_EQ(memory_held(job), "4G");
}

TEST(JobUse, is_told_as_far_as_it_is_known) {
  EXPECT_EQ(cpu_use({{"cpu_time", 61.0}}), "1:01") << "by a service of another version";
  EXPECT_EQ(memory_use({{"peak_memory", 1024}}), "1K") << "it asked for none";
  EXPECT_EQ(cpu_use({{"cpu_time", 0.0}, {"cpu_time_held", 0.0}}), "0:00");
  const Json nothing = Json::object();
  using Text = std::string (*)(const Json&);
  for (const Text text : {cpu_used, cpu_held, cpu_share, memory_held, memory_used, memory_share, cpu_use, memory_use}) {
    EXPECT_EQ(text(nothing), "-");
  }
}

TEST(JobUse, of_more_than_was_held_is_told) {
  EXPECT_EQ(cpu_share({{"cpu_time", 30.0}, {"cpu_time_held", 20.0}}), "150%");
  EXPECT_EQ(cpu_share({{"cpu_time", 1e308}, {"cpu_time_held", 1e-308}}), "1000000000%");
}

}  // namespace
}  // namespace rota::cli
