// Several sites at random: whatever the policies do, every job of the log leaves one site, once, and fits there; and
// one site is the cluster that it is.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "model/never_fits.h"
#include "scenario/scenario.h"

namespace rota {
namespace {

using scenario::Row;

Machine nodes_of(const std::string& name, std::int64_t nodes, std::int64_t processors) {
  Machine machine;
  machine.name = name;
  machine.racks = {""};
  machine.processors = nodes * processors;
  for (std::int64_t i = 0; i < nodes; ++i) {
    Node node;
    node.name = name + std::to_string(i);
    node.processors = static_cast<std::uint32_t>(processors);
    node.power = {.off = 1, .idle = 10, .busy = 1, .boot = seconds(*rc::gen::inRange(1, 9)), .shutdown = seconds(1)};
    node.cpu_factor = i % 2 == 0 ? 1000 : 1500;
    machine.nodes.push_back(node);
  }
  return machine;
}

Machine whole_of(std::vector<Machine> sites) {
  Machine whole = sites.front();
  whole.name = "whole";
  for (std::size_t s = 1; s < sites.size(); ++s) {
    whole.processors += sites[s].processors;
    whole.nodes.insert(whole.nodes.end(), sites[s].nodes.begin(), sites[s].nodes.end());
  }
  whole.sites = std::move(sites);
  return whole;
}

std::string any_siting() {
  return *rc::gen::element<std::string>(
      "none", "announced", "announced+auction-bid=rate", "announced+auction-bid=published+auction-close=on-time",
      "english+auction-round=3+auction-look=2", "english+auction-round=5+auction-look=7+auction-bid=plan",
      "announced+auction-round=2+auction-margin=1+auction-second-thoughts=2s",
      "english+auction-round=3+auction-look=2+auction-bid=rate+auction-margin=0+auction-second-thoughts=2s", "random",
      "english+auction-round=3+auction-look=2+auction-join=freed+auction-minimum=0+auction-buyers=2+auction-head=yes"
      "+auction-early=yes",
      "announced+auction-buyers=2+auction-early=yes+auction-second-thoughts=2s", "round-robin", "least-loaded", "race",
      "staged-race");
}

std::string any_policy() {
  return *rc::gen::element<std::string>(
      "easy", "fcfs", "conservative", "easy++", "grace", "easy+power=demand", "easy+power=idle-timeout+power-idle=5s",
      "easy+migrate=gain", "easy+power=demand+power-idle=3s+migrate=gain",
      "grace+power=demand+power-idle=3s+migrate=gain", "easy+preempt=suspend+power=demand+power-idle=3s+migrate=gain");
}

std::string licences_text(const Row& r) {
  std::vector<NamedLicences> licences;
  if (r.licences > 0) licences.push_back({"solver", r.licences});
  if (r.second_licences > 0) licences.push_back({"mesher", r.second_licences});
  return fmt::format("\"{}\"", named_licences_text(licences));
}

RehearseOptions on(const Machine& machine, const std::vector<Row>& rows) {
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  std::string sidecar = "job,input,site,restart,restart_cost,accelerators,licences\n";
  for (const Row& r : rows) {
    const auto site = static_cast<std::size_t>(r.number) % (machine.sites.size() + 1);
    const std::string name = site < machine.sites.size() ? machine.sites[site].name : "";
    sidecar += fmt::format("{},{},{},checkpoint,1,{},{}\n", r.number, r.number % 5 * 10, name,
                           r.accelerators > 0 ? std::to_string(r.accelerators) : "", licences_text(r));
  }
  auto read = log::Attributes::parse(sidecar, "sidecar", &machine);
  RC_ASSERT(read.has_value());
  options.attributes = std::make_shared<const log::Attributes>(std::move(*read));
  return options;
}

report::Outcome what_becomes_of(const std::vector<Row>& rows, const std::string& policy,
                                const RehearseOptions& options) {
  auto rehearsed = rehearse(scenario::workload_of(rows), scenario::chain_of(policy), options);
  if (!rehearsed) throw std::runtime_error(rehearsed.error().message);
  RC_ASSERT(rehearsed->summary.jobs == static_cast<std::int64_t>(rows.size()));
  RC_ASSERT(rehearsed->summary.unfinished == 0);
  std::int64_t at_sites = 0;
  for (const report::Summary& site : rehearsed->summary.sites) at_sites += site.jobs;
  RC_ASSERT(rehearsed->summary.sites.empty() || at_sites == rehearsed->summary.jobs);
  return std::move(rehearsed->outcome);
}

// Processors that are held at one instant by last dispatches, which is where jobs end.
void expect_room(const report::Outcome& outcome, const Machine& whole) {
  std::map<std::pair<std::uint32_t, Instant>, std::int64_t> changes;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    RC_ASSERT(outcome.site_of[i].valid() == job.ended());
    if (!job.ended()) {
      for (const Machine& site : whole.sites) {
        RC_ASSERT(outcome.policy.ends_with("=none") || job.spec.processors > site.processors);
      }
      continue;
    }
    changes[{outcome.site_of[i].value, job.start}] += job.spec.processors;
    changes[{outcome.site_of[i].value, job.end}] -= job.spec.processors;
  }
  std::int64_t held = 0;  // comes back to 0 from site to site
  for (const auto& [where, change] : changes) {
    held += change;
    RC_ASSERT(held <= whole.sites[where.first].processors);
  }
}

RC_GTEST_PROP(Sites, LoseNoJobAndRunNoneTwice, ()) {
  std::vector<Machine> sites{nodes_of("a", *rc::gen::inRange(1, 4), 2), nodes_of("b", *rc::gen::inRange(1, 5), 2)};
  if (*rc::gen::arbitrary<bool>()) sites.push_back(nodes_of("c", 2, 4));
  for (Machine& site : sites) site.bandwidth = *rc::gen::element(0, 5, 20);
  const Machine whole = whole_of(sites);
  auto rows = *scenario::random_rows({.processors = 9, .overruns = true, .priorities = true});
  RC_PRE(!rows.empty());
  for (Row& r : rows) r.user = UINT32_MAX;
  const std::string base = any_policy();
  const std::string siting = any_siting();
  const std::string policy = fmt::format("{}+auction={}", base, siting);
  const RehearseOptions options = on(whole, rows);
  const report::Outcome once = what_becomes_of(rows, policy, options);
  for (const Job& job : once.jobs) {
    RC_ASSERT(job.ended() || job.state == JobState::rejected);
    RC_ASSERT(job.start == kNever || job.start >= job.spec.submit);
  }
  expect_room(once, whole);
  const report::Outcome again = what_becomes_of(rows, policy, options);
  RC_ASSERT(once.plan_hash == again.plan_hash);
  RC_ASSERT(once.site_of == again.site_of);
}

// Whether there is one among the sites that could ever run it.
bool fits_somewhere(const Machine& whole, const Job& job) {
  return std::ranges::any_of(whole.sites, [&](const Machine& site) { return !never_fits(site, job.spec); });
}

// Accelerators that jobs hold at one instant at a site are there; each job is on one node.
void expect_accelerators(const report::Outcome& outcome, const Machine& whole) {
  std::map<std::pair<std::uint32_t, Instant>, std::int64_t> changes;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    RC_ASSERT(job.ended() == fits_somewhere(whole, job));
    if (!job.ended()) continue;
    RC_ASSERT(!never_fits(whole.sites[outcome.site_of[i].value], job.spec));
    changes[{outcome.site_of[i].value, job.start}] += job.spec.accelerators;
    changes[{outcome.site_of[i].value, job.end}] -= job.spec.accelerators;
  }
  std::int64_t held = 0;
  for (const auto& [where, change] : changes) {
    held += change;
    std::int64_t all = 0;
    for (const Node& node : whole.sites[where.first].nodes) all += node.accelerators;
    RC_ASSERT(held <= all);
  }
}

