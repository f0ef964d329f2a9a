// OrderedTree against a std::map that is added up by hand.
#include "base/ordered_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <map>
#include <optional>

namespace rota {
namespace {

struct Entry {
  using Key = int;
  int place = 0;
  int weight = 0;
  int key() const { return place; }
};

// A sum can give an entry back; a least value cannot, so remove() fails now and then.
struct SumAndLeast {
  long sum = 0;
  int least = std::numeric_limits<int>::max();

  void add(const Entry& e) {
    sum += e.weight;
    least = std::min(least, e.weight);
  }
  void add(const SumAndLeast& o) {
    sum += o.sum;
    least = std::min(least, o.least);
  }
  bool remove(const Entry& e) {
    sum -= e.weight;
    return e.weight > least;
  }
};

using Tree = OrderedTree<Entry, SumAndLeast>;
using Map = std::map<int, int>;  // weight by key

struct Step {
  bool insert;
  int key;
  int weight;
};

void showValue(const Step& s, std::ostream& out) {
  out << (s.insert ? "insert " : "erase ") << s.key << " (" << s.weight << ")";
}

SumAndLeast sum_of(const Map& map, int last = std::numeric_limits<int>::max()) {
  SumAndLeast sum;
  for (const auto& [key, weight] : map) {
    if (key <= last) sum.add(Entry{key, weight});
  }
  return sum;
}

template <class Yes>
std::optional<int> first_in(const Map& map, const Yes& yes) {
  for (const auto& [key, weight] : map) {
    if (yes(key, weight)) return key;
  }
  return std::nullopt;
}

std::optional<int> key_of(const Entry* e) { return e ? std::optional(e->place) : std::nullopt; }

void expect_same(const Tree& tree, const Map& map) {
  RC_ASSERT(tree.size() == map.size());
  RC_ASSERT(tree.empty() == map.empty());
  RC_ASSERT(tree.total().sum == sum_of(map).sum);
  RC_ASSERT(tree.total().least == sum_of(map).least);
  auto at = map.begin();
  RC_ASSERT(tree.for_each([&](const Entry& e) {
    const bool same = at != map.end() && e.place == at->first && e.weight == at->second;
    ++at;
    return same;
  }));
  RC_ASSERT(key_of(tree.first()) == (map.empty() ? std::nullopt : std::optional(map.begin()->first)));
}

// All questions, at one key and one weight.
void expect_same_answers(const Tree& tree, const Map& map, int key, int weight) {
  const auto may = [&](const SumAndLeast& s) { return s.least <= weight; };
  const auto yes = [&](const Entry& e) { return e.weight <= weight; };
  RC_ASSERT(key_of(tree.find(may, yes)) == first_in(map, [&](int, int w) { return w <= weight; }));
  RC_ASSERT(key_of(tree.find_after(key, may, yes)) ==
            first_in(map, [&](int k, int w) { return k > key && w <= weight; }));
  RC_ASSERT(tree.up_to(key).sum == sum_of(map, key).sum);
  RC_ASSERT(tree.up_to(key).least == sum_of(map, key).least);
  const long goal = long{key} * weight / 4;
  long so_far = 0;
  const auto reached = first_in(map, [&](int, int w) { return (so_far += w) >= goal; });
  RC_ASSERT(key_of(tree.seek([&](const SumAndLeast& s) { return s.sum >= goal; })) == reached);
}

rc::Gen<Step> random_step(int keys, int insert_percent) {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 100), rc::gen::inRange(0, keys), rc::gen::inRange(1, 20)),
                      [=](const std::tuple<int, int, int>& draw) {
                        return Step{std::get<0>(draw) < insert_percent, std::get<1>(draw), std::get<2>(draw)};
                      });
}

void take(Tree& tree, Map& map, const Step& step) {
  if (!step.insert) {
    RC_ASSERT(tree.erase(step.key) == (map.erase(step.key) > 0));
  } else if (map.emplace(step.key, step.weight).second) {
    tree.insert({step.key, step.weight});
  }
}

RC_GTEST_PROP(OrderedTree, IsAMapWithSums, ()) {
  Tree tree;
  Map map;
  for (const Step& step : *rc::gen::container<std::vector<Step>>(random_step(60, 60))) {
    take(tree, map, step);
    expect_same(tree, map);
  }
}

// Three levels deep, and down to nothing again. Keys come at random, rising or falling.
RC_GTEST_PROP(OrderedTree, StaysOneAsItGrowsDeepAndShrinks, ()) {
  Tree tree;
  Map map;
  const int kind = *rc::gen::inRange(0, 3);
  const auto steps = *rc::gen::container<std::vector<Step>>(3000, random_step(20'000, 100));
  int rising = 0;
  for (Step step : steps) {
    if (kind > 0) step.key = kind == 1 ? ++rising : 20'000 - ++rising;
    take(tree, map, step);
  }
  expect_same(tree, map);
  for (std::size_t i = 0; i < steps.size(); i += 100) expect_same_answers(tree, map, steps[i].key, steps[i].weight);
  const bool from_the_front = *rc::gen::arbitrary<bool>();
  for (std::size_t i = 0; !map.empty(); ++i) {
    take(tree, map, {false, from_the_front ? map.begin()->first : std::prev(map.end())->first, 0});
    if (i % 97 == 0) expect_same(tree, map);
  }
  expect_same(tree, map);
}

RC_GTEST_PROP(OrderedTree, AnswersAsAScanWould, ()) {
  Tree tree;
  Map map;
  for (const Step& step : *rc::gen::container<std::vector<Step>>(400, random_step(300, 70))) take(tree, map, step);
  for (int i = 0; i < 20; ++i) expect_same_answers(tree, map, *rc::gen::inRange(-1, 301), *rc::gen::inRange(0, 22));
}

TEST(OrderedTree, AnswersWhileItIsEmpty) {
  Tree tree;
  const auto any = [](const auto&) { return true; };
  EXPECT_EQ(tree.first(), nullptr);
  EXPECT_EQ(tree.find(any, any), nullptr);
  EXPECT_EQ(tree.find_after(3, any, any), nullptr);
  EXPECT_EQ(tree.seek(any), nullptr);
  EXPECT_EQ(tree.up_to(3).sum, 0);
  EXPECT_FALSE(tree.erase(3));
  tree.insert({1, 2});
  tree.clear();
  EXPECT_TRUE(tree.empty());
  EXPECT_FALSE(tree.erase(1));
  tree.insert({5, 4});
  EXPECT_EQ(tree.total().sum, 4);
}

}  // namespace
}  // namespace rota
