#include "cli/words_apart.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

using Texts = std::vector<std::string>;

class WordsApart : public testing::Test {
 protected:
  WordsApart() {
    for (const char* name : {"submit", "other"}) {
      Command command = line_.root().add_subcommand(name, "submit it");
      command.add_option("-n,--ntasks", number_, "how many");
      command.add_option("-d,--dependency", number_, "after");
      command.add_option("--nice", number_, "less");
      command.add_flag("-H,--hold", held_, "later");
      command.add_flag("--exclusive", held_, "whole nodes");
      if (std::string_view(name) == "submit") command.add_rest("SCRIPT", "SCRIPT [ARG]...", words_, "what");
    }
  }
  Words apart(const Texts& words) const { return words_apart(line_.root(), words).value(); }

  CommandLine line_;
  std::string number_;
  bool held_ = false;
  Texts words_;
};

TEST_F(WordsApart, ACommandsOwnWordsStayItsOwn) {
  const Words script = apart({"submit", "-n", "4", "-H", "job.sh", "-n", "[5,6]", "--"});
  EXPECT_EQ(script.options, (Texts{"submit", "-n", "4", "-H"}));
  EXPECT_EQ(script.rest, (Texts{"job.sh", "-n", "[5,6]", "--"}));
  EXPECT_EQ(apart({"submit", "-n4", "-", "x"}).rest, (Texts{"-", "x"}));
  EXPECT_EQ(apart({"submit", "--", "submit", "--", ""}).rest, (Texts{"--", "submit", "--", ""}));
  EXPECT_EQ(apart({"submit", "", "x"}).rest, (Texts{"", "x"}));
  EXPECT_EQ(apart({"submit", "-n"}).options, (Texts{"submit", "-n"}));
  EXPECT_EQ(apart({"other", "x", "-y"}).options, (Texts{"other", "x", "-y"}));
}

TEST_F(WordsApart, AValueIsAWordOfItsOwn) {
  EXPECT_EQ(apart({"submit", "--ntasks=", "job.sh"}).options, (Texts{"submit", "--ntasks", ""}));
  EXPECT_EQ(apart({"submit", "-Hn4", "-Hn", "5", "job.sh"}).options,
            (Texts{"submit", "-H", "-n", "4", "-H", "-n", "5"}));
  EXPECT_EQ(apart({"submit", "--ntasks", "--hold", "job.sh"}).options, (Texts{"submit", "--ntasks", "--hold"}));
}

TEST_F(WordsApart, NamesOfSbatchBecomeRotas) {
  EXPECT_EQ(apart({"submit", "--depend=afterok:1", "x"}).options, (Texts{"submit", "--dependency", "afterok:1"}));
  EXPECT_EQ(apart({"submit", "--exclusive=user", "x"}).options, (Texts{"submit", "--exclusive"}));
  EXPECT_EQ(apart({"submit", "--nice", "x"}).options, (Texts{"submit", "--nice", "100"}));
  EXPECT_EQ(apart({"submit", "--nice", "-5", "x"}).options, (Texts{"submit", "--nice", "-5"}));
  const Words passed = apart({"submit", "-s", "--power=x", "-vQ", "--wckey", "w", "x"});
  EXPECT_EQ(passed.options, Texts{"submit"});
  EXPECT_EQ(passed.rest, Texts{"x"});
  EXPECT_EQ(passed.remarks.size(), 5U);
  EXPECT_EQ(passed.remarks[0], "-s is passed over: no two jobs share a processor.");
  EXPECT_EQ(apart({"submit", "--ntask=2", "x"}).remarks, Texts{"--ntask is taken for --ntasks."});
  EXPECT_EQ(apart({"other", "--depend=afterok:1"}).options, (Texts{"other", "--depend=afterok:1"}));
  const auto refused = words_apart(line_.root(), {"submit", "-F", "n1", "x"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("`rota submit` has no option \"-F\": -w names the nodes"));
  EXPECT_FALSE(words_apart(line_.root(), {"submit", "--n=2", "x"}));
  EXPECT_EQ(apart({"submit", "--tmp=0", "-S", "0", "-S0", "x"}).remarks.size(), 3U);  // it asks for nothing
  EXPECT_FALSE(words_apart(line_.root(), {"submit", "--tmp=1G", "x"}));
  EXPECT_EQ(apart({"submit", "--hold=no", "x"}).options, (Texts{"submit", "--hold=no"}));  // which CLI11 refuses
}

}  // namespace
}  // namespace rota::cli