RC_GTEST_PROP(Sites, RunJobsWhereTheirAcceleratorsAndLicencesAre, ()) {
  std::vector<Machine> sites{nodes_of("a", *rc::gen::inRange(1, 4), 2), nodes_of("b", *rc::gen::inRange(1, 4), 3),
                             nodes_of("c", 2, 4)};
  for (Machine& site : sites) {
    site.bandwidth = 20;
    site.accelerator_types = {"gpu"};
    site.licences = {{"solver", *rc::gen::inRange(0, 4)}, {"mesher", *rc::gen::inRange(0, 3)}};
    for (Node& node : site.nodes) {
      node.accelerators = node.name == "c0" ? 2 : *rc::gen::inRange(0U, 3U);
      node.accelerator_type = node.accelerators > 0 ? AcceleratorTypeId{0} : AcceleratorTypeId{};
    }
  }
  const Machine whole = whole_of(sites);
  auto rows = *scenario::random_rows({.processors = 4, .overruns = true, .priorities = true});
  RC_PRE(!rows.empty());
  for (Row& r : rows) {
    r.user = UINT32_MAX;
    r.nodes = 1;
    r.accelerators = *rc::gen::element<std::uint8_t>(0, 0, 1, 2);
    r.licences = *rc::gen::element(0U, 0U, 1U, 2U);
    r.second_licences = *rc::gen::element(0U, 0U, 0U, 1U, 2U);
  }
  const std::string base = any_policy();
  const std::string policy = fmt::format(
      "{}+auction={}", base,
      *rc::gen::element<std::string>(
          "announced", "announced+auction-bid=rate", "announced+auction-bid=published+auction-close=on-time",
          "english+auction-round=3+auction-look=2", "english+auction-round=5+auction-look=7+auction-bid=plan", "race"));
  RC_LOG() << policy << "\n";
  expect_accelerators(what_becomes_of(rows, policy, on(whole, rows)), whole);
}

