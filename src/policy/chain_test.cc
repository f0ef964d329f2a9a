#include "policy/chain.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

std::string sentence(std::string_view text) {
  const auto chain = Chain::parse(text);
  return chain ? "" : chain.error().message;
}

TEST(Chain, RefusesKnobsThatWouldHaveNoEffect) {
  EXPECT_EQ(sentence("conservative+beside=no"),
            "policy knob beside would have no effect here: it is for depth=1. Leave it out.");
  EXPECT_EQ(sentence("fcfs+fixed=yes"),
            "policy knob fixed would have no effect here: it is for depth=1. Leave it out.");
  for (const char* text :
       {"easy+skip=yes", "easy+depth=3+fixed=yes", "fcfs+stretch=1.5", "easy+depth=2+stretch=2", "fcfs+candidates=sjf",
        "conservative+candidates=sjf", "fcfs+predict=tsafrir", "fcfs-skip+beside=no"}) {
    EXPECT_NE(sentence(text).find("would have no effect here"), std::string::npos) << text;
  }
}

TEST(Chain, TakesThemWhereTheyHaveOne) {
  for (const char* text : {"easy+beside=no+fixed=yes+stretch=1.5", "fcfs+skip=yes", "fcfs-skip+candidates=sjf",
                           "easy+depth=4+candidates=sjf", "fcfs+predict=tsafrir+order=sjf",
                           "conservative+predict=tsafrir", "easy+depth=0+skip=yes+candidates=largest"}) {
    EXPECT_EQ(sentence(text), "") << text;
  }
}

TEST(Chain, TakesADefaultThatIsSaid) {
  for (const char* text :
       {"easy+skip=no", "conservative+beside=yes", "fcfs+stretch=1", "fcfs+order=sjf+candidates=sjf"}) {
    EXPECT_EQ(sentence(text), "") << text;
  }
}

TEST(Chain, RefusesAnOverrunRuleForPromisesWhereNothingIsPromised) {
  for (const char* text : {"fcfs+overrun=lazy", "strict+depth=0", "rb-har+depth=0+skip=yes"}) {
    EXPECT_NE(sentence(text).find("with depth=0 nothing is promised"), std::string::npos) << text;
  }
  EXPECT_EQ(sentence("fcfs+overrun=run-on"), "");
  EXPECT_EQ(sentence("fcfs+overrun=10m"), "");
}

}  // namespace
}  // namespace rota
