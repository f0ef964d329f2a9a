// The figures of Li, Zhu, Liu and Qian (2016).
#include <gtest/gtest.h>

#include "study/binding_study.h"

namespace rota::study {
namespace {

// The paper names only LU and Cholesky, and no limit in time spares QR.
constexpr const char* kMissed = "QR, bind=node, 4 GPUs, start-up 40 s, intensity 8, task limit 400 s";

TEST(Binding, every_figure_of_the_published_comparison_lies_where_it_should_but_one) {
  const auto findings = study_binding();
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->rows.size(), 12U);
  EXPECT_GE(findings->cells.size(), 110U);
  for (const report::Cell& cell : findings->cells) {
    EXPECT_EQ(cell.ok(), cell.claim != kMissed)
        << cell.claim << ": " << cell.found << " is not in " << cell.low << " .. " << cell.high;
  }
}

TEST(Binding, late_binding_is_nowhere_behind_another_rule) {
  const auto findings = study_binding();
  ASSERT_TRUE(findings);
  for (const BindingRow& row : findings->rows) {
    const double late = row.speed_ups.back().second;
    for (const auto& [bind, found] : row.speed_ups) EXPECT_GE(late, found) << row.setting.application << name_of(bind);
  }
  for (const report::Cell& cell : findings->cells) {
    EXPECT_GE(cell.better.value_or(cell.found), cell.found) << cell.claim;
  }
}

}  // namespace
}  // namespace rota::study
