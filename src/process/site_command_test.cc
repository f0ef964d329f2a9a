#include "process/site_command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "process/comes_true_test.h"
#include "process/process_table.h"

namespace rota::process {
namespace {

class SiteCommands : public testing::Test {
 protected:
  SiteCommands() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-command-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SiteCommands() override { std::filesystem::remove_all(folder_); }

  SiteCommand::Options of(const std::string& text) const {
    return {.text = text,
            .variables = {"FOLDER=" + folder_.string(), "ROTA_NODE=n7"},
            .timeout = seconds(60),
            .record = (folder_ / "record").string()};
  }
  bool wait(const std::function<bool()>& is_so) { return comes_true(io_, is_so); }
  SiteCommand::End end_of(const SiteCommand::Options& options) {
    std::optional<SiteCommand::End> end;
    const SiteCommand command(io_, options, [&](const SiteCommand::End& told) { end = told; });
    EXPECT_TRUE(wait([&] { return end.has_value(); }));
    return end.value_or(SiteCommand::End{});
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The process that has written its number there; 0: not yet.
  pid_t pid_in(const std::string& name) const {
    const std::string text = text_of(name);
    return text.ends_with('\n') ? std::stoi(text) : 0;
  }

  std::filesystem::path folder_;
  boost::asio::io_context io_;
};

TEST_F(SiteCommands, one_that_ends_with_0_is_done_and_knows_its_variables) {
  const SiteCommand::End end = end_of(of("echo $ROTA_NODE; echo again >&2"));
  EXPECT_TRUE(end.ran && end.done);
  EXPECT_EQ(end.why, "");
  EXPECT_EQ(end.output, "n7\nagain\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "record"));
}

TEST_F(SiteCommands, one_that_fails_says_how_and_what_it_wrote_last) {
  const SiteCommand::End end = end_of(of("echo first; printf 'no \\033route\\n\\n'; exit 3"));
  EXPECT_TRUE(end.ran);
  EXPECT_FALSE(end.done);
  EXPECT_EQ(end.why, "ended with 3: no ?route");
  EXPECT_EQ(end_of(of("kill -SEGV $$")).why, "was ended by signal 11");
}

TEST_F(SiteCommands, what_is_kept_of_its_output_is_the_end_in_whole_lines) {
  SiteCommand::Options options = of("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done");
  options.most_output = 20;
  EXPECT_EQ(end_of(options).output, "line 8\nline 9\n");
}

TEST_F(SiteCommands, one_that_takes_too_long_is_killed_with_all_its_processes) {
  SiteCommand::Options options = of("sleep 1000 & echo $! > $FOLDER/child; wait");
  options.timeout = Duration{300};
  const SiteCommand::End end = end_of(options);
  EXPECT_TRUE(end.ran);
  EXPECT_EQ(end.why, "did not end in time and was killed");
  if (const pid_t child = pid_in("child"); child != 0) {  // else it was killed before it had one
    EXPECT_TRUE(wait([&] {
      const auto process = look_at(child);
      return !process || process->zombie;
    }));
  }
}

TEST_F(SiteCommands, what_it_leaves_in_the_background_is_not_waited_for) {
  const SiteCommand::End end =
      end_of(of("(until [ -e $FOLDER/go ]; do sleep 0.02; done; echo > $FOLDER/over) & exit 0"));
  EXPECT_TRUE(end.done);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "over"));
  std::ofstream(folder_ / "go") << "go";
  EXPECT_TRUE(wait([&] { return std::filesystem::exists(folder_ / "over"); }));
}

TEST_F(SiteCommands, one_that_is_no_longer_wanted_is_killed_and_tells_nothing) {
  bool told = false;
  pid_t pid = 0;
  {
    const SiteCommand command(io_, of("echo $$ > $FOLDER/pid; exec sleep 1000"), [&](const auto&) { told = true; });
    ASSERT_TRUE(wait([&] { return (pid = pid_in("pid")) != 0; }));
  }
  EXPECT_NE(::kill(pid, 0), 0);
  io_.restart();
  io_.poll();
  EXPECT_FALSE(told);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "record"));
}

TEST_F(SiteCommands, what_an_earlier_life_has_begun_is_ended_by_its_record_and_no_other_process_is) {
  std::optional<SiteCommand::End> end;
  const SiteCommand command(io_, of("echo $$ > $FOLDER/pid; exec sleep 1000"), [&](const auto& told) { end = told; });
  ASSERT_TRUE(wait([&] { return pid_in("pid") != 0; }));
  const std::string record = text_of("record");
  const auto began = record.find("began=");
  ASSERT_NE(began, std::string::npos) << record;
  std::ofstream(folder_ / "other") << record.substr(0, began) + "began=1\n";  // another process had that number
  SiteCommand::end_left_over((folder_ / "other").string());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other"));
  EXPECT_EQ(::kill(pid_in("pid"), 0), 0);
  SiteCommand::end_left_over((folder_ / "record").string());
  EXPECT_TRUE(wait([&] { return end.has_value(); }));
  EXPECT_EQ(end->why, "was ended by signal 9");
  SiteCommand::end_left_over((folder_ / "nowhere").string());
}

}  // namespace
}  // namespace rota::process
