#include "model/node_wish.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "model/job.h"
#include "model/machine.h"

namespace rota {
namespace {

using Masks = std::vector<std::uint64_t>;

Machine with_features() {
  Machine machine;
  machine.features = {"a", "b", "c", "avx512"};
  for (const char* name : {"n1", "n2", "n3", "login"}) {
    Node& node = machine.nodes.emplace_back();
    node.name = name;
  }
  return machine;
}

Masks parsed(std::string_view text) {
  const auto masks = parse_features(text, with_features());
  EXPECT_TRUE(masks) << masks.error().message;
  return masks.value_or(Masks{});
}

std::string refusal(std::string_view text) {
  const auto masks = parse_features(text, with_features());
  return masks ? "taken" : masks.error().message;
}

TEST(NodeWishes, AreAlternativesOfFeatures) {
  EXPECT_EQ(parsed("a"), (Masks{1}));
  EXPECT_EQ(parsed(" a & c "), (Masks{5}));
  EXPECT_EQ(parsed("a,c"), (Masks{5}));
  EXPECT_EQ(parsed("b|a"), (Masks{1, 2}));
  EXPECT_EQ(parsed("(a|b)&c"), (Masks{5, 6}));
  EXPECT_EQ(parsed("a|b&c"), (Masks{5, 6})) << "from left to right";
  EXPECT_EQ(parsed("c&(a|b)"), (Masks{5, 6}));
  EXPECT_EQ(parsed("((a))"), (Masks{1}));
  EXPECT_EQ(parsed("a|(a&b)"), (Masks{1})) << "the second asks for all of the first";
  EXPECT_EQ(parsed("avx512"), (Masks{8}));
}

TEST(NodeWishes, ThatAreNoneAreRefusedWithWhatThereIs) {
  const std::string how = ". Write it such as avx512, avx512&ib or (a|b)&c.";
  EXPECT_EQ(refusal("avx521"), "no node has the feature \"avx521\"; did you mean \"avx512\"?");
  EXPECT_EQ(refusal("quantum"), "no node has the feature \"quantum\"; there are a, b, c, avx512.");
  EXPECT_EQ(
      refusal("a*2"),
      "\"a*2\" is no wish for features: how many of its nodes are to have a feature, by *, cannot be asked for" + how);
  EXPECT_EQ(
      refusal("(a&b)*2"),
      "\"(a&b)*2\" is no wish for features: how many of its nodes are to have a feature, by *, cannot be asked for" +
          how);
  EXPECT_EQ(
      refusal("[a|b]"),
      "\"[a|b]\" is no wish for features: that all nodes have the same one of several, by [ ], cannot be asked for" +
          how);
  EXPECT_EQ(refusal("(a"), "\"(a\" is no wish for features: a parenthesis is not closed" + how);
  EXPECT_EQ(refusal("a)"), "\"a)\" is no wish for features: a parenthesis is closed that was not opened" + how);
  EXPECT_EQ(refusal("a(b)"), "\"a(b)\" is no wish for features: an & or a | is missing" + how);
  EXPECT_EQ(refusal("a&"), "\"a&\" is no wish for features: a feature is missing" + how);
  EXPECT_EQ(refusal(""), "\"\" is no wish for features: a feature is missing" + how);
  EXPECT_EQ(refusal("a b"), "no node has the feature \"a b\"; there are a, b, c, avx512.");
  EXPECT_TRUE(refusal(std::string(100, '(') + "a").contains("too many parentheses"));
  EXPECT_TRUE(check_features("x&(y|z)"));
  EXPECT_FALSE(check_features("x*4"));
  Machine none = with_features();
  none.features.clear();
  EXPECT_EQ(parse_features("a", none).error().message, "no node has the feature \"a\"; nodes have none here.");
}

TEST(NodeWishes, GrowToSixtyFourAlternativesAtMost) {
  std::string product;
  for (int i = 0; i < 7; ++i) product += fmt::format("{}(x{}|y{})", i == 0 ? "" : "&", i, i);
  EXPECT_TRUE(check_features(product.substr(0, product.rfind('&'))));
  EXPECT_TRUE(check_features(product).error().message.contains("more than 64 alternatives"));
}

TEST(NodeWishes, NameNodesThatThereAre) {
  const Machine machine = with_features();
  EXPECT_EQ(parse_node_names("login,n[1-2],n1", machine).value(),
            (std::vector<NodeId>{NodeId{0}, NodeId{1}, NodeId{3}}));
  EXPECT_EQ(parse_node_names("n[2-4]", machine).error().message, "the cluster has no node \"n4\".");
  JobSpec spec;
  spec.processors = 4;
  const auto wish = node_wish_of({.features = "a", .among = "n[1-2]", .without = "n3"}, machine);
  ASSERT_TRUE(wish) << wish.error().message;
  EXPECT_TRUE(set_node_wish(spec, *wish, machine));
  EXPECT_EQ(spec.nodes, 2U);
  EXPECT_EQ(senseless_wish(spec, machine), std::nullopt);
  spec.nodes = 3;
  EXPECT_EQ(set_node_wish(spec, *wish, machine).error().message,
            "the job asks for 3 nodes and names n[1-2]; it gets all that it names, and no others.");
  spec.nodes = 0;
  spec.processors = 1;
  EXPECT_EQ(set_node_wish(spec, *wish, machine).error().message,
            "the job asks for 1 processor and names 2 nodes; it needs one on each.");
  EXPECT_EQ(node_wish_of({}, machine).value(), nullptr);
}

TEST(NodeWishes, AdmitNodes) {
  const NodeWish wish{.features = {1, 6}, .among = {NodeId{1}, NodeId{2}}, .without = {NodeId{2}}};
  EXPECT_TRUE(wish.admits(NodeId{1}, 1));
  EXPECT_TRUE(wish.admits(NodeId{1}, 7));
  EXPECT_FALSE(wish.admits(NodeId{1}, 4)) << "half of what the second asks for";
  EXPECT_FALSE(wish.admits(NodeId{0}, 1)) << "it does not name it";
  EXPECT_FALSE(wish.admits(NodeId{2}, 1)) << "it is not to have it";
}

TEST(NodeWishes, ThatCannotBeAreTold) {
  const auto why = [](NodeWish none, std::uint32_t nodes) {
    JobSpec spec;
    spec.nodes = nodes;
    spec.processors = 2;
    spec.node_wish = std::make_shared<const NodeWish>(std::move(none));
    return senseless_wish(spec, with_features()).value_or("");
  };
  const std::string not_there = "asks for features or nodes that the cluster does not have";
  EXPECT_EQ(why({{16}, {}, {}}, 0), not_there) << "there are four";
  EXPECT_EQ(why({{}, {NodeId{2}, NodeId{1}}, {}}, 2), not_there) << "not in order";
  EXPECT_EQ(why({{}, {}, {NodeId{4}}}, 0), not_there);
  EXPECT_EQ(why({}, 0), not_there) << "nothing is asked for";
  EXPECT_EQ(why({{}, {NodeId{1}}, {}}, 1), "");
  EXPECT_TRUE(why({{}, {NodeId{1}}, {}}, 2).starts_with("names nodes, and asks for fewer or more"));
  EXPECT_TRUE(why({{}, {NodeId{1}, NodeId{2}, NodeId{3}}, {}}, 3).starts_with("names nodes, and"));
}

TEST(NodeWishes, AreToldInWords) {
  const Machine machine = with_features();
  EXPECT_EQ(wish_text({{3}, {}, {}}, machine, true), "a node with a and b");
  EXPECT_EQ(wish_text({{3, 4}, {}, {NodeId{0}}}, machine, false), "nodes with a and b, or c other than n1");
  EXPECT_EQ(wish_text({{}, {NodeId{0}, NodeId{1}}, {}}, machine, false), "nodes n[1-2]");
  EXPECT_EQ(features_text({3, 4}, machine), "(a&b)|c");
  EXPECT_EQ(features_text({3}, machine), "a&b");
  EXPECT_EQ(with_features_renamed("(a|b) & cd", [](std::string_view name) { return "x" + std::string(name); }),
            "(xa|xb)&xcd");
}

}  // namespace
}  // namespace rota
