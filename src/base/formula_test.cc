#include "base/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace rota {
namespace {

constexpr std::array<std::string_view, 2> kNames{"work", "nodes"};

double value(std::string_view text, double work = 6, double nodes = 3) {
  const auto formula = Formula::parse(text, kNames);
  return formula ? formula->value(std::array{work, nodes}) : NAN;
}

std::string wrong(std::string_view text) {
  const auto formula = Formula::parse(text, kNames);
  return formula ? "" : formula.error().message;
}

TEST(Formula, ReckonsAsOneWritesIt) {
  EXPECT_DOUBLE_EQ(value("work / nodes"), 2);
  EXPECT_DOUBLE_EQ(value("1 + 2*3 - 4/2"), 5);
  EXPECT_DOUBLE_EQ(value(" ( 1+2 ) * ( 3 - -4 ) "), 21);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512);  // from the right
  EXPECT_DOUBLE_EQ(value("-2^2"), -4);
  EXPECT_DOUBLE_EQ(value("2 ^ -1"), 0.5);
  EXPECT_DOUBLE_EQ(value("8 - 3 - 2"), 3);
  EXPECT_DOUBLE_EQ(value("sqrt(work * work) + log(exp(1)) + min(work, nodes) + max(1, 2)"), 12);
  EXPECT_DOUBLE_EQ(value("1.5e1"), 15);
  EXPECT_TRUE(std::isinf(value("work / 0")));
  EXPECT_TRUE(std::isnan(value("sqrt(-work)")));
}

TEST(Formula, SaysWhereItMakesNoSense) {
  EXPECT_EQ(wrong(""), "a number, a name or a parenthesis is expected at its end");
  EXPECT_EQ(wrong("work /"), "a number, a name or a parenthesis is expected at its end");
  EXPECT_EQ(wrong("work nodes"), "an operator is expected at \"nodes\"");
  EXPECT_EQ(wrong("(work"), "a parenthesis is not closed at its end");
  EXPECT_EQ(wrong("2 * load"), "there is no name \"load\" at \"load\"");
  EXPECT_EQ(wrong("sqrt work"), "a parenthesis is expected at \"work\"");
  EXPECT_EQ(wrong("min(1)"), "a comma is expected at \")\"");
  EXPECT_EQ(wrong("1e999"), "a number, a name or a parenthesis is expected at \"1e999\"");
  EXPECT_NE(wrong(std::string(1000, '(')).find("too many parentheses"), std::string::npos);
  EXPECT_NE(wrong(std::string(1000, '-') + "1"), "");
}

}  // namespace
}  // namespace rota
