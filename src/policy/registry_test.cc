// What every knob declares is true: its default, its range, its words.
#include "policy/registry.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "policy/chain.h"

namespace rota {
namespace {

// Numbers at the bounds and just outside them, as text: least, most, below, above; empty: there is none.
struct Bounds {
  std::string least, most, below, above;
};

Bounds bounds_of(const Knob& knob) {
  const auto text = [](auto number) { return std::to_string(number); };
  const Range& range = knob.range;
  switch (range.of) {
    case Range::Of::nothing:
      return {};
    case Range::Of::whole_numbers:
      return {text(range.least), text(range.most), text(range.least - 1),
              range.most == INT64_MAX ? "9223372036854775808" : text(range.most + 1)};
    case Range::Of::numbers:
      return {text(range.low), text(range.high), text(range.low - 0.0001), text(range.high + 0.0001)};
    case Range::Of::times:
      return {text(range.least) + "ms", text(range.most / 1000), range.least == 0 ? "-1" : text(range.least - 1) + "ms",
              text(range.most / 1000) + ".001"};
  }
  return {};
}

void expect_taken(const Knob& knob, const std::string& text) {
  EXPECT_TRUE(text.empty() || read_value(knob, text)) << knob.name << "=" << text;
}

void expect_refused(const Knob& knob, const std::string& text) {
  const auto read = read_value(knob, text);
  ASSERT_FALSE(read) << knob.name << "=" << text;
  const std::string& said = read.error().message;
  EXPECT_TRUE(said.starts_with(fmt::format("policy knob {} is ", knob.name))) << said;
  EXPECT_TRUE(said.ends_with(".")) << said;
}

TEST(Registry, EveryKnobTakesItsBoundsAndNothingBeyond) {
  for (const Knob* knob : every_knob()) {
    const Bounds bounds = bounds_of(*knob);
    expect_taken(*knob, bounds.least);
    expect_taken(*knob, bounds.most);
    if (!bounds.below.empty()) expect_refused(*knob, bounds.below);
    if (!bounds.above.empty()) expect_refused(*knob, bounds.above);
    for (const char* nonsense : {"", " ", "maybe", "1x", "--1", "nan", "inf", "1e999", "99999999999999999999"}) {
      expect_refused(*knob, nonsense);
    }
    for (const NamedValue& value : knob->names) {
      expect_taken(*knob, std::string(value.name));
      expect_taken(*knob, std::string(value.alias));
      expect_refused(*knob, std::string(value.name) + " ");
    }
  }
}

TEST(Registry, ANumberThatIsCountedInHundredthsHasNoMoreDecimals) {
  for (const char* name : {"stretch", "margin"}) {
    const Knob& knob = *knob_named(name);
    for (const char* text : {"1", "1.0", "1.01", "1.15", "4.35", "9.99", "1.2e0"}) expect_taken(knob, text);
    for (const char* text : {"1.004", "1.999", "9.9901", "1.0000001e1"}) expect_refused(knob, text);
  }
  EXPECT_EQ(read_value(*knob_named("stretch"), "1.004").error().message,
            "policy knob stretch is a number from 1 to 10, with 2 decimals at most, not \"1.004\".");
  ChainKnobs knobs;
  const Knob& stretch = *knob_named("stretch");
  stretch.set(knobs, *read_value(stretch, "1.15"));
  EXPECT_EQ(knobs.backfill.stretch, 115);
}

TEST(Registry, EveryDefaultIsWhatHoldsWhereNothingIsSet) {
  const std::set<std::string_view> in_words{"max_time", "not used", "no limit"};
  for (const Knob* knob : every_knob()) {
    ASSERT_NE(knob->set, nullptr) << knob->name;
    if (!knob->follows.empty()) {
      EXPECT_NE(knob_named(knob->follows), nullptr) << knob->name;
      continue;
    }
    const auto value = read_value(*knob, knob->fallback);
    EXPECT_NE(value.has_value(), in_words.contains(knob->fallback)) << knob->name;
    if (!value) continue;
    ChainKnobs knobs;
    knob->set(knobs, *value);
    EXPECT_EQ(knobs, ChainKnobs{}) << knob->name;
  }
}

TEST(Registry, EveryKnobThatIsSetChangesItsOwnPlace) {
  for (const Knob* knob : every_knob()) {
    bool changed = false;
    const auto set = [&](std::string_view text) {
      ChainKnobs knobs;
      const auto value = read_value(*knob, text);
      if (!value) return;
      knob->set(knobs, *value);
      changed = changed || knobs != ChainKnobs{};
    };
    for (const NamedValue& value : knob->names) set(value.name);
    set(bounds_of(*knob).least);
    set(bounds_of(*knob).most);
    EXPECT_TRUE(changed) << knob->name;
  }
}

// Where two have one type and one default, nothing else would tell that they have been exchanged.
TEST(Registry, KnobsThatAreAlikeSetWhatTheyAreCalled) {
  const auto knobs = [](const char* text) { return Chain::parse(text)->knobs(); };
  const ChainKnobs demand = knobs("easy+power=demand+power-wait=3m+power-idle=7m+power-least-on=9m");
  EXPECT_EQ(demand.power.wait, seconds(180));
  EXPECT_EQ(demand.power.idle, seconds(420));
  EXPECT_EQ(demand.power.least_on, seconds(540));
  const ChainKnobs english = knobs("easy+auction=english+auction-round=3m+auction-look=7m+auction-run-time=9m");
  EXPECT_EQ(english.auction.round, seconds(180));
  EXPECT_EQ(english.auction.look, seconds(420));
  EXPECT_EQ(english.auction.mean_run_time, seconds(540));
  const ChainKnobs migrate = knobs("easy+migrate=cpu-factor+poll=3m+threshold=7m");
  EXPECT_EQ(migrate.migrate.poll, seconds(180));
  EXPECT_EQ(migrate.migrate.threshold, seconds(420));
  EXPECT_EQ(knobs("easy+preempt=checkpoint+checkpoint=3m").checkpoint, seconds(180));
}

TEST(Registry, NamesMeanOneThing) {
  std::set<std::string_view> names;
  for (const Knob* knob : every_knob()) {
    EXPECT_TRUE(names.insert(knob->name).second) << knob->name;
    EXPECT_EQ(knob_named(knob->name), knob);
    EXPECT_FALSE(knob->meaning.empty() || knob->source.empty()) << knob->name;
    std::set<std::string_view> words;
    for (const NamedValue& value : knob->names) EXPECT_TRUE(words.insert(value.name).second) << knob->name;
  }
  EXPECT_EQ(knob_named("colour"), nullptr);
  std::set<std::string_view> policies;
  for (const PolicyName& policy : policy_names()) {
    EXPECT_TRUE(policies.insert(policy.name).second) << policy.name;
    EXPECT_TRUE(Chain::parse(policy.name)) << policy.name;
    EXPECT_FALSE(policy.meaning.empty() || policy.source.empty()) << policy.name;
  }
}

TEST(Registry, ADefaultThatAnotherKnobBringsIsAValue) {
  std::size_t others = 0;
  for (const Knob* knob : every_knob()) {
    if (knob->other.knob.empty()) continue;
    ++others;
    const Knob* on = knob_named(knob->other.knob);
    ASSERT_NE(on, nullptr) << knob->name;
    EXPECT_TRUE(read_value(*on, knob->other.value)) << knob->name;
    EXPECT_TRUE(read_value(*knob, knob->other.fallback)) << knob->name;
    EXPECT_NE(default_text(*knob).find(knob->other.fallback), std::string::npos);
  }
  EXPECT_EQ(others, 3U);
}

TEST(Registry, EveryKnobKnowsItsModule) {
  for (const Module* module : kModules) {
    for (const Knob& knob : module->knobs) EXPECT_EQ(&module_of(knob), module) << knob.name;
  }
}

TEST(Registry, WritesValuesForPeople) {
  EXPECT_EQ(values_text(*knob_named("depth")), "all | 0 .. 100000");
  EXPECT_EQ(values_text(*knob_named("power-reserve")), "0 .. 0.9999");
  EXPECT_EQ(values_text(*knob_named("auction-seed")), "0 ..");
  EXPECT_EQ(values_text(*knob_named("auction-second-thoughts")), "no | DURATION");
  EXPECT_EQ(default_text(*knob_named("auction-round")), "20m; with auction=announced: 30s");
  EXPECT_EQ(default_text(*knob_named("candidates")), "as order");
  EXPECT_EQ(unit_text(*knob_named("depth")), "jobs");
}

}  // namespace
}  // namespace rota
