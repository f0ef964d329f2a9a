#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "cli/import/import_case_test.h"
#include "cli/import/import_live.h"
#include "cli/import/import_made.h"
#include "log/attribute_table.h"
#include "log/log.h"
#include "log/packed_output.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

TEST_F(ImportTest, MakesAFolderThatCanBeRead) {
  ASSERT_EQ(import(), "");
  const auto jobs = log::read_log(path("site/jobs.jsonl.gz"));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->jobs.size(), 1U);
  EXPECT_EQ(jobs->made_by, "rota import slurm");
  EXPECT_EQ(jobs->site_policy, "slurm");
  EXPECT_NE(read_file(path("site/report.txt")).value().find("1 row read = 1 job + 0 rows"), std::string::npos);
  EXPECT_EQ(left(), (std::vector<std::string>{"saved", "site"}));
}

TEST_F(ImportTest, LeavesAFolderAloneUnlessToldOtherwise) {
  ASSERT_EQ(import(), "");
  EXPECT_EQ(import(), path("site") + " is there already. Name another folder, or have it replaced with --overwrite.");
  put("saved/sacct.txt", kNames + row("1", "batch") + row("2", "batch"));
  EXPECT_EQ(import({"--overwrite"}), "");
  EXPECT_EQ(log::read_log(path("site/jobs.jsonl.gz"))->jobs.size(), 2U);
  put("site/thesis.tex", "years of work");
  EXPECT_EQ(import({"--overwrite"}),
            path("site") + " has \"thesis.tex\" in it, which is no part of an import; name another folder.");
  EXPECT_EQ(left(), (std::vector<std::string>{"saved", "site"}));
}

TEST_F(ImportTest, KeepsWhatWasSavedInTheFolderThatItReplaces) {
  fs::create_directory(path("site"));
  fs::rename(path("saved"), path("site/saved"));
  const auto from_inside = [&](std::vector<std::string> more) { return import(more, path("site/saved")); };
  EXPECT_NE(from_inside({}), "");
  ASSERT_EQ(from_inside({"--overwrite"}), "");
  EXPECT_TRUE(fs::exists(path("site/jobs.jsonl.gz")));
  EXPECT_EQ(read_file(path("site/saved/config.txt")).value(), kConfig);
  EXPECT_EQ(from_inside({"--overwrite", "--sacct", path("site/saved/sacct.txt")}), "");
  EXPECT_EQ(from_inside({"--overwrite", "--anonymous"}),
            path("site/saved") + " may have real names in it; with --anonymous name another folder.");
  EXPECT_TRUE(fs::exists(path("site/saved/sacct.txt")));
  EXPECT_EQ(left(), std::vector<std::string>{"site"});
}

TEST_F(ImportTest, ReplacesNothingThatNoImportMade) {
  fs::create_directory(path("site"));
  put("site/cluster.toml", "name = \"mine\"\n");
  EXPECT_EQ(import({"--overwrite"}),
            path("site/cluster.toml") + " was not made by an import, and is not replaced; name another folder.");
  EXPECT_EQ(read_file(path("site/cluster.toml")).value(), "name = \"mine\"\n");
}

TEST_F(ImportTest, ReplacesWithLiveOnlyWhatLiveSaved) {
  const auto check = [&] { return check_saved(path("site/saved"), true, false); };
  fs::create_directories(path("site/saved"));
  put("site/saved/sacct.txt", kNames);
  EXPECT_FALSE(check()) << "no import is beside it";
  put("site/report.json", "{}\n");
  EXPECT_TRUE(check());
  put("site/saved/sacct-2023.txt", kNames);
  EXPECT_FALSE(check());
}

TEST_F(ImportTest, LeavesNothingWhereItFails) {
  put("saved/nodes.txt", "nothing\n");
  EXPECT_NE(import(), "");
  EXPECT_EQ(left(), std::vector<std::string>{"saved"});
}

