// The figures of Li, Zhu, Liu and Qian (2016).
#include <gtest/gtest.h>

#include "study/binding_study.h"

namespace rota::study {
namespace {

TEST(Binding, every_figure_of_the_published_comparison_lies_where_it_should) {
  const auto findings = study_binding();
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->rows.size(), 12U);
  EXPECT_GE(findings->cells.size(), 50U);
  for (const report::Cell& cell : findings->cells) {
    EXPECT_TRUE(cell.ok()) << cell.claim << ": " << cell.found << " is not in " << cell.low << " .. " << cell.high;
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
