#include "report/policy_labels.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

using Texts = std::vector<std::string>;

const std::string kLong = "slurm+bf-interval=30s+bf-window=2d+batch-sched-delay=2s";

TEST(PolicyLabels, AreTheTextsWhereTheseAreShort) {
  const Texts texts{"easy", "easy+order=sjf", "recorded", "slurm+bf-interval=30s"};
  EXPECT_EQ(policy_labels(texts), texts);
}

TEST(PolicyLabels, AreTheFirstWordOfALongOne) {
  EXPECT_EQ(policy_labels(Texts{"recorded", kLong, "easy", kLong}), (Texts{"recorded", "slurm", "easy", "slurm"}));
}

TEST(PolicyLabels, AreNumberedWhereAnotherBeginsWithTheSameWord) {
  EXPECT_EQ(policy_labels(Texts{kLong, "slurm"}), (Texts{"slurm-1", "slurm"}));
  EXPECT_EQ(policy_labels(Texts{kLong, kLong + "+overrun=1m", kLong}), (Texts{"slurm-1", "slurm-2", "slurm-1"}));
  EXPECT_EQ(policy_labels(Texts{"slurm-1", kLong, kLong + "+overrun=1m"}), (Texts{"slurm-1", "slurm-2", "slurm-3"}));
}

TEST(PolicyLabels, TellEachOnceWhatItStandsFor) {
  std::vector<Summary> rows(3);
  rows[0].policy = "easy";
  rows[1].policy = rows[2].policy = kLong;
  call_by_labels(rows);
  EXPECT_EQ(rows[1].name(), "slurm");
  EXPECT_EQ(labelled(rows), (std::vector<std::pair<std::string, std::string>>{{"slurm", kLong}}));
}

}  // namespace
}  // namespace rota::report
