// The figures of Wang et al. (2018), and what a rule by gain does better.
#include <gtest/gtest.h>

#include "study/migration_study.h"

namespace rota::study {
namespace {

TEST(Migration, every_figure_lies_where_it_should) {
  const auto findings = study_migration({});
  ASSERT_TRUE(findings) << findings.error().message;
  ASSERT_EQ(findings->cells.size(), 25U);
  for (const report::Cell& cell : findings->cells) {
    EXPECT_TRUE(cell.ok()) << cell.claim << ": " << cell.found << " is not in " << cell.low << " .. " << cell.high;
  }
}

TEST(Migration, by_gain_frees_more_licence_hours_than_the_published_rule_in_every_case) {
  const auto findings = study_migration({});
  ASSERT_TRUE(findings) << findings.error().message;
  for (const MigrationRow& row : findings->rows) {
    EXPECT_LE(row.gain.minutes, row.published.minutes) << row.setting.name;
    EXPECT_LE(row.gain.minutes, row.none.minutes) << row.setting.name;
  }
}

TEST(Migration, without_moves_changes_nothing) {
  const MigrationCase setting{.name = "short", .slots = 4, .slow = 60};
  const auto none = migrate_case(setting, "", 0);
  const auto published = migrate_case(setting, "+migrate=cpu-factor", 0);
  ASSERT_TRUE(none && published);
  EXPECT_EQ(none->minutes, published->minutes);
  EXPECT_EQ(published->moves, 0);
}

}  // namespace
}  // namespace rota::study