TEST_F(ImportTest, NamesThePartitionThatIsNearest) {
  put("saved/sacct.txt", kNames + row("1", "batch") + row("2", "bacth"));
  EXPECT_EQ(import(),
            path("saved/sacct.txt") +
                ":3: 1 job is of partition \"bacth\", which scontrol show partition does not describe; did you mean "
                "\"batch\"? Say which one the jobs of a partition that is there no more are taken as of: --partition "
                "OLD=NEW, once for each.");
  EXPECT_EQ(import({"--partition", "bacth=batch"}), "");
  EXPECT_EQ(log::read_log(path("site/jobs.jsonl.gz"))->jobs.size(), 2U);
}

TEST_F(ImportTest, RenamesPartitionsByTheNamesOfTheLog) {
  put("saved/partitions.txt",
      "PartitionName=a Nodes=n1 Default=YES\nPartitionName=b Nodes=n1\nPartitionName=c Nodes=n1\n");
  put("saved/sacct.txt", kNames + row("1", "a") + row("2", "b"));
  const auto partitions = [&] { return log::read_log(path("site/jobs.jsonl.gz"))->partitions; };
  using Names = std::map<std::uint32_t, std::string>;
  ASSERT_EQ(import({"--partition", "a=b", "--partition", "b=a"}), "");
  EXPECT_EQ(partitions(), (Names{{1, "b"}, {2, "a"}}));
  ASSERT_EQ(import({"--partition", "a=b", "--partition", "b=c", "--overwrite"}), "");
  EXPECT_EQ(partitions(), (Names{{1, "b"}, {2, "c"}}));
}

TEST_F(ImportTest, RefusesTheJobsOfAnotherCluster) {
  const auto of = [](const std::string& cluster) {
    return fmt::format("Cluster|{}{}|{}", kNames, cluster, row("1", "batch"));
  };
  put("saved/sacct.txt", of("tui"));
  EXPECT_EQ(
      import(),
      path("saved/sacct.txt") +
          " has jobs of cluster \"tui\", and none of cluster \"kea\", which is the one described: ask sacct for "
          "the jobs of that one, with --clusters=kea. To rehearse jobs of one cluster on another, leave the column "
          "Cluster out of the export.");
  put("saved/sacct.txt", of("kea"));
  put("saved/config.txt", "ClusterName = KEA\n" + kConfig);
  EXPECT_EQ(import(), "");
}

TEST_F(ImportTest, TakesTheJobsOfItsClusterFromAnExportOfSeveral) {
  put("saved/sacct.txt", fmt::format("Cluster|{}tui|{}kea|{}", kNames, row("1", "other"), row("2", "batch")));
  ASSERT_EQ(import(), "");
  const auto jobs = log::read_log(path("site/jobs.jsonl.gz"));
  ASSERT_EQ(jobs->jobs.size(), 1U);
  EXPECT_EQ(jobs->jobs[0].number, 2);
  EXPECT_NE(read_file(path("site/report.txt")).value().find("1  jobs of other clusters: dropped (sacct.txt:2)"),
            std::string::npos);
}

TEST_F(ImportTest, KeepsTheNodesOfMemoryByProcessorsWhereMemoryCounts) {
  put("saved/sacct.txt",
      "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES\n"
      "1|batch|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2|2|2|1|1Gc|cpu=2,mem=2G,node="
      "2\n");
  put("saved/partitions.txt", "PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60\n");
  const std::string nodes =
      "NodeName=n1 CPUTot=4 RealMemory=2048 Weight=1\nNodeName=n2 CPUTot=4 RealMemory=2048 Weight=1\n";
  put("saved/nodes.txt", nodes);
  for (const auto& [select, pinned] : {std::pair{"CR_CPU", 0U}, {"CR_CPU_MEMORY", 2U}}) {
    std::string config = kConfig;
    put("saved/config.txt", config.replace(config.find("CR_CPU"), 6, select));
    ASSERT_EQ(import({"--overwrite"}), "");
    EXPECT_EQ(log::read_log(path("site/jobs.jsonl.gz"))->jobs[0].nodes, pinned) << select;
  }
}

