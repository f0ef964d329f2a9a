// Rows as the sacct of real sites prints them, where they are easily taken for something else. Those of
// AsSlurmPrinted are of Slurm 22.05.8.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "log/sacct.h"
#include "log/sacct_cell.h"

namespace rota::log {
namespace {

const std::string kNames =
    "JobIDRaw|JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|"
    "ReqTRES|AllocTRES|NodeList|SubmitLine\n";

SacctLog read(const std::string& text, const SwfOptions& options = {}) {
  auto log = read_sacct_log(LineBlocks::over(text, "sacct.txt"), options);
  EXPECT_TRUE(log) << log.error().message;
  if (!log) return {};
  EXPECT_EQ(log->report.rows, log->report.kept + log->report.dropped()) << "each row is told";
  return std::move(*log);
}

std::int64_t found(const SacctLog& log, std::string_view what) {
  for (const auto& finding : log.report.findings)
    if (finding.what.starts_with(what)) return finding.rows;
  return 0;
}

JobAttributes asked(const SacctLog& log, std::int64_t job) {
  return log.attributes ? log.attributes->attributes_of(job) : JobAttributes{};
}

// A job that ran for a second: processors, nodes, ReqMem, ReqTRES, AllocTRES, SubmitLine.
struct Ran {
  int id = 1, processors = 1, nodes = 1;
  std::string memory = "100M", requested = "", allocated = "", line = "";
  std::string text() const {
    const std::string size = std::to_string(processors), on = std::to_string(nodes);
    const std::string number = std::to_string(id);
    return fmt::format(
        "{}|{}|root|gpu|2026-11-27T15:52:41|2026-11-27T15:52:41|2026-11-27T15:52:42|2026-11-27T15:52:43|1|COMPLETED|{}|"
        "{}|{}|{}|{}|{}|{}|{}|{}\n",
        number, number, size, size, on, on, memory, requested, allocated, nodes == 1 ? "g1" : "g[1-2]", line);
  }
};

constexpr const char* kAllMemory = "given all the memory of their nodes (--mem=0)";
constexpr const char* kBySubmitLine = "accelerators or licences of which sacct tells nothing: as SubmitLine has them";

TEST(SacctOfSites, TellsMemoryThatGoesByGpusApartFromAllThatThereIs) {
  const std::string gpus = "billing=1,cpu=1,gres/gpu=2,mem=100M,node=1";
  const SacctLog log =
      read(kNames +
           Ran{.id = 1, .requested = gpus, .allocated = "cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=1400M,node=1"}.text() +
           Ran{.id = 2,
               .processors = 2,
               .nodes = 2,
               .memory = "200M",
               .requested = "cpu=2,gres/gpu=4,mem=200M,node=2",
               .allocated = "cpu=2,gres/gpu=4,mem=2800M,node=2"}
               .text() +
           Ran{.id = 3,
               .memory = "4000M",
               .requested = "cpu=1,gres/gpu=2,mem=4000M,node=1",
               .allocated = "cpu=1,gres/gpu=2,mem=4000M,node=1",
               .line = "sbatch -pgpu -n1 --gres=gpu:2 --mem=0 --wrap sleep 1"}
               .text());
  EXPECT_EQ(log.rows[0].node_memory >> 20U, 1400) << "DefMemPerGPU, of which ReqMem knows nothing";
  EXPECT_EQ(log.rows[1].node_memory >> 20U, 1400);
  EXPECT_EQ(log.rows[2].node_memory >> 20U, 4000);
  EXPECT_EQ(found(log, kAllMemory), 1) << "the last alone has asked for it";
}

TEST(SacctOfSites, TakesMemoryAsGivenWhereGpusAreNotAccounted) {
  const std::string job = kNames + Ran{.allocated = "billing=1,cpu=1,mem=1400M,node=1"}.text();
  const SacctLog hidden = read(job, {.gpus_unaccounted = true});
  EXPECT_EQ(hidden.rows[0].node_memory >> 20U, 1400);
  EXPECT_EQ(found(hidden, kAllMemory), 0);
  EXPECT_EQ(found(read(job), kAllMemory), 1) << "a job without GPUs that has more than goes by processors and nodes";
}

TEST(SacctOfSites, TakesGpusAndLicencesThatAreNotAccountedFromSubmitLine) {
  const std::string plain = "billing=1,cpu=1,mem=100M,node=1";
  std::string rows;
  int id = 0;
  for (const char* options : {"--gres=gpu:1", "--gres=gpu:a100:2", "-G2", "-N2 --gpus=4", "-N2 --gpus-per-node a100:2",
                              "-n2 --gpus-per-task=1", "-Lmatlab:1,fluent:3", "-n1"}) {
    const bool two = std::string_view(options).starts_with("-N2");
    rows += Ran{.id = ++id,
                .processors = two ? 2 : 1,
                .nodes = two ? 2 : 1,
                .requested = plain,
                .allocated = plain,
                .line = fmt::format("sbatch {} --wrap x", options)}
                .text();
  }
  const SacctLog log = read(kNames + rows);
  for (const auto& [job, gpus] : {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 2}, {7, 0}, {8, 0}})
    EXPECT_EQ(asked(log, job).accelerators, gpus) << job;
  EXPECT_EQ(asked(log, 2).accelerator_type, "a100");
  EXPECT_EQ(asked(log, 5).accelerator_type, "a100");
  EXPECT_EQ(asked(log, 1).accelerator_type, "");
  EXPECT_EQ(asked(log, 7).licences, (std::vector<NamedLicences>{{"matlab", 1}, {"fluent", 3}}));
  EXPECT_EQ(found(log, kBySubmitLine), 7);
}

TEST(SacctOfSites, TakesNothingFromSubmitLineThatIsAccounted) {
  const std::string told = "cpu=1,gres/gpu=1,license/matlab=1,mem=100M,node=1";
  const SacctLog log =
      read(kNames + Ran{.requested = told, .allocated = told, .line = "sbatch -G4 -Lmatlab:3 x"}.text());
  EXPECT_EQ(asked(log, 1).accelerators, 1);
  EXPECT_EQ(asked(log, 1).licences, (std::vector<NamedLicences>{{"matlab", 1}}));
  EXPECT_EQ(found(log, kBySubmitLine), 0);
}

TEST(SacctOfSites, TakesConstraintsAndNodesByName) {
  std::string rows;
  int id = 0;
  for (const char* options :
       {"-C ib", "--constraint=ib&avx512 -w g1", "-C[ib|avx512]", "-N2 -w g1", "-N2 -w g[1-2]", "-x g2", "-n1"}) {
    const bool two = std::string_view(options).starts_with("-N2");
    rows += Ran{.id = ++id, .nodes = two ? 2 : 1, .line = fmt::format("sbatch {} --wrap x", options)}.text();
  }
  const SacctLog log = read(kNames + rows);
  EXPECT_EQ(asked(log, 1).wish, (NodeWishTexts{.features = "ib", .among = "", .without = ""}));
  EXPECT_EQ(asked(log, 2).wish, (NodeWishTexts{.features = "ib&avx512", .among = "g1", .without = ""}));
  EXPECT_TRUE(asked(log, 3).wish.empty());
  EXPECT_TRUE(asked(log, 4).wish.empty());
  EXPECT_EQ(asked(log, 5).wish.among, "g[1-2]");
  EXPECT_EQ(asked(log, 6).wish.without, "g2");
  EXPECT_TRUE(asked(log, 7).wish.empty());
  EXPECT_EQ(found(log, "constraints with counts or brackets"), 1);
  EXPECT_EQ(found(log, "asked by SubmitLine for nodes by name"), 1);
  std::string names = kNames, told = Ran{.line = "sbatch -C old x"}.text();
  names.insert(names.size() - 1, "|Constraints");
  told.insert(told.size() - 1, "|new");
  EXPECT_EQ(asked(read(names + told), 1).wish.features, "new") << "what the script said, too";
}

TEST(SacctOfSites, TakesOneFeatureOrAnotherFromColumnsThatBarsPart) {
  std::string names = kNames;
  names.insert(names.find("|SubmitLine"), "|Constraints");
  const auto row = [](const std::string& constraints, const std::string& line) {
    std::string told = Ran{.line = line}.text();
    return told.insert(told.find("|" + line), "|" + constraints);
  };
  EXPECT_EQ(asked(read(names + row("ib|avx", "sbatch '-Cib|avx' x")), 1).wish.features, "ib|avx");
  EXPECT_EQ(asked(read(names + row("ib|avx|big", "sbatch")), 1).wish.features, "ib|avx|big");
  EXPECT_EQ(asked(read(names + row("ib", "sbatch -Cib --wrap 'a|b'")), 1).wish.features, "ib");
  EXPECT_EQ(asked(read(names + row("", "sbatch --wrap a|b")), 1).wish.features, "");
  std::string table = names + row("ib|avx", "sbatch x");
  for (const char* last : {"|SubmitLine", "|sbatch x"}) table.erase(table.find(last), std::string_view(last).size());
  EXPECT_EQ(asked(read(table), 1).wish.features, "ib|avx") << "nothing is behind it";
}

TEST(SacctOfSites, DropsWhatSlurmRefused) {
  const std::string refused =
      "13|13|root|main|2026-11-27T15:52:41|2026-11-27T15:52:41|2026-11-27T15:52:41|2026-11-27T15:52:41|0|FAILED|1|1|1|"
      "1|"
      "900000M|billing=1,cpu=1,mem=900000M,node=1||None assigned|sbatch --wrap sleep 1\n";
  const std::string short_lived =
      "14|14|root|main|2026-11-27T15:52:41|2026-11-27T15:52:41|2026-11-27T15:52:41|2026-11-27T15:52:41|0|FAILED|1|1|1|"
      "1|"
      "100M|cpu=1,mem=100M,node=1|cpu=1,mem=100M,node=1|n1|sbatch --wrap false\n";
  const SacctLog log = read(kNames + refused + short_lived);
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0][SwfField::number], 14) << "it had a node";
  EXPECT_EQ(found(log, "refused by Slurm"), 1);
}

