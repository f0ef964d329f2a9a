#include "policy/bind/dealer.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

TEST(Dealer, deals_evenly_where_speeds_are_equal) {
  Dealer dealer;
  for (int i = 0; i < 3; ++i) dealer.add(0, kUnitSpeed);
  std::vector<std::size_t> order(7);
  for (std::size_t& taker : order) taker = dealer.deal();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Dealer, counts_what_a_taker_has_already) {
  Dealer dealer;
  dealer.add(2, kUnitSpeed);
  dealer.add(0, kUnitSpeed);
  EXPECT_EQ(dealer.deal(), 1U);
  EXPECT_EQ(dealer.deal(), 1U);
  EXPECT_EQ(dealer.deal(), 0U);
}

TEST(Dealer, gives_each_task_to_the_taker_that_would_be_done_with_it_first) {
  Dealer dealer;
  dealer.add(0, 1000);
  dealer.add(0, 500);
  std::vector<std::size_t> order(6);
  for (std::size_t& taker : order) taker = dealer.deal();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1, 0, 0, 1}));
}

}  // namespace
}  // namespace rota
