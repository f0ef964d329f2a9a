#include "report/grants.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

Grant grant() {
  Grant g;
  g.job = 12;
  g.at = at_seconds(1000);
  g.until = at_seconds(1090);
  g.beneficiary = 15;
  g.promise = at_seconds(1050);
  g.free = 10;
  g.needed = 8;
  return g;
}

TEST(GrantReason, TheWaitingJobHasRoomElsewhere) {
  EXPECT_EQ(grant_reason(grant(), {4, 0}),
            "May go on for 1 min 30 s. Job 15 needs 8 processors and 10 were free: it can "
            "start without those of this job.");
}

TEST(GrantReason, StoppingItWouldNotHaveBeenEnough) {
  Grant g = grant();
  g.free = 1;
  g.until = kNever;
  EXPECT_EQ(grant_reason(g, {4, 0}),
            "May go on until its processors are needed. Job 15 needs 8 processors; even with the "
            "4 of this job only 5 would have been free: stopping it would have helped no job.");
}

TEST(GrantReason, ItEndsBeforeThePromise) {
  Grant g = grant();
  g.free = 6;
  g.promise = at_seconds(2000);
  EXPECT_EQ(grant_reason(g, {4, 0}),
            "May go on for 1 min 30 s. Job 15 needs 8 processors (6 were free), but not before "
            "its promised start, day 0, 00:33:20.");
}

TEST(GrantReason, NoJobHeldAPromise) {
  Grant g = grant();
  g.beneficiary = -1;
  EXPECT_EQ(grant_reason(g, {4, 0}),
            "May go on for 1 min 30 s. No waiting job had been promised a start, so no job could lose one.");
}

TEST(GrantReason, ClaimsNoMoreThanTheFactsSay) {
  Grant g = grant();
  g.free = 6;
  EXPECT_EQ(grant_reason(g, {4, 0}),
            "May go on for 1 min 30 s. Job 15 needs 8 processors and 6 were free when this was "
            "decided; its promised start is day 0, 00:17:30.");
}

}  // namespace
}  // namespace rota::report
