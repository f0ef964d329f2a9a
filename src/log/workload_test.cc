#include "log/workload.h"

#include <gtest/gtest.h>

namespace rota::log {
namespace {

TEST(ImportReport, CountsRowsByKindAndKeepsTheFirstLine) {
  ImportReport report;
  report.note("too short", 7);
  report.note("too long", 9);
  report.note("too short", 12);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].rows, 2);
  EXPECT_EQ(report.findings[0].first_line, 7);
  EXPECT_EQ(report.findings[1].what, "too long");
}

TEST(ImportReport, IsATableForPeople) {
  ImportReport report{.rows = 54'006, .kept = 1, .findings = {{"dropped", 1'200, 8}, {"mended", 5, 31}}};
  EXPECT_EQ(describe(report),
            "54,006 rows read, 1 job kept\n"
            "  1,200  dropped (first in line 8)\n"
            "      5  mended (first in line 31)\n");
}

}  // namespace
}  // namespace rota::log
