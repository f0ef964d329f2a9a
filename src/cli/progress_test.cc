#include "cli/progress.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

TEST(ProgressLine, TellsShareAndWhatIsLeft) {
  EXPECT_EQ(progress_line(0.25, 10, "250 of 1,000 jobs", 120),
            "[##########..............................]  25 %  250 of 1,000 jobs, 30 s left");
  EXPECT_EQ(progress_line(0, 3, "0 of 1,000 jobs", 120),
            "[........................................]   0 %  0 of 1,000 jobs");
}

TEST(ProgressLine, NeverFillsATerminalToItsLastColumn) {
  for (std::size_t columns = 1; columns < 140; ++columns) {
    for (const double share : {-1.0, 0.0, 0.4, 1.0}) {
      EXPECT_LT(progress_line(share, 5000, "1,234,567 of 3,200,000 jobs", columns).size(), columns);
    }
  }
  EXPECT_EQ(progress_line(0.5, 4, "5 of 10 jobs", 40), "[###....]  50 %  5 of 10 jobs, 4 s left");
  EXPECT_EQ(progress_line(0.5, 4, "5 of 10 jobs", 24), "  50 %  5 of 10 jobs, 4");
}

TEST(ProgressLine, HasNoBarWhereTheSizeIsNotKnown) {
  EXPECT_EQ(progress_line(-1, 5, "reading standard input", 80), "reading standard input");
}

}  // namespace
}  // namespace rota::cli
