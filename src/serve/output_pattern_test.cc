#include "serve/output_pattern.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(OutputPattern, fills_every_letter_in) {
  const PatternWords words{14, 12, 3, "fit", "ann", "n7", 2};
  EXPECT_EQ(fill_in("%x-%j_%A_%a.%u@%N.%r%%", words), "fit-14_12_3.ann@n7.2%");
  EXPECT_EQ(fill_in("%4j-%02a-%0j", words), "0014-03-14");
  EXPECT_EQ(fill_in("plain", words), "plain");
}

TEST(OutputPattern, what_is_known_at_home_is_filled_in_there_and_the_rest_later) {
  const PatternWords home{14, 12, 3, "fit", "ann"}, there{7, 7, 3, "other", "bob", "n7", 2};
  const std::string at_home = fill_in_at_home("%x-%4j_%A_%a.%N%%j%q%", home);
  EXPECT_EQ(at_home, "fit-0014_12_3.%N%%j%q%");
  EXPECT_EQ(fill_in(at_home, there), "fit-0014_12_3.n7%j%q%");
}

TEST(OutputPattern, leaves_what_is_no_letter) {
  EXPECT_EQ(fill_in("100%", {}), "100%");
  EXPECT_EQ(fill_in("%q %4", {}), "%q %4");
}

TEST(OutputPattern, keeps_names_within_one_file_name) {
  PatternWords words;
  words.name = "../../up";
  EXPECT_EQ(fill_in("%x.out", words), ".._.._up.out");
  words.name = "..";
  EXPECT_EQ(fill_in("a/%x/b", words), "a/_/b");
  EXPECT_EQ(fill_in("%99999999999999j", words).size(), 10U);
}

}  // namespace
}  // namespace rota::serve
