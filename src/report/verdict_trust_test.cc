// Nothing is recommended that the report itself says cannot be trusted, and what Slurm cannot be set to is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "report/trust.h"
#include "report/verdict_sample_test.h"

namespace rota::report {
namespace {

// What happened, what the site has, which does not meet it, and two others.
std::vector<Summary> not_to_be_trusted() {
  std::vector<Summary> rows{summary("recorded", 100, 200), summary("slurm", 300, 600), summary("easy", 60, 90),
                            summary("conservative", 70, 80)};
  rows[0].recorded = true;
  rows[1].own = true;
  for (std::size_t i = 1; i < rows.size(); ++i) rows[i].trust = Trust{100, *rows[i].wait_mean, 100, 0.95};
  return rows;
}

TEST(Verdict, RecommendsNothingWhereTheRehearsalCannotBeTrustedInWhateverOrderTheRowsStand) {
  std::vector<Summary> rows = not_to_be_trusted();
  std::ranges::sort(rows, {}, &Summary::policy);
  const std::string words = verdict(rows);
  EXPECT_TRUE(
      words.starts_with("This rehearsal cannot be trusted, so that no policy is recommended: under slurm, which is "
                        "what the site has now, jobs wait 5 min on average where 1 min 40 s was recorded, "
                        "correlation 0.95. Something that mattered is missing in the log, the cluster file or the "
                        "settings of slurm."))
      << words;
  const std::string trust = trust_text(rows);
  do {
    EXPECT_TRUE(choose(rows).chosen.empty());
    EXPECT_EQ(verdict(rows), words);
    EXPECT_FALSE(words.contains("Choose") || words.contains("takes")) << words;
    EXPECT_TRUE(trust_text(rows).contains("slurm rehearses what the site has now, and does not meet")) << trust;
  } while (std::ranges::next_permutation(rows, {}, &Summary::policy).found);
}

// Every way in which the row of the site can meet what happened or not.
TEST(Verdict, RecommendsJustWhereTheRowOfTheSiteCanBeTrusted) {
  Random random(14);
  int trusted = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Summary> rows = not_to_be_trusted();
    Trust& trust = *rows[1].trust;
    trust.mean = static_cast<double>(random.between(50, 150));
    trust.correlation = static_cast<double>(random.between(5, 10)) / 10;
    if (random.between(0, 2) == 0) {  // the site's own stands there twice, under another name
      rows.push_back(rows[1]);
      rows.back().policy = random.between(0, 1) == 0 ? "another" : "z";
      rows.back().trust->mean = static_cast<double>(random.between(50, 150));
    }
    const bool distrusted = cannot_be_trusted(rows);
    std::ranges::sort(rows, {}, &Summary::policy);
    const std::string words = verdict(rows);
    do {
      ASSERT_EQ(cannot_be_trusted(rows), distrusted);
      ASSERT_EQ(verdict(rows), words) << "in another order";
      ASSERT_EQ(trust_text(rows).contains("does not meet what really happened"), distrusted);
    } while (std::ranges::next_permutation(rows, {}, &Summary::policy).found);
    EXPECT_EQ(words.contains("Choose"), !distrusted) << words;
    EXPECT_EQ(words.contains("cannot be trusted"), distrusted) << words;
    trusted += distrusted ? 0 : 1;
  }
  EXPECT_GT(trusted, 20);
  EXPECT_LT(trusted, 250);
}

TEST(Verdict, ListsWhatIsKnownToBeMissing) {
  std::vector<Summary> rows = not_to_be_trusted();
  for (Summary& row : rows) row.left_out = {"reservations", "features of nodes: gpu"};
  EXPECT_TRUE(said(rows).ends_with("Left out or assumed when the log was made: reservations; features of nodes: gpu."))
      << said(rows);
  for (Summary& row : rows) row.left_out.resize(20, "more");
  EXPECT_TRUE(said(rows).ends_with("; more; and 8 more.")) << said(rows);
}

TEST(Verdict, SaysWhatSlurmCannotBeSetTo) {
  std::vector<Summary> rows{summary("slurm+bf-interval=60s", 120, 200), summary("slurm", 110, 200),
                            summary("easy", 60, 90)};
  EXPECT_FALSE(said(rows).contains("cannot be set")) << "the log is of no Slurm";
  for (Summary& row : rows) row.of_slurm = true;
  rows[0].slurm_can = rows[1].slurm_can = true;
  EXPECT_TRUE(
      said(rows).contains("Slurm cannot be set to easy: it takes Rota to run it. Of what it can be set to, jobs "
                          "wait least under slurm here (1 min 50 s)."))
      << said(rows);
  rows[1].wait_mean = 40;
  rows[1].wait_p95 = 40;
  rows[1].wait_max = 80;
  EXPECT_FALSE(said(rows).contains("cannot be set to")) << said(rows);
  rows.erase(rows.begin(), rows.begin() + 2);
  rows.push_back(summary("fcfs", 100, 200));
  EXPECT_TRUE(said(rows).contains("Slurm cannot be set to easy: it takes Rota to run it. ")) << said(rows);
}

}  // namespace
}  // namespace rota::report
