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

TEST(OutputPattern, numbers_alone_are_filled_in_and_the_rest_later) {
  const PatternWords home{14, 12, 3}, there{7, 7, 3, "fit", "ann", "n7", 2};
  const std::string numbered = fill_in_numbers("%x-%4j_%A_%a.%N%%j%q%", home);
  EXPECT_EQ(numbered, "%x-0014_12_3.%N%%j%q%");
  EXPECT_EQ(fill_in(numbered, there), "fit-0014_12_3.n7%j%q%");
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