TEST_F(ImportTest, LeavesOutTheFewJobsThatLieFarBeforeTheWindow) {
  const auto job = [](int id, const std::string& day, const std::string& start, const std::string& end) {
    return fmt::format("{}|batch|2024-03-{}T{}|2024-03-{}T{}|2024-03-{}|10|COMPLETED|2\n", id, day, start, day, start,
                       end);
  };
  std::string rows = job(1, "01", "10:00:00", "10T00:30:00");
  for (int hour = 1; hour < 20; ++hour) {
    const std::string at = (hour < 10 ? "0" : "") + std::to_string(hour);
    rows += job(1 + hour, "10", at + ":00:00", fmt::format("10T{}:30:00", at));
  }
  put("saved/sacct.txt", kNames + rows);
  ASSERT_EQ(import(), "");
  const std::string text = read_file(path("site/report.txt")).value();
  EXPECT_NE(text.find("of all jobs from 2024-03-10T00:30:00Z on: 1 job submitted since 2024-03-01T10:00:00Z"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" --from 2024-03-10T00:30:00\n"), std::string::npos) << text;
  put("saved/sacct.txt", kNames + rows.substr(rows.find('\n') + 1));
  ASSERT_EQ(import({"--overwrite"}), "");
  EXPECT_EQ(read_file(path("site/report.txt")).value().find("--from"), std::string::npos) << "nothing lies before";
}

TEST_F(ImportTest, RefusesAWindowThatOnlyLiveAsksFor) {
  EXPECT_EQ(import({"--since", "2024-01-01"}), "--since requires --live");
  EXPECT_EQ(import({"--until", "2024-07-01"}), "--until requires --live");
}

