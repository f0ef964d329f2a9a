#include "cli/live/escape_keys.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

using Wish = EscapeKeys::Wish;

TEST(EscapeKeys, PassOnWhatIsNoEscape) {
  EscapeKeys keys;
  std::string out;
  EXPECT_EQ(keys.read_keys("ls ~ ~.\r", out), Wish::nothing);
  EXPECT_EQ(keys.read_keys("~", out), Wish::nothing);
  EXPECT_EQ(keys.read_keys("/x\r", out), Wish::nothing);
  EXPECT_EQ(out, "ls ~ ~.\r~/x\r");
}

TEST(EscapeKeys, ATildeAndADotAtTheBeginningOfALineCancel) {
  EscapeKeys keys;
  std::string out;
  EXPECT_EQ(keys.read_keys("~.", out), Wish::cancel);
  EXPECT_EQ(keys.read_keys("a\r~", out), Wish::nothing);
  EXPECT_EQ(keys.read_keys(".", out), Wish::cancel);
  EXPECT_EQ(out, "a\r");
}

TEST(EscapeKeys, TwoTildesAreOneOfTheJob) {
  EscapeKeys keys;
  std::string out;
  EXPECT_EQ(keys.read_keys("~~.\r~?", out), Wish::help);
  EXPECT_EQ(keys.read_keys("~.", out), Wish::cancel);
  EXPECT_EQ(out, "~.\r");
}

}  // namespace
}  // namespace rota::cli
