#include "cli/live/directives.h"

#include <fmt/core.h>
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

TEST(DirectivesTest, NameTheSystemWhoseLinesThereAre) {
  EXPECT_EQ(text_under(read("#!/bin/sh\n#SBATCH -n 4\n"), "variables"), "slurm");
  EXPECT_EQ(text_under(read("#!/bin/sh\n#ROTA -n 4\n#PBS -N x\n"), "variables"), "pbs");
  EXPECT_EQ(text_under(read("#!/bin/sh\ntrue\n#SBATCH -n 4\n"), "variables"), "(none)");
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
  const Directives found = read("#SBATCH --wckey ada -n 2 --get-user-env -v --qos=high -A physics\n");
  EXPECT_EQ(text_under(found, "processors"), "2");
  EXPECT_EQ(text_under(found, "qos"), "high");
  EXPECT_EQ(text_under(found, "account"), "physics");
  ASSERT_EQ(found.remarks.size(), 3U);
  EXPECT_EQ(found.remarks[0],
            "line 1 of job.sh: Rota has nothing like \"--wckey ada\" of #SBATCH and goes on without it.");
  EXPECT_EQ(found.remarks[1],
            "line 1 of job.sh: Rota has nothing like \"--get-user-env\" of #SBATCH (a job has the environment in which "
            "it was "
            "submitted) and goes on without it.");
}

TEST(DirectivesTest, WhatSaysWhereTheJobMayRunIsNotLeftOutInSilence) {
  const Directives found = read("#SBATCH -Fn7 --wckey=ada -C avx512 -x n3\n#SBATCH --tmp=1G\n");
  ASSERT_EQ(found.needed.size(), 2U);
  EXPECT_EQ(found.needed[0],
            "line 1 of job.sh: Rota has nothing like \"-Fn7\" of #SBATCH: -w names the nodes themselves.");
  EXPECT_EQ(text_under(found, "features"), "avx512");
  EXPECT_EQ(text_under(found, "excluded_nodes"), "n3");
  EXPECT_TRUE(found.needed[1].starts_with("line 2 of job.sh: Rota has nothing like \"--tmp=1G\" of #SBATCH: "));
  ASSERT_EQ(found.remarks.size(), 1U);
  EXPECT_EQ(read("#PBS -l nodes=n1+n2:ppn=2\n").needed,
            std::vector<std::string>{"line 1 of job.sh: Rota has nothing like \"-l nodes=n1+n2:ppn=2\" of #PBS."});
  const Directives torque = read("#PBS -l nodes=n1:ppn=2:fast:ib\n");
  EXPECT_TRUE(torque.needed.empty());
  EXPECT_EQ(text_under(torque, "required_nodes"), "n1");
  EXPECT_EQ(text_under(torque, "features"), "fast&ib");
}

TEST(DirectivesTest, WhatSbatchDoesNotKnowIsRefusedWithTheNearest) {
  const auto needed = [](const std::string& line) { return read(fmt::format("#SBATCH {}\n", line)).needed.at(0); };
  EXPECT_EQ(needed("--cpu-per-task=4"),
            "line 1 of job.sh: \"--cpu-per-task=4\" is no option of sbatch; did you mean --cpus-per-task?");
  EXPECT_EQ(needed("--ntasks_per_node=4"),
            "line 1 of job.sh: \"--ntasks_per_node=4\" is no option of sbatch; did you mean --ntasks-per-node?");
  EXPECT_EQ(needed("stray"), "line 1 of job.sh: \"stray\" is no option of sbatch.");
  EXPECT_EQ(needed("--kill-wait=9"),
            "line 1 of job.sh: \"--kill-wait=9\" is no option of sbatch; write #ROTA in place of #SBATCH for it.");
}

