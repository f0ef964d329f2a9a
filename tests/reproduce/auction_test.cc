// The figures of Baranov et al. (2018), and of better auctions, from the seeds that `rota reproduce` takes.
#include <gtest/gtest.h>

#include "study/auction_study.h"

namespace rota::study {
namespace {

TEST(Auction, every_figure_lies_where_it_should) {
  AuctionStudy study;
  study.threads = 2;
  const auto findings = study_auction(study);
  ASSERT_TRUE(findings) << findings.error().message;
  ASSERT_EQ(findings->cells.size(), 13U);
  for (const report::Cell& cell : findings->cells) {
    EXPECT_TRUE(cell.ok()) << cell.claim << ": " << cell.found << " is not in " << cell.low << " .. " << cell.high;
  }
}

TEST(Auction, the_number_of_threads_changes_nothing) {
  const AuctionStudy alone{.seeds = 2, .jobs = 40, .threads = 1};
  AuctionStudy together = alone;
  together.threads = 4;
  const auto a = study_auction(alone);
  const auto b = study_auction(together);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->rows.size(), b->rows.size());
  for (std::size_t i = 0; i < a->rows.size(); ++i) {
    EXPECT_EQ(a->rows[i].time.mean, b->rows[i].time.mean);
    EXPECT_EQ(a->rows[i].preemptions.mean, b->rows[i].preemptions.mean);
  }
}

}  // namespace
}  // namespace rota::study