RC_GTEST_PROP(Sites, LetHigherPrioritiesPreemptAtOneOfThemOnly, ()) {
  Machine a = Machine::counted(*rc::gen::inRange(4, 9));
  Machine b = Machine::counted(*rc::gen::inRange(4, 9));
  a.name = "a";
  b.name = "b";
  a.bandwidth = b.bandwidth = 20;
  const Machine whole = whole_of({a, b});
  const auto rows = *scenario::random_rows({.processors = 8, .priorities = true});
  RC_PRE(!rows.empty());
  const std::string policy =
      fmt::format("{}+preempt={}+auction={}", *rc::gen::element<std::string>("fcfs-skip", "easy"),
                  *rc::gen::element<std::string>("suspend", "requeue", "checkpoint+checkpoint=2"), any_siting());
  const report::Outcome outcome = what_becomes_of(rows, policy, on(whole, rows));
  for (const Job& job : outcome.jobs) RC_ASSERT(job.ended() || job.state == JobState::rejected);
}

RC_GTEST_PROP(Sites, OfWhichThereIsOneAreTheClusterThatItIs, ()) {
  const Machine alone = nodes_of("a", *rc::gen::inRange(1, 6), 2);
  const auto rows = *scenario::random_rows({.processors = 9, .overruns = true, .priorities = true});
  RC_PRE(!rows.empty());
  const std::string policy = any_policy();
  const std::string siting = any_siting();
  const report::Outcome plain = what_becomes_of(rows, policy, on(alone, rows));
  const report::Outcome site =
      what_becomes_of(rows, fmt::format("{}+auction={}", policy, siting), on(whole_of({alone}), rows));
  RC_ASSERT(plain.plan_hash == site.plan_hash);
  RC_ASSERT(site.sites.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(plain.jobs[i].start == site.jobs[i].start && plain.jobs[i].end == site.jobs[i].end);
  }
  RC_ASSERT(plain.power->energy == site.power->energy);
  RC_ASSERT(plain.power->off == site.power->off);
}

}  // namespace
}  // namespace rota