TEST(DirectivesTest, ABeginningOfAnOptionOfSbatchIsIt) {
  const Directives found = read("#SBATCH --job=x --out=x.txt --depend=afterok:1 --nice --exclusive=user\n");
  EXPECT_EQ(text_under(found, "name"), "x");
  EXPECT_EQ(text_under(found, "output"), "x.txt");
  EXPECT_EQ(text_under(found, "after"), "afterok:1");
  EXPECT_EQ(text_under(found, "nice"), "100");
  EXPECT_EQ(text_under(found, "exclusive"), "yes");
  EXPECT_TRUE(found.remarks.empty());
  const Directives guessed = read("#SBATCH --ntask=2\n#SBATCH --cpus-per=3\n");
  EXPECT_EQ(text_under(guessed, "processors"), "2");
  EXPECT_EQ(text_under(guessed, "each"), "3");
  EXPECT_EQ(guessed.remarks.size(), 2U);
  EXPECT_EQ(read_directives("#SBATCH --mem-=3\n", "job.sh").error().message,
            "line 1 of job.sh: --mem- may be --mem-bind, --mem-per-cpu or --mem-per-gpu; write one of them out.");
}

TEST(DirectivesTest, OfSeveralSystemsTheLinesOfOneCount) {
  const Directives found = read("#PBS -l nodes=2:ppn=8\n#SBATCH -n 4\n#PBS -N other\n");
  EXPECT_EQ(text_under(found, "processors"), "4");
  EXPECT_EQ(text_under(found, "nodes"), "(none)");
  EXPECT_EQ(found.remarks,
            std::vector<std::string>{"line 1 of job.sh: #PBS lines are not read beside those of #SBATCH."});
}

TEST(DirectivesTest, LinesOfLsfArePutIntoRotasOwn) {
  const Directives found = read(
      "#BSUB -J \"fit[1-10]%2\" -q long -n 8\n#BSUB -W 1:30 -R \"span[hosts=1] rusage[mem=4GB]\"\n"
      "#BSUB -o out.%J.%I -w \"done(12) && ended(13)\" -gpu num=2 -x -P project -B\n#BSUB -N\n");
  for (const auto& [key, text] : std::map<std::string, std::string>{{"name", "fit"},
                                                                    {"array", "1-10%2"},
                                                                    {"partition", "long"},
                                                                    {"processors", "8"},
                                                                    {"nodes", "1"},
                                                                    {"memory", "4GB"},
                                                                    {"limit", "5400"},
                                                                    {"output", "out.%A.%a"},
                                                                    {"open_mode", "append"},
                                                                    {"after", "afterok:12,afterany:13"},
                                                                    {"accelerators", "2"},
                                                                    {"mail", "BEGIN,END"},
                                                                    {"account", "project"},
                                                                    {"exclusive", "yes"}})
    EXPECT_EQ(text_under(found, key), text) << key;
  EXPECT_TRUE(found.needed.empty());
  EXPECT_TRUE(found.remarks.empty());
  for (const char* line : {"#BSUB -m host1", "#BSUB -M 4000", "#BSUB -R \"select[mem>4000]\"", "#BSUB -n 2,4",
                           "#BSUB -Is", "#BSUB -w \"done(fit)\"", "#BSUB stray"})
    EXPECT_EQ(read(line).needed.size(), 1U) << line;
  EXPECT_FALSE(read_directives("#BSUB -W 1:2:3", "job.sh"));
}

