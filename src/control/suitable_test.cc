#include "control/suitable.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

std::string refusal(const std::string& policy, const Capabilities& engine) {
  const auto chain = Chain::parse(policy);
  if (!chain) return chain.error().message;
  const auto suits = engine_suits(*chain, engine);
  return suits ? "" : suits.error().message;
}

TEST(EngineSuits, EveryPolicyWhereItCanDoEverything) {
  for (const char* policy : {"easy", "easy+preempt=suspend", "grace", "easy+power=demand", "easy+migrate=gain"}) {
    EXPECT_EQ(refusal(policy, {}), "") << policy;
  }
}

TEST(EngineSuits, PlainPoliciesWhereItCanDoNothingBesides) {
  EXPECT_EQ(refusal("easy", {.suspend = false,
                             .checkpoint = false,
                             .requeue = false,
                             .extend = false,
                             .places = false,
                             .power = false,
                             .move = false,
                             .tasks = false,
                             .sites = false}),
            "");
}

TEST(EngineSuits, SaysWhichKnobNeedsWhat) {
  EXPECT_EQ(
      refusal("easy+preempt=suspend", {.suspend = false}),
      "policy easy+preempt=suspend cannot run here: its knob preempt=suspend needs an engine that can suspend jobs, "
      "and this one cannot. Take a policy without that knob.");
  EXPECT_NE(refusal("easy+preempt=checkpoint", {.checkpoint = false}).find("write checkpoints"), std::string::npos);
  EXPECT_NE(refusal("easy+preempt=requeue", {.requeue = false}).find("preempt=requeue"), std::string::npos);
  EXPECT_NE(refusal("strict", {.requeue = false}).find("overrun"), std::string::npos);
  EXPECT_NE(refusal("easy+overrun=10m", {.extend = false}).find("beyond their limits"), std::string::npos);
  EXPECT_NE(refusal("easy+migrate=gain", {.move = false}).find("move running jobs"), std::string::npos);
  EXPECT_NE(refusal("easy+power=demand", {.power = false}).find("switch nodes"), std::string::npos);
  EXPECT_NE(refusal("easy+bind=node", {.tasks = false}).find("its knob bind needs"), std::string::npos);
  EXPECT_NE(refusal("easy+auction=english", {.sites = false}).find("its knob auction needs"), std::string::npos);
}

TEST(EngineSuits, SaysWhatIsMissingForPower) {
  EXPECT_EQ(
      refusal("easy+power=demand", {.power = false, .why_no_power = "Node a has no plug: give it one."}),
      "policy easy+power=demand cannot run here: its knob power needs an engine that can switch nodes on and off, "
      "and this one cannot. Node a has no plug: give it one. Or take a policy without that knob.");
}

}  // namespace
}  // namespace rota
