// The study of nodes that are switched off and on, in the cells that need few rehearsals.
#include <gtest/gtest.h>

#include "study/power_study.h"

namespace rota::study {
namespace {

std::vector<PowerRow> rehearsed(const std::vector<PowerCase>& cases) {
  auto rows = rehearse_power(cases, 2);
  if (!rows) throw std::runtime_error(rows.error().message);
  return std::move(*rows);
}

TEST(PowerStudy, finds_what_an_independent_program_finds_when_all_nodes_are_on) {
  const auto rows = rehearsed({{X64Stream::skipping, 320, "fcfs-skip"},
                               {X64Stream::skipping, 160, "fcfs-skip"},
                               {X64Stream::strict, 320, "fcfs"},
                               {X64Stream::strict, 160, "fcfs"}});
  EXPECT_NEAR(rows[0].minutes, 48947.33, 0.01);
  EXPECT_NEAR(rows[0].wait, 0.6068, 0.0001);
  EXPECT_NEAR(rows[0].idle, 42.62, 0.01);
  EXPECT_NEAR(rows[1].wait, 33.484, 0.001);
  EXPECT_NEAR(rows[1].idle, 9.43, 0.01);
  EXPECT_NEAR(rows[2].idle, 42.64, 0.01);
  EXPECT_NEAR(rows[3].wait, 74.17, 0.01);
}

TEST(PowerStudy, switches_as_many_nodes_as_an_independent_program) {
  const auto rows = rehearsed({{X64Stream::skipping, 320, load_factor_policy(X64Stream::skipping, 30)},
                               {X64Stream::skipping, 320, load_factor_policy(X64Stream::skipping, 120)}});
  EXPECT_NEAR(rows[0].off, 38.87, 0.1);
  EXPECT_NEAR(rows[0].minutes, 48965.0, 0.1);
  EXPECT_NEAR(rows[0].wait, 0.8249, 0.001);
  EXPECT_NEAR(rows[1].off, 34.78, 0.1);
  EXPECT_NEAR(rows[1].minutes, 49205.0, 0.1);
}

TEST(PowerStudy, demand_saves_as_much_as_the_published_rule_for_less_than_half_of_the_added_wait) {
  const auto rows = rehearsed({{X64Stream::skipping, 320, "fcfs-skip"},
                               {X64Stream::skipping, 320, load_factor_policy(X64Stream::skipping, 30)},
                               {X64Stream::skipping, 320, "fcfs-skip+power=demand"}});
  EXPECT_GE(rows[2].off, rows[1].off);
  EXPECT_LE(2 * (rows[2].wait - rows[0].wait), rows[1].wait - rows[0].wait);
  EXPECT_LE(rows[2].cycles, 3);
}

}  // namespace
}  // namespace rota::study
