#include "report/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/random.h"
#include "report/fairness.h"
#include "report/mean.h"
#include "report/metrics.h"
#include "report/outcome.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kDraws = 1000;
constexpr std::uint64_t kSeed = 1;  // the same draws for every policy, and at every call

using Chosen = std::span<const Block* const>;

std::int64_t jobs_of(Chosen blocks) {
  std::int64_t jobs = 0;
  for (const Block* block : blocks) jobs += std::ssize(block->waits);
  return jobs;
}

double mean_of_jobs(Chosen blocks, double (*sum)(const Block&)) {
  const std::int64_t jobs = jobs_of(blocks);
  if (jobs == 0) return kNone;
  double all = 0;
  for (const Block* block : blocks) all += sum(*block);
  return all / static_cast<double>(jobs);
}

double quantile_of(Chosen blocks, double q) {
  std::vector<std::int64_t> waits;
  waits.reserve(static_cast<std::size_t>(jobs_of(blocks)));
  for (const Block* block : blocks) waits.insert(waits.end(), block->waits.begin(), block->waits.end());
  return waits.empty() ? kNone : quantile(waits, 0, q) / 1000;
}

double longest_of(Chosen blocks) {
  double longest = kNone;
  for (const Block* block : blocks) {
    if (block->waits.empty()) continue;
    const double wait = static_cast<double>(std::ranges::max(block->waits)) / 1000;
    longest = std::isnan(longest) ? wait : std::max(longest, wait);
  }
  return longest;
}

double fairness_of(Chosen blocks, const std::map<std::uint32_t, Block::Served> Block::* parties) {
  FairnessTally tally;
  for (const Block* block : blocks)
    for (const auto& [party, served] : block->*parties) tally.add(party, served.slowdown, served.jobs);
  return tally.conclude().index.value_or(kNone);
}

double sum_of(Chosen blocks, double Block::* figure) {
  double sum = 0;
  for (const Block* block : blocks) sum += block->*figure;
  return sum;
}

double late_share(Chosen blocks) {
  if (std::ranges::none_of(blocks, [](const Block* block) { return block->promises; })) return kNone;
  return mean_of_jobs(blocks, [](const Block& block) { return static_cast<double>(block.late); });
}

std::string percent(double share) { return readable_percent(share, 2) + " %"; }
std::string kwh(double value) { return readable_number(value, std::abs(value) < 1000 ? 1 : 0) + " kWh"; }
std::string two_places(double value) { return readable_number(value, 2); }

constexpr std::array kRules{
    Rule{"mean", "mean wait", "the mean wait", "time from submission to start, on average", false,
         [](Chosen blocks) { return mean_of_jobs(blocks, [](const Block& block) { return block.wait; }); },
         readable_seconds},
    Rule{"p95", "95 %", "the wait that 95 % do not exceed", "95 of 100 jobs wait no longer", false,
         [](Chosen blocks) { return quantile_of(blocks, 0.95); }, readable_seconds},
    Rule{"longest", "longest", "the longest wait", "the longest wait of all", false, longest_of, readable_seconds},
    Rule{"slowdown", "slowdown", "the mean bounded slowdown", "(wait + run) / run, runs below 10 s counted as 10 s",
         false, [](Chosen blocks) { return mean_of_jobs(blocks, [](const Block& block) { return block.slowdown; }); },
         two_places},
    Rule{"users", "fair to users", "Jain's index of users", "of the users' mean bounded slowdowns; 100 %: all alike",
         true, [](Chosen blocks) { return fairness_of(blocks, &Block::users); }, percent},
    Rule{"groups", "fair to groups", "Jain's index of groups", "the same of groups, which are Slurm's accounts", true,
         [](Chosen blocks) { return fairness_of(blocks, &Block::groups); }, percent},
    Rule{"promises", "late", "the share of late starts", "jobs that start later than first promised", false, late_share,
         percent},
    Rule{"kwh", "kWh", "what nodes draw", "kilowatt-hours of all nodes, where they are metered", false,
         [](Chosen blocks) { return sum_of(blocks, &Block::kilowatt_hours); }, kwh},
    Rule{"cost", "cost", "what electricity costs", "of these, at the price of the cluster file", false,
         [](Chosen blocks) { return sum_of(blocks, &Block::cost); }, two_places},
};

