#include "report/start_reason.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

TEST(StartReason, SaysWhyNoJobWasHarmed) {
  EXPECT_EQ(start_reason({}, 0), "it was its turn, and there was room");
  StartNote note{.started = true,
                 .rule = Rule::ends_before_promise,
                 .promised = 7,
                 .promise = at_seconds(3600),
                 .free = 3,
                 .needed = 8};
  EXPECT_EQ(start_reason(note, 0), "backfilled: it is expected to end before job 7 is to start, day 0, 01:00:00");
  note.rule = Rule::beside_promise;
  EXPECT_EQ(start_reason(note, 0), "backfilled on processors that job 7 leaves over, which needs 8 (3 were free)");
  note.lacks = "4 whole nodes (3 were free)";
  EXPECT_EQ(start_reason(note, 0), "backfilled on what job 7 leaves over, which needs 4 whole nodes (3 were free)");
  note.lacks = "1 licence of matlab (0 were free)";
  EXPECT_EQ(start_reason(note, 0),
            "backfilled on what job 7 leaves over, which needs 1 licence of matlab (0 were free)");
  note.lacks.clear();
  note.where = {{NodeId{0}, 2}};
  EXPECT_EQ(start_reason(note, 0), "backfilled on what job 7 leaves over, which needs 8 (3 were free)")
      << "of what, counts alone do not say";
  note.where.clear();
  note.free = 9;
  EXPECT_EQ(start_reason(note, 0), "backfilled on processors that job 7 leaves over")
      << "no number that explains nothing";
  note.promised = -1;
  EXPECT_EQ(start_reason(note, 0), "backfilled beside what others are promised");
  note.rule = Rule::planned;
  EXPECT_EQ(start_reason(note, 0), "its promised start had come");
}

}  // namespace
}  // namespace rota::report