TEST(DirectivesTest, LinesOfGridEngineArePutIntoRotasOwn) {
  const Directives found = read(
      "#$ -N fit -cwd -V -j y\n#$ -pe smp 4 -l h_rt=1:00:00,h_vmem=2G\n#$ -t 1-10 -tc 3\n#$ -o log.$JOB_ID.$TASK_ID\n"
      "#$ -hold_jid 12,13 -q long.q -m be -P project\n");
  for (const auto& [key, text] : std::map<std::string, std::string>{{"name", "fit"},
                                                                    {"processors", "4"},
                                                                    {"nodes", "1"},
                                                                    {"limit", "1:00:00"},
                                                                    {"memory_each", "2G"},
                                                                    {"array", "1-10"},
                                                                    {"throttle", "3"},
                                                                    {"output", "log.%A.%a"},
                                                                    {"after", "afterany:12,afterany:13"},
                                                                    {"partition", "long.q"},
                                                                    {"mail", "BEGIN,END"}})
    EXPECT_EQ(text_under(found, key), text) << key;
  EXPECT_TRUE(found.needed.empty());
  EXPECT_EQ(found.remarks.size(), 1U);
  for (const char* line :
       {"#$ -pe mpi 4-8", "#$ -l hostname=n1", "#$ -hold_jid fit", "#$ -q all.q@n1", "#$ -soft x", "#$ -N x stray"})
    EXPECT_EQ(read(line).needed.size(), 1U) << line;
}

TEST(DirectivesTest, LinesOfPbsArePutIntoRotasOwn) {
  const Directives found = read(
      "#PBS -N fit -q long@server\n#PBS -l nodes=2:ppn=8:gpus=1,walltime=01:30:00\n#PBS -l mem=8gb\n#PBS -j oe -o "
      "host:/tmp/100%.${PBS_JOBID} -e other\n#PBS -J 1-10:2 -r y -m ae -v A=1,B -W "
      "depend=afterok:12.server,afterany:13[]\n"
      "#PBS -A project -k oe\n");
  for (const auto& [key, text] : std::map<std::string, std::string>{{"name", "fit"},
                                                                    {"partition", "long"},
                                                                    {"nodes", "2"},
                                                                    {"processors", "16"},
                                                                    {"accelerators", "1"},
                                                                    {"limit", "01:30:00"},
                                                                    {"memory_all", "8589934592"},
                                                                    {"output", "/tmp/100%%.%j"},
                                                                    {"error", "(none)"},
                                                                    {"array", "1-10:2"},
                                                                    {"requeue", "yes"},
                                                                    {"mail", "FAIL,END"},
                                                                    {"export", "ALL,A=1,B"},
                                                                    {"after", "afterok:12,afterany:13"},
                                                                    {"account", "project"},
                                                                    {"variables", "pbs"}})
    EXPECT_EQ(text_under(found, key), text) << key;
  EXPECT_TRUE(found.needed.empty());
  ASSERT_EQ(found.remarks.size(), 1U);
  EXPECT_EQ(found.remarks[0], "line 6 of job.sh: Rota has nothing like \"-k oe\" of #PBS and goes on without it.");
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
  for (const char* line : {"#PBS -l mem=much", "#PBS -l ngpus=some", "#PBS -l nodes=1:ppn=0", "#PBS -N", "#PBS -a 99"})
    EXPECT_FALSE(read_directives(line, "job.sh")) << line;
}