// Which blocks each draw has, as places.
std::vector<std::vector<std::size_t>> draws_of(std::size_t blocks) {
  Random random(kSeed);
  std::vector<std::vector<std::size_t>> draws(kDraws, std::vector<std::size_t>(blocks));
  for (auto& draw : draws)
    for (std::size_t& place : draw)
      place = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(blocks) - 1));
  return draws;
}

std::vector<const Block*> taken(const Blocks& blocks, const std::vector<std::size_t>& places) {
  std::vector<const Block*> chosen;
  for (const std::size_t place : places) chosen.push_back(&blocks[place]);
  return chosen;
}

// The middle 95 % of the draws, about the value.
Drawn bounds_of(double value, std::vector<double> draws, std::size_t blocks) {
  std::erase_if(draws, [](double draw) { return std::isnan(draw); });
  if (std::isnan(value) || draws.empty() || blocks < kFewestBlocks) return {value, -INFINITY, INFINITY};
  std::ranges::sort(draws);
  const auto at = [&](double q) { return draws[static_cast<std::size_t>(q * static_cast<double>(draws.size() - 1))]; };
  const auto n = static_cast<double>(blocks);
  const double wider = students_t(blocks - 1) / 1.959964 * std::sqrt(n / (n - 1));
  return {value, value - (value - std::min(value, at(0.025))) * wider,
          value + (std::max(value, at(0.975)) - value) * wider};
}

}  // namespace

void Block::add(const Job& job) {
  if (!job.ended()) return;
  const Duration waited = job.wait();
  const double slow = bounded_slowdown(waited, std::max(job.run_time(), Duration{1}));
  waits.push_back(std::max<std::int64_t>(waited.count(), 0));
  wait += to_seconds(waited);
  slowdown += slow;
  promises |= was_promised(job);
  late += was_promised(job) && job.start > job.first_promise ? 1 : 0;
  const auto serve = [&](std::map<std::uint32_t, Served>& parties, std::uint32_t party) {
    if (party == UINT32_MAX) return;
    Served& served = parties[party];
    ++served.jobs;
    served.slowdown += slow;
    served.wait += to_seconds(waited);
  };
  serve(users, job.spec.user);
  serve(groups, job.spec.group);
}

void Block::add_recorded(const Job& job, Duration really_waited) {
  if (!job.ended()) return;
  ++recorded_jobs;
  wait_of_recorded += to_seconds(job.start - job.spec.submit - job.earlier);
  recorded_wait += to_seconds(really_waited);
}

std::span<const Rule> rules() { return kRules; }

const Rule* rule_named(std::string_view name) {
  const auto* const found = std::ranges::find(kRules, name, &Rule::name);
  return found == kRules.end() ? nullptr : found;
}

double value_of(const Rule& rule, const Blocks& blocks) {
  std::vector<const Block*> all;
  for (const Block& block : blocks) all.push_back(&block);
  return rule.value(all);
}

Drawn drawn(const Rule& rule, const Blocks& blocks) {
  std::vector<double> values;
  for (const auto& places : draws_of(blocks.size())) values.push_back(rule.value(taken(blocks, places)));
  return bounds_of(value_of(rule, blocks), std::move(values), blocks.size());
}

Drawn drawn_gain(const Rule& rule, const Blocks& a, const Blocks& b) {
  CHECK(a.size() == b.size(), "policies are compared over the same blocks");
  const auto gain = [&](double of_a, double of_b) { return rule.higher ? of_b - of_a : of_a - of_b; };
  std::vector<double> gains;
  for (const auto& places : draws_of(a.size()))
    gains.push_back(gain(rule.value(taken(a, places)), rule.value(taken(b, places))));
  return bounds_of(gain(value_of(rule, a), value_of(rule, b)), std::move(gains), a.size());
}

}  // namespace rota::report
