// No knob of a policy is taken live without effect: for each value of each knob, the local engine's abilities refuse
// it, or some of many small clusters and workloads is scheduled otherwise with it than without. What decides in a
// rehearsal decides live: the controller and its links are the same.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <unistd.h>

#include "control/suitable.h"
#include "policy/registry.h"
#include "property/random_case.h"

namespace rota {
namespace {

// As engine/local has them; its own test holds them against these.
Capabilities local() {
  Capabilities can;
  can.tasks = can.sites = can.cancel = false;
  return can;
}

// Policies among which each knob has one that it changes.
constexpr const char* kBases[]{"easy",
                               "fcfs",
                               "fcfs-skip",
                               "conservative",
                               "easy+order=sjf",
                               "easy+order=fair",
                               "easy+order=hrrn",
                               "easy++",
                               "strict",
                               "rb-har",
                               "easy+preempt=checkpoint",
                               "easy+migrate=gain",
                               "fcfs+migrate=cpu-factor+poll=10+threshold=5",
                               "easy+power=demand+power-idle=10+power-wait=30",
                               "easy+power=demand+power-idle=10",
                               "easy+power=demand+power-thrift=10",
                               "easy+power=idle-timeout+power-idle=10",
                               "easy+power=load-factor+power-interval=7s+power-samples=2",
                               "easy+power=load-factor+power-interval=7s+power-samples=2+power-sample=latest",
                               "easy+power=load-factor+power-interval=7s+power-samples=2+power-published=yes",
                               "slurm",
                               "slurm+bf-interval=7s+bf-resolution=3s",
                               "slurm+bf-interval=7s+bf-resolution=3s+preempt=requeue",
                               "slurm+priority=multifactor+weight-age=9+weight-job-size=5",
                               "slurm+priority=multifactor+weight-age=1000000+weight-job-size=100",
                               "easy+bind=slot",
                               "easy+auction=english",
                               "easy+auction=announced",
                               "easy+auction=random"};

std::vector<std::string> values_of(const Knob& knob) {
  std::vector<std::string> all;
  for (const NamedValue& value : knob.names) all.emplace_back(value.name);
  const auto add = [&](std::initializer_list<const char*> more) { all.insert(all.end(), more.begin(), more.end()); };
  switch (knob.range.of) {
    case Range::Of::nothing:
      break;
    case Range::Of::whole_numbers:
      add({"0", "1", "2", "3", "7", "1000000"});
      break;
    case Range::Of::numbers:
      add({"0", "0.5", "0.9", "1.2", "3", "50", "100"});
      break;
    case Range::Of::times:
      add({"0", "1s", "3s", "20s", "300s"});
      break;
  }
  return all;
}

// Small clusters and workloads, each with the plans that the bases make of it.
struct Trial {
  explicit Trial(const Case& made) {
    counted = made.cluster.starts_with("processors");
    const auto path = std::filesystem::temp_directory_path() / (fmt::format("rota-knobs-{}.sched", getpid()));
    std::ofstream(path) << made.text();
    file = golden::SchedReader::read(path);
    std::filesystem::remove(path);
  }

  // Where processors are counted no node sleeps, and none is faster.
  bool fits(std::string_view policy) const {
    return !counted || !(policy.contains("power=") || policy.contains("migrate="));
  }

  std::optional<std::uint64_t> plan_of(const Chain& chain) const {
    const auto rehearsed = rehearse(scenario::workload_of(file.jobs), chain, file.options);
    return rehearsed ? std::optional(rehearsed->summary.plan_hash) : std::nullopt;
  }

  std::optional<std::uint64_t> base_plan_of(const char* base) {
    const auto [it, is_new] = base_plans.try_emplace(base);
    if (is_new) it->second = plan_of(*Chain::parse(base));
    return it->second;
  }