TEST(SacctOfSites, TellsTasksThatWaitedForTheirArrayApartFromHeldJobs) {
  const auto task = [](const std::string& id, const std::string& shown, const std::string& eligible,
                       const std::string& start, const std::string& end) {
    const std::string day = "2026-11-27T15:56:";
    return fmt::format(
        "{}|{}|root|main|{}15|{}{}|{}{}|{}{}|1|COMPLETED|1|1|1|1|100M|cpu=1,mem=100M,node=1|cpu=1,mem=100M,node=1|n1|"
        "\n",
        id, shown, day, day, eligible, day, start, day, end);
  };
  const SacctLog log = read(kNames + task("20", "17_1", "15", "16", "17") + task("21", "17_2", "15", "17", "18") +
                            task("22", "17_3", "17", "17", "18") + task("17", "17_9", "22", "22", "23") +
                            task("30", "30", "20", "21", "22") + task("41", "40_1", "30", "31", "32") +
                            task("40", "40_2", "30", "32", "33"));
  EXPECT_EQ(found(log, "eligible after others of their array had started (its throttle"), 2);
  EXPECT_EQ(found(log, "eligible later than submitted (held, begin time, "), 3) << "a job, and an array as a whole";
}

TEST(SacctOfSites, ReadsTheFlagInSlurmsOwnNumbersOfMegabytes) {
  for (const char* cell : {"2147487648", "2147487648M", "9223372036854779808", "9223372036854779808M"}) {
    const auto memory = parse_sacct_memory(cell);
    ASSERT_TRUE(memory) << cell;
    EXPECT_EQ(memory->bytes, std::int64_t{4000} << 20U) << cell;
    EXPECT_EQ(memory->per, SacctMemory::Per::processor) << cell;
  }
  const auto large = parse_sacct_memory("2621440000M");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->per, SacctMemory::Per::job) << "2.5 PB of a job on ten thousand nodes";
  EXPECT_EQ(large->bytes, std::int64_t{2'621'440'000} << 20U);
  const auto lost = parse_sacct_memory("2.00P");
  ASSERT_TRUE(lost);
  EXPECT_TRUE(lost->impossible) << "the flag, and what stands behind it is rounded off";
  const SacctLog log = read(kNames + Ran{.processors = 4, .memory = "2147487648"}.text());
  EXPECT_EQ(log.rows[0].node_memory, std::int64_t{16'000} << 20U);
}

TEST(SacctOfSites, TakesTheBeginningOfTimeAsNoTime) {
  for (const char* cell : {"0", "1970-01-01T00:00:00", "1970-01-01T01:00:00+01:00"}) {
    const auto time = parse_sacct_time(cell);
    ASSERT_TRUE(time) << cell;
    EXPECT_FALSE(*time) << cell;
  }
}

TEST(SacctOfSites, ReadsTimesWithAnOffset) {
  for (const auto& [cell, seconds] : {std::pair{"2024-03-01T10:00:00+01:00", 1'709'283'600LL},
                                      {"2024-03-01T10:00:00+0100", 1'709'283'600LL},
                                      {"2024-03-01T05:30:00-03:30", 1'709'283'600LL},
                                      {"2024-03-01T09:00:00Z", 1'709'283'600LL}}) {
    const auto time = parse_sacct_time(cell);
    ASSERT_TRUE(time && *time) << cell;
    EXPECT_EQ(**time, seconds) << cell;
    EXPECT_FALSE(is_local_time(cell)) << cell;
  }
  for (const char* cell : {"2024-03-01T10:00:00+1", "2024-03-01T10:00:00+01:60", "2024-03-01T10:00:00+16:00",
                           "2024-03-01T10:00:00CET", "2024-13-01T10:00:00Z", "2024-03-01T10:00:00+01:00Z"})
    EXPECT_FALSE(parse_sacct_time(cell)) << cell;
}

}  // namespace
}  // namespace rota::log
