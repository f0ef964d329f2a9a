#include "model/trades.h"

#include <gtest/gtest.h>

#include "model/snapshot.h"
#include "model/world_test.h"

namespace rota {
namespace {

ClusterOptions four() {
  ClusterOptions options;
  options.processors = 4;
  return options;
}

Offer offer(std::int64_t number, std::int64_t serial) {
  Offer offer{{}, SiteId{0}, SiteId{1}, at_seconds(3), serial};
  offer.spec.number = number;
  offer.spec.processors = 1;
  offer.spec.limit = seconds(10);
  return offer;
}

TEST(Trades, KeepsAnOfferUntilItIsListedAndItsNumberForGood) {
  Cluster cluster(four());
  EXPECT_NE(cluster.objection(Traded{offer(7, 1), Trade::listed}), std::nullopt) << "it was never offered";
  fold(cluster, Offered{offer(7, 1)});
  EXPECT_NE(cluster.objection(Offered{offer(8, 1)}), std::nullopt) << "that number was given";
  EXPECT_EQ(cluster.trades().offered().at(1).spec.number, 7);
  fold(cluster, Traded{offer(7, 0), Trade::listed});
  EXPECT_TRUE(cluster.trades().empty());
  EXPECT_EQ(cluster.trades().last_serial(), 1);
}

TEST(Trades, KnowsAGuestFromItsWinUntilTheExchangeHasHeardOfItsEnd) {
  Cluster cluster(four());
  fold(cluster, Traded{offer(7, 1), Trade::won});
  EXPECT_NE(cluster.objection(Traded{offer(7, 1), Trade::won}), std::nullopt);
  const JobId id = submit(cluster, offer(7, 1).spec);
  EXPECT_EQ(cluster.trades().guests().at(7).id, id);
  fold(cluster, Started{id, false});
  fold(cluster, Finished{id});
  EXPECT_EQ(cluster.trades().guests().at(7).stage, Trades::Guest::Stage::over);
  fold(cluster, Traded{offer(7, 0), Trade::closed});
  EXPECT_TRUE(cluster.trades().empty());
  EXPECT_NE(cluster.objection(Traded{offer(7, 0), Trade::lost}), std::nullopt);
}

TEST(Trades, ForgetsALostGuestAndNotTheNextOneOfItsNumber) {
  Cluster cluster(four());
  fold(cluster, Traded{offer(7, 1), Trade::won});
  const JobId first = submit(cluster, offer(7, 1).spec);
  fold(cluster, Traded{offer(7, 0), Trade::lost});
  fold(cluster, Traded{offer(7, 1), Trade::won});
  const JobId second = submit(cluster, offer(7, 1).spec);
  fold(cluster, Cancelled{first});
  EXPECT_EQ(cluster.trades().guests().at(7).stage, Trades::Guest::Stage::queued);
  EXPECT_EQ(cluster.trades().guests().at(7).id, second);
}

TEST(Trades, StandInASnapshot) {
  Cluster cluster(four());
  for (std::int64_t serial = 1; serial <= 3; ++serial) fold(cluster, Offered{offer(100 + serial, serial)});
  fold(cluster, Traded{offer(103, 0), Trade::listed});
  fold(cluster, Traded{offer(7, 1), Trade::won});
  fold(cluster, Traded{offer(8, 1), Trade::won});
  fold(cluster, Traded{offer(9, 1), Trade::won});
  const JobId queued = submit(cluster, offer(8, 1).spec);
  const JobId over = submit(cluster, offer(9, 1).spec);
  fold(cluster, Cancelled{over});
  Cluster again(four());
  for (const Fact& fact : Snapshot::facts_of(cluster)) {
    ASSERT_EQ(again.objection(fact), std::nullopt);
    again.fold(fact);
  }
  const Trades& trades = again.trades();
  EXPECT_EQ(trades.offered().size(), 2U);
  EXPECT_EQ(trades.last_serial(), 3);
  EXPECT_EQ(trades.guests().at(7).stage, Trades::Guest::Stage::coming);
  EXPECT_EQ(trades.guests().at(8).id, queued);
  EXPECT_EQ(trades.guests().at(9).stage, Trades::Guest::Stage::over);
  EXPECT_EQ(trades.guests().at(9).offer.data, SiteId{1});
}

TEST(Trades, KnowsAGuestByTheNumberThatItHasHere) {
  Cluster cluster(four());
  const std::int64_t number = federation_number(SiteId{3}, 7);
  fold(cluster, Traded{offer(number, 7), Trade::won, 93});
  EXPECT_EQ(cluster.last_number(), 93) << "so that no other job gets it";
  JobSpec spec = offer(number, 7).spec;
  const JobId other = submit(cluster, spec);
  EXPECT_EQ(cluster.trades().guests().at(number).stage, Trades::Guest::Stage::coming);
  spec.number = 93;
  const JobId id = submit(cluster, spec);
  EXPECT_EQ(cluster.trades().guests().at(number).id, id);
  Cluster again(four());
  for (const Fact& fact : Snapshot::facts_of(cluster)) again.fold(fact);
  EXPECT_EQ(again.trades().guests().at(number).id, id);
  fold(again, Cancelled{other});
  fold(again, Cancelled{id});
  EXPECT_EQ(again.trades().guests().at(number).stage, Trades::Guest::Stage::over);
}

TEST(Trades, AJobOfThisHomeIsNotOursUntilThisSiteHasWonIt) {
  Cluster cluster(four());
  JobSpec spec = offer(1, 1).spec;
  const std::int64_t number = federation_number(SiteId{3}, 1);
  fold(cluster, Submitted{JobId{0}, spec, spec.limit, kNotOurs});
  fold(cluster, Offered{offer(number, 1)});
  fold(cluster, Traded{offer(number, 1), Trade::won, 1});
  EXPECT_EQ(cluster.trades().guests().at(number).stage, Trades::Guest::Stage::coming);
  fold(cluster, Released{JobId{0}, kNotOurs});
  EXPECT_EQ(cluster.trades().guests().at(number).id, JobId{0});
  EXPECT_EQ(cluster.waiting().size(), 1U);
  EXPECT_NE(cluster.objection(EndedElsewhere{JobId{0}, SiteId{1}, kEpoch}), std::nullopt) << "it is this site's";
}

TEST(Trades, AJobOfThisHomeEndsWhereItRan) {
  Cluster cluster(four());
  const JobSpec spec = offer(1, 1).spec;
  fold(cluster, Submitted{JobId{0}, spec, spec.limit, kNotOurs});
  EXPECT_NE(cluster.objection(EndedElsewhere{JobId{0}, SiteId{1}, at_seconds(999)}), std::nullopt) << "in the future";
  fold(cluster, EndedElsewhere{JobId{0}, SiteId{1}, kEpoch, Outcome::failed, 256});
  EXPECT_EQ(cluster.job(JobId{0}).state, JobState::failed);
  EXPECT_EQ(cluster.job(JobId{0}).start, kEpoch);
  EXPECT_EQ(cluster.free(), 4);
  EXPECT_NE(cluster.objection(EndedElsewhere{JobId{0}, SiteId{1}, kEpoch}), std::nullopt) << "reported again";
}

}  // namespace
}  // namespace rota
