#include "serve/licence_watch.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rota::serve {
namespace {

Machine with_licences() {
  Machine machine;
  machine.licences = {{"matlab", 4}, {"fluent", 12}};
  return machine;
}

TEST(LicenceCounts, AreReadByName) {
  const auto counts = parse_licence_counts("# a remark\nfluent  12\t3 1\nother 1 1\n\n matlab 5 0 \n", with_licences());
  ASSERT_TRUE(counts) << counts.error().message;
  ASSERT_EQ(counts->size(), 2U);
  EXPECT_EQ((*counts)[0].licence, LicenceId{1});
  EXPECT_EQ((*counts)[0].total, 12);
  EXPECT_EQ((*counts)[0].used, 3);
  EXPECT_EQ((*counts)[0].by_jobs, 1);
  EXPECT_EQ((*counts)[1].total, 5);
  EXPECT_FALSE((*counts)[1].by_jobs);
}

TEST(LicenceCounts, ThatMakeNoSenseAreRefused) {
  const auto why = [](const char* text) {
    const auto counts = parse_licence_counts(text, with_licences());
    return counts ? std::string() : counts.error().message;
  };
  EXPECT_EQ(why("matlab 4 2\n"), "it says nothing of the licence fluent");
  EXPECT_EQ(why("matlab 4 2\nfluent 1 1\nmatlab 4 2\n"), "it tells of the licence matlab twice");
  for (const char* line : {"matlab 4", "matlab 4 x", "matlab -4 2", "matlab 4 2 3", "matlab 4 2 1 1"}) {
    EXPECT_EQ(
        why(line),
        fmt::format("it says \"{}\", which is not NAME TOTAL USED or NAME TOTAL USED BY_JOBS in whole numbers", line));
  }
}

TEST(LicencesElsewhere, AreWhatIsNotThereForJobs) {
  const LicenceId id{0};
  EXPECT_EQ(used_elsewhere({id, 4, 0, {}}, 4, 0), 0);
  EXPECT_EQ(used_elsewhere({id, 4, 3, {}}, 4, 2), 1) << "two of the three are our own jobs'";
  EXPECT_EQ(used_elsewhere({id, 4, 1, {}}, 4, 2), 0) << "a job holds one that it has not checked out yet";
  EXPECT_EQ(used_elsewhere({id, 4, 3, 0}, 4, 1), 3) << "the same, and the server tells whose they are";
  EXPECT_EQ(used_elsewhere({id, 3, 0, {}}, 4, 0), 1) << "the server has fewer than the cluster file says";
  EXPECT_EQ(used_elsewhere({id, 6, 1, {}}, 4, 0), 0) << "more are not given out";
  EXPECT_EQ(used_elsewhere({id, 6, 5, {}}, 4, 0), 3);
}

}  // namespace
}  // namespace rota::serve
