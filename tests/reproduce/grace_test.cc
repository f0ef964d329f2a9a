// The figures of Li and Lei (2018), from ten seeds instead of thirty.
#include <gtest/gtest.h>

#include "study/grace_study.h"

namespace rota::study {
namespace {

TEST(Grace, every_figure_of_the_published_comparison_lies_where_it_should) {
  GraceStudy study;
  study.seeds = 10;
  study.threads = 2;
  const auto findings = study_grace(study);
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->rows.size(), study.sizes.size() * 7);
  ASSERT_EQ(findings->cells.size(), 12U);
  for (const report::Cell& cell : findings->cells) {
    EXPECT_TRUE(cell.ok()) << cell.claim << ": " << cell.found << " is not in " << cell.low << " .. " << cell.high;
  }
}

TEST(Grace, the_number_of_threads_changes_nothing) {
  const GraceStudy alone{.seeds = 3, .sizes = {40, 60}, .threads = 1};
  GraceStudy together = alone;
  together.threads = 4;
  const auto a = study_grace(alone);
  const auto b = study_grace(together);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->rows.size(), b->rows.size());
  for (std::size_t i = 0; i < a->rows.size(); ++i) {
    EXPECT_EQ(a->rows[i].makespan.mean, b->rows[i].makespan.mean);
    EXPECT_EQ(a->rows[i].completion.mean, b->rows[i].completion.mean);
  }
}

}  // namespace
}  // namespace rota::study