TEST_F(ImportTest, CountsJobsThatTheClusterCanNeverRun) {
  put("saved/nodes.txt", "NodeName=n1 CPUTot=4 Weight=1\nNodeName=n2 CPUTot=2 Weight=1\n");
  put("saved/partitions.txt", "PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60\n");
  const auto job = [](const std::string& id, const std::string& minutes, const std::string& size) {
    return fmt::format("{}|batch|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|{}|COMPLETED|{}\n", id,
                       minutes, size);
  };
  put("saved/sacct.txt",
      fmt::format(
          "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|NNodes|ReqNodes\n{}{}{}{}",
          job("1", "60", "4|1|1"), job("2", "90", "4|1|1"), job("3", "60", "6|2|2"), job("4", "120", "1|1|1")));
  ASSERT_EQ(import(), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("\nJobs that this cluster can never run, and that a rehearsal rejects:\n"
                        "           2  a time limit beyond the max_time of their partition (job 2 asks for"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("           1  nodes as many, or processors on each in equal parts, as the cluster or their "
                        "partition lacks (job 3 asks for 6 processors on 2 nodes"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("4 rows read = 4 jobs + 0 rows"), std::string::npos) << report;
  EXPECT_NE(read_file(path("site/report.json")).value().find("\"never_run\": ["), std::string::npos);
}

TEST_F(ImportTest, TellsWhatItWasToldToDo) {
  put("saved/sacct.txt", kNames + row("1", "batch") + row("2", "kaka"));
  ASSERT_EQ(import({"--partition", "kaka=batch", "--keep-cancelled", "--time-zone", "Europe/Berlin"}), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("\nWhat the import was told to do:\n"
                        "  * jobs of partition \"kaka\" are taken as of \"batch\" (--partition)\n"
                        "  * local times are those of Europe/Berlin (--time-zone)\n"
                        "  * jobs that were cancelled before they started are kept (--keep-cancelled)\n"),
            std::string::npos)
      << report;
  ASSERT_EQ(import({"--partition", "kaka=batch", "--overwrite", "--anonymous"}), "");
  const std::string hidden = read_file(path("site/report.txt")).value();
  EXPECT_EQ(hidden.find("kaka"), std::string::npos) << hidden;
  EXPECT_NE(hidden.find("jobs of another partition are taken as of \"partition1\""), std::string::npos) << hidden;
}

TEST_F(ImportTest, KeepsWhatSlurmPrintedWhereTheRestFails) {
  const std::string said =
      kept_what_was_asked({path("saved") + "/sacct.txt:3: it is odd."}, path("saved"), path("site")).message;
  ASSERT_EQ(left().size(), 1U) << said;
  const std::string kept = path(left().front());
  EXPECT_TRUE(left().front().starts_with("site.saved-")) << said;
  EXPECT_EQ(said,
            fmt::format(
                "{}/sacct.txt:3: it is odd. What Slurm printed is kept in {}: go on with --from {} in place of --live.",
                kept, kept, kept));
  EXPECT_EQ(import({}, kept), "");
  EXPECT_EQ(kept_what_was_asked({"It is odd."}, kept, path("nowhere/site")).message,
            "It is odd. What Slurm printed could not be kept: No such file or directory.");
}

TEST_F(ImportTest, NamesAllPartitionsThatAreNoMore) {
  put("saved/sacct.txt", kNames + row("1", "batch") + row("2", "fermi") + row("3", "btach") + row("4", "fermi"));
  EXPECT_EQ(import(), path("saved/sacct.txt") +
                          ":3: 3 jobs are of partitions that scontrol show partition does not describe: \"fermi\" (2 "
                          "jobs), \"btach\" (1 job; did you mean \"batch\"?). Say which one the jobs of a partition "
                          "that is there no more are taken as of: --partition OLD=NEW, once for each.");
  EXPECT_EQ(import({"--partition", "fermi=batch", "--partition", "btach=batch"}), "");
}

TEST_F(ImportTest, TellsThatAllJobsAreOfOneUser) {
  const auto of = [](const std::string& id, const std::string& user) {
    return fmt::format("{}|{}|batch|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2\n", user,
                       id);
  };
  for (const auto& [second, told] : {std::pair{"anna", true}, {"bert", false}}) {
    put("saved/sacct.txt", fmt::format("User|{}{}{}", kNames, of("1", "anna"), of("2", second)));
    ASSERT_EQ(import({"--overwrite"}), "");
    EXPECT_EQ(whole_report().contains("all jobs are of one user"), told) << whole_report();
  }
}

TEST_F(ImportTest, TellsWhatSacctDoesNot) {
  ASSERT_EQ(import(), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("how many tasks of an array run at once"), std::string::npos) << report;
}

TEST_F(ImportTest, CountsWhatEndedAtOnce) {
  put("saved/sacct.txt", fmt::format("JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS\n{}2|batch|2024-"
                                     "03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:05|0|COMPLETED|2\n3|batch|"
                                     "2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:05|0|FAILED|2\n",
                                     row("1", "batch")));
  ASSERT_EQ(import(), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("  2  run time 0: jobs of 1 s with their own limit (sacct.txt:3)"), std::string::npos)
      << report;
  EXPECT_EQ(log::read_log(path("site/jobs.jsonl.gz"))->run_times[1], seconds(1));
}

TEST_F(ImportTest, TellsNoWaitOfAJobThatNeverStarted) {
  put("saved/sacct.txt", fmt::format("{}{}2|batch|2024-03-01T10:00:00|None|2024-03-01T20:00:00|0|CANCELLED|2\n", kNames,
                                     row("1", "batch")));
  ASSERT_EQ(import({"--keep-cancelled"}), "");
  const auto jobs = log::read_log(path("site/jobs.jsonl.gz"), {.keep_recorded = true});
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->recorded.size(), 2U);
  EXPECT_EQ(jobs->recorded[0].wait, seconds(5));
  EXPECT_FALSE(jobs->recorded[1].start_is_known());
}

TEST_F(ImportTest, LeavesOutAndTellsWhatTheClusterHasNoneOf) {
  put("saved/sacct.txt",
      "JobIDRaw|Partition|Submit|Start|End|State|AllocCPUS|ReqTRES\n"
      "1|batch|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|COMPLETED|2|cpu=2,license/foo=1,license/"
      "bar=2\n");
  ASSERT_EQ(import(), "");
  EXPECT_NE(read_file(path("site/report.txt")).value().find("licence \"foo\", licence \"bar\" (1 job)"),
            std::string::npos);
  const auto jobs = log::read_log(path("site/jobs.jsonl.gz"));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_TRUE(!jobs->attributes || jobs->attributes->licences().empty());
}

TEST_F(ImportTest, SaysWhatIsMissing) {
  fs::remove(path("saved/sacct.txt"));
  EXPECT_NE(import().find("has no file that begins with sacct"), std::string::npos);
  fs::remove(path("saved/nodes.txt"));
  EXPECT_NE(import().find("It is what `scontrol -a -o show node` prints."), std::string::npos) << import();
}

TEST_F(ImportTest, TellsThatTimesAreGuessed) {
  ASSERT_EQ(import(), "");
  EXPECT_NE(read_file(path("site/report.txt")).value().find("times are taken as UTC"), std::string::npos);
  ASSERT_EQ(import({"--overwrite", "--time-zone", "Europe/Berlin"}), "");
  EXPECT_EQ(read_file(path("site/report.txt")).value().find("times are taken as UTC"), std::string::npos);
  EXPECT_EQ(log::read_log(path("site/jobs.jsonl.gz"))->unix_start, 1709283600);
}

TEST_F(ImportTest, ComparesPoliciesThatEndJobsWhenTheSiteDoes) {
  put("saved/config.txt", kConfig + "OverTimeLimit = 1 min\n");
  ASSERT_EQ(import(), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("--policy recorded,slurm+overrun=1m,easy+overrun=1m,conservative+overrun=1m\n"),
            std::string::npos)
      << report;
  EXPECT_EQ(report.find("OverTimeLimit"), std::string::npos) << report;
}

TEST_F(ImportTest, PassesOverAByteOrderMarkInEachFile) {
  put("saved/nodes.txt", "NodeName=n1 CPUTot=4 Weight=1\nNodeName=n2 CPUTot=4 Weight=1\n");
  put("saved/partitions.txt", "PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60\n");
  put("saved/licences.txt", "LicenseName=matlab Total=3 Remote=no\n");
  ASSERT_EQ(import(), "");
  const std::string plain = read_file(path("site/cluster.toml")).value();
  for (const char* name : {"config.txt", "nodes.txt", "partitions.txt", "licences.txt", "sacct.txt"}) {
    const std::string file = std::string("saved/") + name;
    put(file, "\xEF\xBB\xBF" + read_file(path(file)).value());
  }
  ASSERT_EQ(import({"--overwrite"}), "");
  EXPECT_EQ(read_file(path("site/cluster.toml")).value(), plain);
}

TEST_F(ImportTest, ReadsWhatIsPacked) {
  ASSERT_EQ(import(), "");
  const std::string cluster = read_file(path("site/cluster.toml")).value();
  for (const auto& [name, packed] : {std::pair{"config.txt", "config.txt.zst"},
                                     {"nodes.txt", "nodes.txt.xz"},
                                     {"partitions.txt", "partitions.txt.gz"},
                                     {"sacct.txt", "sacct.txt.zst"}}) {
    const std::string file = path(std::string("saved/") + name);
    auto out = log::PackedOutput::create(path(std::string("saved/") + packed));
    ASSERT_TRUE(out);
    out->stream() << read_file(file).value();
    ASSERT_TRUE(out->commit());
    fs::remove(file);
  }
  ASSERT_EQ(import({"--overwrite"}), "");
  EXPECT_EQ(read_file(path("site/cluster.toml")).value(), cluster);
}

TEST_F(ImportTest, RefusesWhatAnEditorOnWindowsSavedInUtf16) {
  for (const auto& [file, prints] :
       {std::pair{"saved/nodes.txt", " It is what `scontrol -a -o show node` prints."}, {"saved/sacct.txt", ""}}) {
    const std::string text = read_file(path(file)).value();
    std::string wide = "\xff\xfe";
    for (const char c : text) wide += {c, '\0'};
    put(file, wide);
    EXPECT_EQ(import(), fmt::format("{} is text in UTF-16, as PowerShell and some editors on Windows save it; `iconv "
                                    "-f UTF-16 -t UTF-8 OLD > NEW` converts it.{}",
                                    path(file), prints));
    put(file, text);
  }
}

TEST_F(ImportTest, RefusesWhatIsCutOffInALine) {
  put("saved/nodes.txt", "NodeName=n1 CPUTot=4 Weight=1\nNodeName=n2 CPUTot=1");
  EXPECT_EQ(import(), path("saved/nodes.txt") +
                          " ends without a newline: it is cut off. It is what `scontrol -a -o show node` prints.");
}

TEST_F(ImportTest, CountsTheJobsThatARuleTouchesWhichIsLeftOut) {
  put("saved/config.txt", kConfig + "AccountingStorageEnforce = associations,limits\n");
  put("saved/qos.txt", "Name|Priority|UsageFactor|GrpTRESMins|GrpJobs\nnormal|0|1.0|cpu=100|7\nother|0|1.0|cpu=1|\n");
  put("saved/assoc.txt", "Cluster|Account|User|Partition|ParentName|Share|GrpWall\nkea|physics|||root|30|\n");
  put("saved/sacct.txt",
      "JobIDRaw|Partition|QOS|Submit|Start|End|ElapsedRaw|State|AllocCPUS\n"
      "1|batch|normal|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2\n"
      "2|batch|other|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2\n"
      "3|batch|third|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2\n");
  ASSERT_EQ(import(), "");
  const std::string report = read_file(path("site/report.txt")).value();
  EXPECT_NE(report.find("the limit GrpTRESMins of QOS (normal,other): 2 jobs of the log\n"), std::string::npos)
      << report;
  EXPECT_NE(read_file(path("site/cluster.toml")).value().find("[[limits]]\nqos = \"normal\"\njobs = 7"),
            std::string::npos);
}

TEST_F(ImportTest, TakesReservationsAndPutsTheJobsThatStartedInThemThere) {
  put("saved/nodes.txt", "NodeName=n1 CPUTot=4 Weight=1\nNodeName=n2 CPUTot=4 Weight=5\n");
  put("saved/partitions.txt", "PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60\n");
  put("saved/sacct.txt",
      "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NodeList\n"
      "1|batch|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2|n1\n"
      "2|batch|2024-03-01T10:00:30|2024-03-01T10:05:00|2024-03-01T10:06:00|60|PREEMPTED|2|n2\n");
  put("saved/reservations.txt",
      "Cluster|Name|TimeStart|TimeEnd|NodeName|Flags\n"
      "kea|upkeep|2024-03-01T10:01:00|2024-03-01T10:02:00|n2|MAINT\n"
      "kea|course|2024-03-01T10:00:00|2024-03-01T10:00:30|n1|\n"
      "kea|cores|2024-03-01T10:00:00|2024-03-01T10:00:30||\n"
      "moa|upkeep|2024-03-01T10:03:00|2024-03-01T10:04:00|n2|\n"
      "kea|past|2024-02-01T10:03:00|2024-02-01T10:04:00|n2|\n");
  ASSERT_EQ(import(), "");
  const std::string cluster = read_file(path("site/cluster.toml")).value();
  EXPECT_TRUE(
      cluster.ends_with("\n[[reservations]]\nstart = 61\nend = 121\nnodes = \"n2\"\n"
                        "\n[[reservations]]\nstart = 0\nend = 31\nnodes = \"n1\"\nname = \"course\"\n"))
      << cluster;
  EXPECT_TRUE(cluster.contains("weight = 1\n") && cluster.contains("weight = 5\n")) << cluster;
  const std::string report = whole_report();
  EXPECT_TRUE(report.contains("2 rows read = 2 jobs")) << report;
  EXPECT_TRUE(report.contains("started in a reservation, and ask for it")) << report;
  EXPECT_TRUE(report.contains("no nodes or of no certain time (cores)")) << report;
  EXPECT_TRUE(report.contains("gave way to other jobs (PREEMPTED)")) << report;
}

TEST_F(ImportTest, ReadsWhatSacctmgrSays) {
  put("saved/config.txt", kConfig +
                              "PriorityType = priority/multifactor\n"
                              "PriorityWeightFairShare = 10\nPriorityWeightQOS = 20\n");
  put("saved/qos.txt", "Name|Priority|UsageFactor\nhigh|7|1.000000\n");
  put("saved/assoc.txt",
      "Cluster|Account|User|Partition|ParentName|Share\nkea|physics|||root|30\nkea|physics|anna|||2\n");
  ASSERT_EQ(import(), "");
  const auto report = [&] { return read_file(path("site/report.txt")).value(); };
  EXPECT_NE(report().find("0 kinds of licences, 1 QOS, 1 account\n"), std::string::npos) << report();
  EXPECT_NE(report().find("+weight-qos=20+weight-fairshare=10"), std::string::npos) << report();
  EXPECT_NE(report().find("Nice 0"), std::string::npos) << report();
  EXPECT_NE(read_file(path("site/cluster.toml")).value().find("users = \"anna:2\""), std::string::npos);
}

}  // namespace
}  // namespace rota::cli
