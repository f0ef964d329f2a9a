#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "cli/command.h"
#include "log/gzip.h"
#include "log/log.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

class ConvertTest : public testing::Test {
 protected:
  ConvertTest() {
    std::string pattern = fs::temp_directory_path() / "rota-convert-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ConvertTest() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  void put(const char* name, const std::string& text) const { std::ofstream(path(name), std::ios::binary) << text; }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  // What `rota convert ...` leaves in `out`, or its sentence.
  std::string convert(std::vector<std::string> arguments, const char* out = "out.swf") const {
    CommandLine line;
    Action action;
    add_convert(line.root(), action);
    arguments.insert(arguments.begin(), "convert");
    arguments.insert(arguments.end(), {"-o", path(out)});
    if (const auto parsed = line.parse(std::move(arguments)); !parsed) return parsed.error().text;
    const auto code = action();
    return code ? read_file(path(out)).value() : code.error().message;
  }

  fs::path folder_;
};

TEST_F(ConvertTest, PassesTheEighteenFieldsAndTheCommentsThrough) {
  const std::string log =
      "; Computer: KTH\n;\n7 100.5 5 60 8 55.25 1024 16 3600 2048 1 3 4 5 6 2 9 10\n8 101 -1 1 1 -1 -1 -1 -1 -1 -1 -1 "
      "-1 -1 -1 -1 -1 -1\n";
  put("in.swf", log);
  EXPECT_EQ(convert({path("in.swf")}), log);
}

TEST_F(ConvertTest, BringsDialectsToTheStandard) {
  put("in.swf",
      "1 0 -1 1 4\n  2\t1 0 9 64 1 1 64 60 1 1 1 1 1 -1 1 1 1 {12,12} q_2h 4:ppn=16\r\n3 2 -1 0 1 -1 -1 1 60 -1 5\n");
  EXPECT_EQ(convert({path("in.swf")}),
            "; Version: 2.2\n"
            "1 0 -1 1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
            "2 1 0 9 64 1 1 64 60 1 1 1 1 1 -1 1 1 1\n");
  EXPECT_NE(convert({path("in.swf"), "--keep-cancelled"}).find("3 2 -1 0 1 -1 -1 1 60 -1 5 -1"), std::string::npos);
}

TEST_F(ConvertTest, WritesSacctLogsWithNamesInTheHeader) {
  put("in.txt",
      "JobID|User|Group|Partition|QOS|Submit|Start|End|Timelimit|State|NCPUS\n"
      "9|anna|phys|batch|high|2024-03-01T10:00:00|2024-03-01T10:01:00|2024-03-01T10:11:00|01:00:00|COMPLETED|8\n");
  const std::string header =
      "; Version: 2.2\n; MaxJobs: 1\n; MaxRecords: 1\n; UnixStartTime: 1709287200\n; MaxProcs: 8\n"
      "; Note: converted from sacct; MaxProcs is the most processors that were in use at once\n"
      "; Queue: 1 high\n; Partition: 1 batch\n";
  const std::string row = "9 0 60 600 8 -1 -1 -1 3600 -1 1 1 1 -1 1 1 -1 -1\n";
  EXPECT_EQ(convert({path("in.txt")}), fmt::format("{}; User: 1 anna\n; Group: 1 phys\n{}", header, row));
  EXPECT_EQ(convert({path("in.txt"), "--anonymous", "--from", "sacct"}), header + row);
}

TEST_F(ConvertTest, PacksAndUnpacks) {
  const std::string log = "; Computer: KTH\n1 0 -1 1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
  put("in", log::gzip(log));
  EXPECT_EQ(convert({path("in")}), log);
  EXPECT_TRUE(log::is_gzip(convert({path("in")}, "out.swf.gz")));
  EXPECT_EQ(log::read_log(path("out.swf.gz"))->jobs.size(), 1U);
}

TEST_F(ConvertTest, LeavesNothingBehindWhenItFails) {
  put("in.swf", "1 0 -1 1 4\n2 x\n");
  put("out.swf", "old");
  EXPECT_NE(convert({path("in.swf")}).find("in.swf:2: field 2 (submit time) is \"x\""), std::string::npos);
  EXPECT_EQ(read_file(path("out.swf")).value(), "old");
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(convert({path("in.swf"), "--skip-bad-rows"}),
            "; Version: 2.2\n1 0 -1 1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
}

TEST_F(ConvertTest, SaysWhyThereIsNothingToConvert) {
  put("empty", "");
  put("cancelled", "1 0 -1 0 4 -1 -1 -1 -1 -1 5\n");
  EXPECT_EQ(convert({path("empty")}),
            path("empty") +
                ": it has no job to convert. Is it a job log in SWF, in JSON lines, written by sacct -X -P, or of "
                "PBS, LSF or Batsim?");
  EXPECT_NE(convert({path("cancelled")}).find("all its rows were dropped"), std::string::npos);
  EXPECT_NE(convert({path("none")}).find("No such file"), std::string::npos);
}

constexpr const char* kSidecar = "job,licences,priority\n2,\"matlab:2,simulink\",\n*,,5\n";
constexpr const char* kLog =
    "; MaxProcs: 64\n; User: 3 anna\n1 0 -1 60.5 4 -1 -1 4 90 -1 1 3 -1 -1 -1 -1 -1 -1\n2 5 -1 7 8\n";
constexpr const char* kJson =
    "{\"processors\":64,\"users\":{\"3\":\"anna\"}}\n"
    "{\"number\":1,\"submit\":0,\"run_time\":60.5,\"processors\":4,\"limit\":90,\"status\":1,\"user\":\"anna\","
    "\"priority\":5}\n"
    "{\"number\":2,\"submit\":5,\"run_time\":7,\"processors\":8,\"requested_processors\":null,\"licences\":\"matlab:"
    "2,simulink\"}"
    "\n";

TEST_F(ConvertTest, WritesJsonLinesWithWhatTheSidecarSays) {
  put("in.swf", kLog);
  put("in.csv", kSidecar);
  EXPECT_EQ(convert({path("in.swf"), "--attributes", path("in.csv")}, "out.jsonl"), kJson);
  EXPECT_EQ(convert({path("in.swf"), "--attributes", path("in.csv"), "--to", "jsonl"}, "out"), kJson);
}

TEST_F(ConvertTest, WritesJsonLinesAsSwfAndASidecar) {
  put("in.jsonl", kJson);
  EXPECT_EQ(convert({path("in.jsonl"), "--write-attributes", path("out.csv")}),
            "; Version: 2.2\n; MaxProcs: 64\n; User: 3 anna\n1 0 -1 60.5 4 -1 -1 4 90 -1 1 3 -1 -1 -1 -1 -1 -1\n"
            "2 5 -1 7 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(
      read_file(path("out.csv")).value(),
      "job,nodes,memory,licences,accelerators,accelerator_type,features,on_nodes,not_on_nodes,reservation,restart,"
      "restart_cost,priority,tasks,task_accelerator,task_cpu,task_transfer,start_up,task_limit,input,site,"
      "anywhere\n1,,,,,,,,,,,,5,,,,,,,,,\n2,,,\"matlab:2,simulink\",,,,,,,,,,,,,,,,,,\n");
  EXPECT_EQ(convert({path("in.jsonl")}, "again.jsonl"), kJson);
}

TEST_F(ConvertTest, WritesNamesThatTurnUpAmongTheJobsAsCommentsOfSwf) {
  put("in.jsonl",
      "{\"number\":1,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":\"anna\"}\n"
      "{\"number\":2,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":\"bert\"}\n");
  EXPECT_EQ(convert({path("in.jsonl")}),
            "; Version: 2.2\n; User: 1 anna\n1 0 -1 1 1 -1 -1 1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n; User: 2 bert\n"
            "2 0 -1 1 1 -1 -1 1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(convert({path("in.jsonl"), "--anonymous"}, "out.jsonl"),
            "{\"number\":1,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":1}\n"
            "{\"number\":2,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":2}\n");
}

TEST_F(ConvertTest, WritesNoControlCharactersIntoCommentsOfSwf) {
  put("in.jsonl",
      "{\"number\":1,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":\"anna\"}\n"
      "{\"number\":2,\"submit\":0,\"run_time\":1,\"processors\":1,\"user\":\"be\\u001brt\"}\n");
  const auto written = convert({path("in.jsonl")});
  EXPECT_NE(written.find("; User: 2 be?rt\n"), std::string::npos) << written;
}

TEST_F(ConvertTest, RefusesAttributesThatHaveNoPlace) {
  put("in.swf", kLog);
  put("in.jsonl", kJson);
  put("in.csv", kSidecar);
  const auto starts = [](const std::string& text, const char* with) { return text.starts_with(with); };
  EXPECT_TRUE(
      starts(convert({path("in.swf"), "--attributes", path("in.csv")}), "--attributes says what to put into JSON"));
  EXPECT_TRUE(
      starts(convert({path("in.swf"), "--write-attributes", path("x.csv")}, "out.jsonl"), "JSON lines have the"));
  EXPECT_TRUE(starts(convert({path("in.swf"), "--write-attributes", path("out.swf")}), "the log and its attributes"));
  EXPECT_EQ(convert({path("in.jsonl"), "--attributes", path("in.csv")}, "out.jsonl"),
            fmt::format("{}:2: job 1 has attributes here already, so that {} has no say; leave --attributes out. (To "
                        "write one, give --write-attributes.)",
                        path("in.jsonl"), path("in.csv")));
}

TEST_F(ConvertTest, TellsThatTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fs::create_symlink("/dev/full", path("full"));
  put("in.swf", "1 0 -1 1 4\n");
  EXPECT_EQ(convert({path("in.swf")}, "full"),
            "Cannot write /dev/full: No space left on device. Free some space or choose another path.");
}

TEST_F(ConvertTest, RefusesToWriteIntoAFolderThatIsNotThere) {
  put("in.swf", "1 0 -1 1 4\n");
  EXPECT_NE(convert({path("in.swf")}, "no/out.swf").find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace rota::cli