TEST(DirectivesTest, AreFoundHoweverLongTheScriptIs) {
  const std::string comment = fmt::format("#{}\n", std::string(70'000, 'x'));
  EXPECT_EQ(text_under(read(fmt::format("#!/bin/sh\n{}#SBATCH --mem=400G\n", comment)), "memory"), "400G");
  EXPECT_TRUE(read("").values.empty());
}

TEST(DirectivesTest, OutputAndErrorsGoIntoTheFileThatIsNamed) {
  const Directives found = read("#PBS -j eo\n#PBS -e err.log\n");
  EXPECT_EQ(text_under(found, "output"), "err.log");
  EXPECT_EQ(text_under(found, "error"), "(none)");
  EXPECT_EQ(text_under(read("#PBS -j oe -o out.log -e err.log\n"), "output"), "out.log");
}

TEST(DirectivesTest, ACommentIsNoLineOfGridEngine) {
  EXPECT_TRUE(read("#!/bin/sh\n#$ echo hello\n").needed.empty());
  EXPECT_EQ(text_under(read("#!/bin/sh\n#$ -N x\n"), "name"), "x");
}

TEST(DirectivesTest, ALongerVariableIsNoPattern) {
  EXPECT_EQ(text_under(read("#$ -o $USERDATA/x\n"), "output"), "$USERDATA/x");
  EXPECT_EQ(text_under(read("#$ -o $USER/x\n"), "output"), "%u/x");
}

TEST(DirectivesTest, ABackslashWithinDoubleQuotesStaysButBeforeASign) {
  EXPECT_EQ(text_under(read(R"(#ROTA --comment "a\b\"c")"
                            "\n"),
                       "comment"),
            R"(a\b"c)");
}

TEST(DirectivesTest, WhatIsStrongerDecidesAllThatSaysTheSame) {
  const Directives found = read("#ROTA --mem-per-cpu 8G\n#SBATCH --mem=4G\n#SBATCH -n 2\n");
  EXPECT_EQ(text_under(found, "memory"), "(none)");
  EXPECT_EQ(text_under(found, "memory_each"), "8G");
  EXPECT_EQ(text_under(found, "processors"), "2");
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

// The values under some keys, as "key=text key=text".
std::string values_of(std::string_view script, std::initializer_list<std::string_view> keys) {
  const Directives found = read(script);
  EXPECT_TRUE(found.needed.empty()) << script;
  std::string out;
  for (const std::string_view key : keys)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, text_under(found, key));
  return out;
}

TEST(DirectivesTest, OfPbsAlsoTheRarerForms) {
  EXPECT_EQ(values_of("#PBS -l select=ncpus=4:mem=2kb -l walltime=01:02:00:00\n", {"nodes", "processors", "limit"}),
            "nodes=1 processors=4 limit=01-02:00:00");
  EXPECT_EQ(values_of("#PBS -l select=2:ncpus=4 -l place=pack\n", {"packed", "nodes"}), "packed=yes nodes=2");
  EXPECT_EQ(values_of("#PBS -l nodes=1:ppn=2:gpus=1:exclusive_process -W group_list=ada\n", {"accelerators"}),
            "accelerators=1");
}

TEST(DirectivesTest, OfLsfAlsoTheRarerForms) {
  EXPECT_EQ(values_of("#BSUB -n 8 -R \"span[ptile=4] select[type==any]\" -gpu -\n", {"per_node", "accelerators"}),
            "per_node=4 accelerators=1");
  EXPECT_EQ(values_of("#BSUB -R \"select[mem>4000] rusage[mem=4000,ngpus_physical=2]\"\n", {"memory", "accelerators"}),
            "memory=4000M accelerators=2");
  EXPECT_EQ(
      values_of("#BSUB -w \"done(1) || ended(2)\" -env \"all,A=1\" -b 2027:1:2:3:4\n", {"after", "export", "begin"}),
      "after=afterok:1?afterany:2 export=all,A=1 begin=2027-01-02T03:04");
  EXPECT_FALSE(read("#BSUB -gpu num=2/task\n").needed.empty());
  EXPECT_FALSE(read("#BSUB -w \"done(1) || done(2) && done(3)\"\n").needed.empty());
}

TEST(DirectivesTest, OfGridEngineWhichEnvironmentsAreOfOneNode) {
  for (const char* one : {"shared", "sharedmem", "mpi_smp", "omp", "threaded"})
    EXPECT_EQ(text_under(read(fmt::format("#$ -pe {} 4\n", one)), "nodes"), "1") << one;
  for (const char* several : {"mpi", "openmpi", "orte", "compute"})
    EXPECT_EQ(text_under(read(fmt::format("#$ -pe {} 4\n", several)), "nodes"), "(none)") << several;
  EXPECT_EQ(values_of("#$ -hard -l excl -j true\n", {"exclusive"}), "exclusive=yes");
}

}  // namespace
}  // namespace rota::cli
