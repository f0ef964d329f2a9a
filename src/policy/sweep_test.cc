#include "policy/sweep.h"

#include <gtest/gtest.h>

#include "policy/chain.h"

namespace rota {
namespace {

using Texts = std::vector<std::string>;

TEST(Sweep, WithoutOneATextStandsForItself) {
  for (const char* text : {"easy", "easy++", "easy+++depth=4", "nonsense", "", "easy+depth=1+depth=2"})
    EXPECT_EQ(swept_policies(text).value(), Texts{text}) << text;
}

TEST(Sweep, MultipliesKnobsAndTheLastChangesFastest) {
  EXPECT_EQ(swept_policies("easy+++depth=1..2+stretch=1|1.5").value(),
            (Texts{"easy+++depth=1+stretch=1", "easy+++depth=1+stretch=1.5", "easy+++depth=2+stretch=1",
                   "easy+++depth=2+stretch=1.5"}));
}

TEST(Sweep, RangesHaveSteps) {
  EXPECT_EQ(swept_policies("slurm+bf-interval=30s..2m..30s").value(),
            (Texts{"slurm+bf-interval=30s", "slurm+bf-interval=1m", "slurm+bf-interval=90s", "slurm+bf-interval=2m"}));
  EXPECT_EQ(swept_policies("easy+depth=1..10..4|all").value(),
            (Texts{"easy+depth=1", "easy+depth=5", "easy+depth=9", "easy+depth=all"}));
  EXPECT_EQ(swept_policies("easy+stretch=1..1.2..0.1").value().size(), 3U);
}

TEST(Sweep, OfMoreThanIsSaneIsRefusedBeforeAnyIsMade) {
  EXPECT_FALSE(swept_policies("easy+depth=1..100000"));
  EXPECT_FALSE(swept_policies("slurm+bf-window=1s..100000d..1ms"));
  EXPECT_FALSE(swept_policies("easy+depth=1..15+stretch=1..2..0.05"));
  EXPECT_TRUE(swept_policies("easy+depth=1..200"));
}

TEST(Sweep, WritesValuesThatReadAsTheyWere) {
  for (const Knob* knob : every_knob()) {
    const auto value = read_value(*knob, knob->fallback);
    if (!value) continue;  // a default in words
    const auto again = read_value(*knob, written_value(*knob, *value));
    ASSERT_TRUE(again) << knob->name << " " << written_value(*knob, *value);
    EXPECT_EQ(again->whole, value->whole) << knob->name;
    EXPECT_EQ(again->number, value->number) << knob->name;
  }
}

TEST(OwnOrder, GoesWithPoliciesThatHaveNone) {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    const auto chain = Chain::parse(std::string(name) + "+priority=multifactor+weight-age=1000");
    ASSERT_TRUE(chain) << chain.error().message;
    EXPECT_TRUE(chain->knobs().slurm.planner);
  }
  EXPECT_EQ(Chain::parse("easy+priority=multifactor")->knobs().slurm.part_count_reserve, 1);
  EXPECT_FALSE(Chain::parse("easy-sjbf+priority=multifactor"));
  EXPECT_FALSE(Chain::parse("easy+priority=basic"));
}

}  // namespace
}  // namespace rota
