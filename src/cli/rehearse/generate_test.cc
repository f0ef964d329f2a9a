#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "log/log.h"

namespace rota::cli {
namespace {

struct Ran {
  int code = kUsage;
  std::string said;  // the error, whole
};

// As main() does it, for one command line after "rota".
Ran run(const std::string& command) {
  CommandLine line;
  Action action;
  add_generate(line.root(), action);
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' ')) words.emplace_back(word);
  if (const auto parsed = line.parse(std::move(words)); !parsed) return {kUsage, parsed.error().text};
  const auto code = action();
  return code ? Ran{*code, ""} : Ran{kFailed, code.error().message};
}

class Generate : public testing::Test {
 protected:
  Generate() { std::filesystem::create_directories(folder_); }
  ~Generate() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("rota-generate-") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Generate, writes_each_model_where_it_is_told) {
  for (const std::string model : {"lublin", "poisson", "hpl-mix", "x64-blades"}) {
    EXPECT_EQ(run(fmt::format("generate {} --seed 5 -o {}", model, path(model))).code, kDone);
    const std::string made = text(path(model));
    EXPECT_TRUE(made.starts_with("; Version: 2.2\n")) << model;
    EXPECT_NE(made.find("made by: rota generate " + model), std::string::npos);
    EXPECT_NE(made.find(" --seed 5"), std::string::npos);
    EXPECT_NE(made.find("\n100 "), std::string::npos);
  }
}

TEST_F(Generate, refuses_what_an_option_does_not_take) {
  EXPECT_EQ(run("generate poisson --load many").code, kUsage);
  EXPECT_NE(run("generate poisson --load many").said.find("--load takes 0.001 to 1000, not \"many\"."),
            std::string::npos);
  EXPECT_EQ(run("generate poisson --lod 1").code, kUsage);
  EXPECT_EQ(run("generate markov").code, kUsage);
  EXPECT_EQ(run("generate").code, kUsage);
}

TEST_F(Generate, says_which_settings_contradict_each_other_and_writes_nothing) {
  const Ran ran = run("generate poisson --size-min 9 --size-max 8 -o " + path("out.swf"));
  EXPECT_EQ(ran.code, kFailed);
  EXPECT_EQ(ran.said, "--size-min is above --size-max: give a --size-max of at least --size-min.");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Generate, packs_a_file_whose_name_says_so) {
  EXPECT_EQ(run("generate poisson -o " + path("out.swf.gz")).code, kDone);
  EXPECT_TRUE(text(path("out.swf.gz")).starts_with("\x1f\x8b"));
  EXPECT_EQ(run("generate poisson -o " + path("out.swf")).code, kDone);
  EXPECT_EQ(log::read_log(path("out.swf.gz"))->jobs.size(), log::read_log(path("out.swf"))->jobs.size());
}

TEST_F(Generate, leaves_no_half_file_where_it_cannot_write) {
  const Ran full = run("generate poisson --jobs 10000000 -o /dev/full");
  EXPECT_EQ(full.code, kFailed);
  EXPECT_NE(full.said.find("No space left on device"), std::string::npos);
  EXPECT_EQ(run("generate poisson -o " + path("nowhere/out.swf")).code, kFailed);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Generate, shows_every_knob_in_its_help) {
  CommandLine line;
  Action action;
  add_generate(line.root(), action);
  const std::string help = understood(line, {"generate", "lublin", "--help"}).value();
  for (const char* option : {"--jobs", "--seed", "--processors", "--load", "--estimates", "--arar", "--output"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  EXPECT_NE(help.find("JPDC"), std::string::npos);
}

}  // namespace
}  // namespace rota::cli