  golden::SchedFile file;
  bool counted = false;
  std::map<std::string, std::optional<std::uint64_t>> base_plans;
};

// What chance seldom makes: a long job that a node comes free for which is faster, and jobs that differ in their
// memory.
std::vector<Case> made_by_hand() {
  return {
      {"node 1 8 factor=2000\nnode 1 8 factor=1000\n",
       "easy",
       {"1 0 1 400 20", "2 0 1 2000 1000 checkpoint=5", "3 900 1 400 100 checkpoint=5"}},
      {"node 1 8 factor=2000\nnode 1 8 factor=1000\n",
       "easy",
       {"1 0 1 400 20", "2 0 1 600 500 checkpoint=50", "3 700 1 400 300 rerun=1"}},
      {"node 4 8\n", "easy", {"1 0 4 20 20", "2 1 2 20 20 memory=1", "3 2 4 20 20 memory=8", "4 3 2 20 20 memory=4"}}};
}

std::vector<Trial> made_trials() {
  constexpr std::uint64_t kSeeds = 400;
  std::vector<Trial> trials;
  for (const Case& made : made_by_hand()) trials.emplace_back(made);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (!Generator(seed).made_for("easy").cluster.starts_with("site"))
      trials.emplace_back(Generator(seed).made_for("easy"));
  }
  return trials;
}

bool is_word(const Knob& knob, std::string_view value) {
  return std::ranges::any_of(knob.names, [&](const NamedValue& word) { return word.name == value; });
}

std::string without_knob(const std::string& policy, std::string_view knob) {
  std::string kept;
  for (const auto part : std::views::split(std::string_view(policy), '+')) {
    const std::string_view word(part);
    if (word.starts_with(std::string(knob) + "=")) continue;
    kept += (kept.empty() ? "" : "+") + std::string(word);
  }
  return kept;
}

// What has an effect only beside something else, or with what these cases lack.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kBeside{
    {{"priority=multifactor", "+weight-job-size=1000000"},
     {"power-sample=latest", "+power-window=2"},
     {"power-sample=drawn", "+power-window=2"}}};
constexpr std::array<std::string_view, 5> kTestedElsewhere{
    // in tests/golden/slurm_priorities_test.cc, and of accounts in model/share_tree_test.cc
    "weight-qos", "weight-tres-mem", "weight-tres-gpu", "fair-tree", "fair-dampening"};

enum class Found { refused, works, idle, nowhere };

std::string beside(const Knob& knob, std::string_view value) {
  const std::string word = fmt::format("{}={}", knob.name, value);
  const auto found = std::ranges::find(kBeside, word, &std::pair<std::string_view, std::string_view>::first);
  return found == kBeside.end() ? "" : std::string(found->second);
}

// Nowhere: the value goes with none of the bases, or is what they have.
Found found_of(const Knob& knob, const std::string& value, std::vector<Trial>& trials) {
  struct Pair {
    const char* base;
    std::string text;
    Chain with;
  };
  std::vector<Pair> pairs;
  bool refused = false;
  for (const char* const base : kBases) {
    const std::string text =
        fmt::format("{}+{}={}{}", without_knob(base, knob.name), knob.name, value, beside(knob, value));
    auto with = Chain::parse(text);
    const auto without = Chain::parse(base);
    if (!with || !without || with->knobs() == without->knobs()) continue;
    if (!engine_suits(*with, local()) || with->knobs().power.knows_the_log()) {
      refused = true;
    } else {
      pairs.push_back({base, text, std::move(*with)});
    }
  }
  if (pairs.empty()) return refused ? Found::refused : Found::nowhere;
  for (Trial& trial : trials) {
    for (const Pair& pair : pairs) {
      if (!trial.fits(pair.text)) continue;
      const auto without = trial.base_plan_of(pair.base);
      const auto with = without ? trial.plan_of(pair.with) : std::nullopt;
      if (with && *with != *without) return Found::works;
    }
  }
  return Found::idle;
}

// Each word of a knob, and one of the numbers of a knob that takes numbers.
TEST(LiveKnobs, EachIsCarriedOutOrRefused) {
  std::vector<Trial> trials = made_trials();
  for (const Knob* const knob : every_knob()) {
    if (std::ranges::find(kTestedElsewhere, knob->name) != kTestedElsewhere.end()) continue;
    Found numbers = Found::nowhere;
    for (const std::string& value : values_of(*knob)) {
      if (value == knob->fallback) continue;  // what a policy has that says nothing
      const Found found = found_of(*knob, value, trials);
      if (is_word(*knob, value)) {
        EXPECT_NE(found, Found::idle) << knob->name << "=" << value << " is taken and changes nothing";
        EXPECT_NE(found, Found::nowhere) << knob->name << "=" << value
                                         << " goes with none of the policies of this test";
      } else if (found == Found::works) {
        numbers = found;
        break;
      } else if (found != Found::nowhere) {
        numbers = found;
      }
    }
    if (knob->range.of == Range::Of::nothing) continue;
    EXPECT_NE(numbers, Found::idle) << knob->name << " takes numbers, and none of them changes anything";
    EXPECT_NE(numbers, Found::nowhere) << knob->name << "'s numbers go with none of the policies of this test";
  }
}

}  // namespace
}  // namespace rota
