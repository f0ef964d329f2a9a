#include "cli/directives.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

std::string text_under(const Directives& directives, std::string_view key) {
  const auto found = directives.values.find(key);
  return found == directives.values.end() ? "(none)" : found->second.text;
}

Directives read(std::string_view script) { return read_directives(script, "job.sh").value(); }

TEST(DirectivesTest, TakeValuesInEveryWayThatACommandLineDoes) {
  const Directives found =
      read("#!/bin/sh\n#ROTA -n4 -c 2 --mem=4G --name 'two words' -H\n#ROTA --comment \"a 'b'\" # no\n");
  EXPECT_EQ(text_under(found, "processors"), "4");
  EXPECT_EQ(text_under(found, "each"), "2");
  EXPECT_EQ(text_under(found, "memory"), "4G");
  EXPECT_EQ(text_under(found, "name"), "two words");
  EXPECT_EQ(text_under(found, "hold"), "yes");
  EXPECT_EQ(text_under(found, "comment"), "a 'b'");
  EXPECT_TRUE(found.remarks.empty());
}

TEST(DirectivesTest, EndWithTheFirstCommandButNotWithCommentsAndBlankLines) {
  const Directives found = read("#!/bin/sh\n\n# text\n  # more\n#ROTA -n 4\n\n#ROTA -c 2\necho\n#ROTA -c 3\n");
  EXPECT_EQ(text_under(found, "each"), "2");
  ASSERT_EQ(found.remarks.size(), 1U);
  EXPECT_EQ(found.remarks[0], "line 9 of job.sh: \"#ROTA -c 3\" stands behind the first command and is not read.");
}

TEST(DirectivesTest, OfOneKindTheLastHoldsAndRotasGoBeforeSlurms) {
  const Directives found = read("#ROTA -n 1\n#ROTA -n 2\n#SBATCH -n 3\n#SBATCH -t 10\n#SBATCH -t 20\n");
  EXPECT_EQ(text_under(found, "processors"), "2");
  EXPECT_EQ(text_under(found, "limit"), "20");
  EXPECT_EQ(found.values.find("limit")->second.dialect, Dialect::slurm);
  EXPECT_EQ(found.values.find("limit")->second.where, "line 5 of job.sh: -t");
}

TEST(DirectivesTest, OnlyTheWordItselfBeginsOne) {
  const Directives found = read("#ROTATE -n 4\n# ROTA -n 4\n#SBATCHES\n##SBATCH -n 4\n #ROTA -n 4\n#ROTA\n");
  EXPECT_TRUE(found.values.empty());
  EXPECT_TRUE(found.remarks.empty());
}

TEST(DirectivesTest, WhatIsOnlySlurmsIsToldWithItsValue) {
  const Directives found = read("#SBATCH --mail-user ada@example.org -n 2 --qos=high stray\n");
  EXPECT_EQ(text_under(found, "processors"), "2");
  ASSERT_EQ(found.remarks.size(), 2U);
  EXPECT_EQ(
      found.remarks[0],
      "line 1 of job.sh: Rota has nothing like \"--mail-user ada@example.org\" of #SBATCH and goes on without it.");
  EXPECT_NE(found.remarks[1].find("\"--qos=high stray\""), std::string::npos);
}

TEST(DirectivesTest, AreLookedForInTheFirst32KiBOnly) {
  const std::string far = "#" + std::string(40'000, ' ') + "\n#ROTA -n 4\n";
  EXPECT_TRUE(read(far).values.empty());
  EXPECT_TRUE(read("").values.empty());
}

TEST(DirectivesTest, LinesOfDosAreReadAsOthers) {
  EXPECT_EQ(text_under(read("#!/bin/sh\r\n#ROTA -n 4 -J x\r\n"), "name"), "x");
}

TEST(DirectivesTest, RefuseWhatMakesNoSense) {
  for (const char* line : {"#ROTA --nope", "#ROTA stray", "#ROTA -n", "#ROTA -J \"a", "#ROTA --hold=1", "#ROTA -Z"}) {
    const auto found = read_directives(line, "job.sh");
    ASSERT_FALSE(found) << line;
    EXPECT_TRUE(found.error().message.starts_with("line 1 of job.sh: ")) << found.error().message;
  }
}

}  // namespace
}  // namespace rota::cli
