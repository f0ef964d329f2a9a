// No knob of a policy is taken live without effect: for each value of each knob, the local engine's abilities refuse
// it, or some of many small clusters and workloads is scheduled otherwise with it than without. What decides in a
// rehearsal decides live: the controller and its links are the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
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
  can.tasks = can.sites = false;
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
                               "easy+power=load-factor+power-interval=7s+power-samples=2+power-published=yes",
                               "slurm",
                               "slurm+bf-interval=7s+bf-resolution=3s",
                               "slurm+priority=multifactor+weight-age=9+weight-job-size=5",
                               "slurm+priority=multifactor+weight-age=9",
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
      add({"0", "1", "2", "3", "7"});
      break;
    case Range::Of::numbers:
      add({"0", "0.5", "0.9", "1.2", "3", "50"});
      break;
    case Range::Of::times:
      add({"0", "1s", "3s", "20s", "300s"});
      break;
  }
  return all;
}

std::optional<std::uint64_t> plan_of(const Case& made) {
  const auto path = std::filesystem::temp_directory_path() / ("rota-knobs-" + std::to_string(getpid()) + ".sched");
  std::ofstream(path) << made.text();
  const golden::SchedFile file = golden::SchedReader::read(path);
  std::filesystem::remove(path);
  const auto rehearsed = rehearse(scenario::workload_of(file.jobs), scenario::chain_of(file.policy), file.options);
  return rehearsed ? std::optional(rehearsed->summary.plan_hash) : std::nullopt;
}

// Whether some case is scheduled otherwise with the one than with the other.
bool differ(const std::string& one, const std::string& other) {
  constexpr std::uint64_t kCases = 150;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Case made = Generator(seed).made_for(one);
    const bool counted = made.cluster.starts_with("processors");  // where no node sleeps, and none is faster
    if (made.cluster.starts_with("site") || (counted && (one.contains("power=") || one.contains("migrate=")))) continue;
    const auto with = plan_of(made);
    made.policy = other;
    const auto without = plan_of(made);
    if (with && without && *with != *without) return true;
  }
  return false;
}

enum class Found { refused, works, idle, nowhere };

// Nowhere: the value goes with none of the bases, or is what they have.
Found found_of(const Knob& knob, const std::string& value) {
  Found found = Found::nowhere;
  for (const char* const base : kBases) {
    const std::string text = std::string(base) + "+" + std::string(knob.name) + "=" + value;
    const auto with = Chain::parse(text), without = Chain::parse(base);
    if (!with || !without || with->knobs() == without->knobs()) continue;
    if (!engine_suits(*with, local()) || with->knobs().power.knows_the_log()) {
      if (found == Found::nowhere) found = Found::refused;
    } else if (differ(text, base)) {
      return Found::works;
    } else {
      found = Found::idle;
    }
  }
  return found;
}

TEST(LiveKnobs, EachIsCarriedOutOrRefused) {
  for (const Knob* const knob : every_knob()) {
    bool some = false;
    for (const std::string& value : values_of(*knob)) {
      const Found found = found_of(*knob, value);
      if (found != Found::nowhere) some = true;
      EXPECT_NE(found, Found::idle) << knob->name << "=" << value << " is taken and changes nothing";
    }
    EXPECT_TRUE(some) << knob->name << " goes with none of the policies of this test";
  }
}

}  // namespace
}  // namespace rota
