#include "cli/live/directives.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(DirectivesTest, TellWhoseLinesThereAre) {
  EXPECT_EQ(text_under(read("#!/bin/sh\n#SBATCH -n 4\n"), "sbatch"), "yes");
  EXPECT_EQ(text_under(read("#!/bin/sh\n#ROTA -n 4\n#PBS -N x\n"), "sbatch"), "(none)");
  EXPECT_EQ(text_under(read("#!/bin/sh\ntrue\n#SBATCH -n 4\n"), "sbatch"), "(none)");
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
  const Directives found = read("#SBATCH --wckey ada -n 2 --qos=high stray\n");
  EXPECT_EQ(text_under(found, "processors"), "2");
  ASSERT_EQ(found.remarks.size(), 2U);
  EXPECT_EQ(found.remarks[0],
            "line 1 of job.sh: Rota has nothing like \"--wckey ada\" of #SBATCH and goes on without it.");
  EXPECT_NE(found.remarks[1].find("\"--qos=high stray\""), std::string::npos);
}

TEST(DirectivesTest, WhatSaysWhereTheJobMayRunIsNotLeftOutInSilence) {
  const Directives found = read("#SBATCH -wn7 --qos=high\n#SBATCH --constraint=avx512\n#PBS -l nodes=n1:ppn=2\n");
  ASSERT_EQ(found.needed.size(), 3U);
  EXPECT_EQ(found.needed[0], "line 1 of job.sh: Rota has nothing like \"-wn7\" of #SBATCH.");
  EXPECT_EQ(found.needed[1], "line 2 of job.sh: Rota has nothing like \"--constraint=avx512\" of #SBATCH.");
  EXPECT_EQ(found.needed[2], "line 3 of job.sh: Rota has nothing like \"-l nodes=n1:ppn=2\" of #PBS.");
  ASSERT_EQ(found.remarks.size(), 1U);
}

TEST(DirectivesTest, LinesOfPbsArePutIntoRotasOwn) {
  const Directives found = read(
      "#PBS -N fit -q long@server\n#PBS -l nodes=2:ppn=8:gpus=1,walltime=01:30:00\n#PBS -l mem=8gb\n#PBS -j oe -o "
      "host:/tmp/fit.$PBS_JOBID -e other\n#PBS -J 1-10:2 -r y -m ae -v A=1,B -W depend=afterok:12,afterany:13\n"
      "#PBS -A project\n");
  for (const auto& [key, text] : std::map<std::string, std::string>{{"name", "fit"},
                                                                    {"partition", "long"},
                                                                    {"nodes", "2"},
                                                                    {"processors", "16"},
                                                                    {"accelerators", "1"},
                                                                    {"limit", "01:30:00"},
                                                                    {"memory_all", "8589934592"},
                                                                    {"output", "/tmp/fit.%j"},
                                                                    {"error", "(none)"},
                                                                    {"array", "1-10:2"},
                                                                    {"requeue", "yes"},
                                                                    {"mail", "FAIL,END"},
                                                                    {"export", "ALL,A=1,B"},
                                                                    {"after", "afterok:12,afterany:13"},
                                                                    {"pbs", "yes"}})
    EXPECT_EQ(text_under(found, key), text) << key;
  EXPECT_TRUE(found.needed.empty());
  ASSERT_EQ(found.remarks.size(), 1U);
  EXPECT_EQ(found.remarks[0], "line 6 of job.sh: Rota has nothing like \"-A project\" of #PBS and goes on without it.");
}

TEST(DirectivesTest, ASelectOfPbsIsAChunkTimesSoMany) {
  const Directives found = read("#PBS -l select=3:ncpus=4:mpiprocs=2:mem=500mb:ngpus=2 -l place=scatter:excl\n");
  for (const auto& [key, text] : std::map<std::string, std::string>{{"nodes", "3"},
                                                                    {"processors", "12"},
                                                                    {"tasks", "6"},
                                                                    {"memory", "524288000"},
                                                                    {"accelerators", "2"},
                                                                    {"exclusive", "yes"}})
    EXPECT_EQ(text_under(found, key), text) << key;
  for (const char* line :
       {"#PBS -l select=1:ncpus=4+2:ncpus=8", "#PBS -l select=1:ncpus=2:host=n1", "#PBS -l arch=arm", "#PBS -I"})
    EXPECT_EQ(read(line).needed.size(), 1U) << line;
  for (const char* line : {"#PBS -l mem=much", "#PBS -l nodes=1:ppn=0", "#PBS -N", "#PBS -a 99"})
    EXPECT_FALSE(read_directives(line, "job.sh")) << line;
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
