#include "swarm/safety.h"

#include <fmt/core.h>

#include <algorithm>

namespace rota::swarm {
namespace {

std::string named(std::int64_t number) { return "job " + std::to_string(number); }

}  // namespace

Safety::Safety(const Case& drawn) : drawn_(drawn), bookings_(drawn) {
  for (const CaseJob& job : drawn.jobs) {
    jobs_[job.spec.number] = &job;
    least_begin_[job.spec.number] = at_seconds(job.begin);
    if (job.has_terms && job.array != 0) amends_throttle(job.array, job.throttle);
    if ((job.holds & kHolds) != 0) held_.insert(job.spec.number);
  }
}

void Safety::submits(std::int64_t number, JobId id, std::vector<Dependency> after) {
  numbers_[id] = number;
  after_[number] = std::move(after);
}

JobId Safety::id_of(std::int64_t number) const {
  const auto found = ids_.find(number);
  return found == ids_.end() ? JobId{} : found->second;
}

std::int64_t Safety::number_of(JobId id) const {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? 0 : found->second;
}

bool Safety::all_ended() const {
  const auto known = [&](const CaseJob& job) { return ids_.contains(job.spec.number); };
  return ends_.size() == ids_.size() && std::all_of(drawn_.jobs.begin(), drawn_.jobs.end(), known);
}

void Safety::endured(const Fact& fact) {
  if (const auto* submitted = std::get_if<Submitted>(&fact.what)) {
    expect(ids_.emplace(submitted->spec.number, submitted->job).second,
           named(submitted->spec.number) + " is known twice");
  } else if (const auto* finished = std::get_if<Finished>(&fact.what)) {
    ends(finished->job);
  } else if (const auto* cancelled = std::get_if<Cancelled>(&fact.what)) {
    if (going_.erase(cancelled->job) == 0) return ends(cancelled->job);
    ids_.erase(numbers_[cancelled->job]);
  } else if (const auto* failed = std::get_if<LaunchFailed>(&fact.what)) {
    if (!failed->again) ends(failed->job);
  } else if (const auto* reserved = std::get_if<Reserved>(&fact.what)) {
    bookings_.endured(*reserved);
  } else if (const auto* taken_back = std::get_if<Unreserved>(&fact.what)) {
    bookings_.endured(*taken_back);
  }
}

void Safety::ends(JobId id) { expect(++ends_[id] == 1, named(numbers_[id]) + " has ended twice"); }

void Safety::issued(const Command& start, Instant now, const sim::RunLedger& world) {
  if (!keys_.insert(start.key).second) return;
  const std::int64_t number = numbers_[start.job];
  expect(id_of(number) == start.job, named(number) + " is started and its submission is not durable");
  expect(!ended(start.job), named(number) + " is started and has ended");
  expect(!held_.contains(number), named(number) + " is started and is held");
  expect(least_begin_[number] <= now, named(number) + " is started before its begin time");
  const std::string taken = bookings_.taken_by(start, now, world);
  expect(taken.empty(), fmt::format("{} is started and takes {}", named(number), taken));
  for (const Dependency& d : after_[number]) {
    const auto on = world.all().find(d.on);
    const bool begun = on != world.all().end() && on->second.dispatch != kAnyDispatch;
    const auto* end = begun && !on->second.runs && on->second.end ? std::get_if<Finished>(&*on->second.end) : nullptr;
    const bool succeeded = end && end->outcome == Outcome::completed;
    bool met = ended(d.on);
    if (d.when == Dependency::When::started) met = met || begun;
    if (d.when == Dependency::When::succeeded) met = met && succeeded;
    if (d.when == Dependency::When::failed) met = met && !succeeded;
    expect(met, fmt::format("{} is started before {}, for which it waits", named(number), named(numbers_[d.on])));
  }
}

void Safety::look(const sim::RunLedger& world, std::int64_t processors) {
  std::int64_t used = 0;
  std::vector<std::int64_t> licences(drawn_.machine.licences.size());
  std::map<std::int64_t, std::uint32_t> of_array;
  for (const auto& [id, run] : world.all()) {
    if (!run.runs) continue;
    const CaseJob& running = job(numbers_[id]);
    used += running.spec.processors;
    each_licence(running.spec, [&](LicenceId kind, std::uint32_t count) { licences.at(kind.value) += count; });
    if (running.has_terms && running.array != 0) {
      expect(++of_array[running.array] <= most_[running.array],
             fmt::format("too many jobs of array {} run", running.array));
    }
  }
  expect(used <= processors, fmt::format("jobs really run on {} processors", used));
  for (std::size_t kind = 0; kind < licences.size(); ++kind) {
    const Licence& licence = drawn_.machine.licences[kind];
    expect(licences[kind] <= licence.count,
           fmt::format("jobs really hold {} licences of {}", licences[kind], licence.name));
  }
  expect(world.counts().overlaps == 0, "a job was started while it ran");
  expect(world.counts().reruns == 0, "a job was started that had run to its end");
  if (!drawn_.counted) look_at_nodes(world);
}

void Safety::look_at_nodes(const sim::RunLedger& world) {
  std::vector<std::int64_t> processors(drawn_.machine.nodes.size());
  std::vector<std::int64_t> memory(drawn_.machine.nodes.size());
  std::vector<std::int64_t> accelerators(drawn_.machine.nodes.size());
  for (const auto& [id, run] : world.all()) {
    if (!run.runs) continue;
    std::int64_t got = 0;
    for (const Share& s : run.where.shares) {
      got += s.processors;
      processors[s.node.value] += s.processors;
      memory[s.node.value] += job(numbers_[id]).spec.memory;
      accelerators[s.node.value] += job(numbers_[id]).spec.accelerators;
      const auto& node = world.nodes()[s.node.value];
      expect(node.power == PowerState::on && node.health != Health::down,
             named(numbers_[id]) + " runs on a node that is away");
    }
    expect(got == job(numbers_[id]).spec.processors, named(numbers_[id]) + " runs on another number of processors");
  }
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const Node& node = drawn_.machine.nodes[i];
    expect(processors[i] <= node.processors, fmt::format("node {} really runs {}", node.name, processors[i]));
    expect(accelerators[i] <= node.accelerators,
           fmt::format("node {} has fewer accelerators than are used", node.name));
    expect(node.memory == 0 || memory[i] <= node.memory,
           fmt::format("node {} has less memory than is used", node.name));
  }
}

std::string Safety::missing() const {
  std::string list;
  for (const CaseJob& j : drawn_.jobs) {
    const JobId id = id_of(j.spec.number);
    if (!id.valid()) list += fmt::format(" {} (never durable)", j.spec.number);
    if (id.valid() && !ended(id)) list += " " + std::to_string(j.spec.number);
  }
  return list;
}

}  // namespace rota::swarm
