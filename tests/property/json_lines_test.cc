// One file of JSON lines says what SWF and a sidecar say: the rehearsals are the same to the byte, whichever of them is
// read, on one cluster and on several sites.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "log/attributes.h"
#include "log/json_lines.h"
#include "log/swf.h"
#include "log/swf_writer.h"
#include "policy/chain.h"
#include "rehearse/rehearse.h"
#include "report/jobs_file.h"

namespace rota {
namespace {

using log::JobAttributes;
using log::SwfField;
using log::SwfRow;

struct Line {
  SwfRow row;
  JobAttributes attributes;
};

std::int64_t below(std::int64_t end) { return *rc::gen::inRange<std::int64_t>(0, end); }
bool chance(int in) { return below(in) == 0; }

void set(SwfRow& row, SwfField field, std::int64_t value) { row.value[static_cast<std::size_t>(field)] = value; }

void set_time(SwfRow& row, SwfField field, std::int64_t ms) {
  const auto i = static_cast<std::size_t>(field);
  row.value[i] = ms / 1000;
  row.thousandths[i] = static_cast<std::int16_t>(ms % 1000);
  row.fractions = ms % 1000 == 0 ? row.fractions & ~(1U << i) : row.fractions | 1U << i;
}

SwfRow any_row(std::int64_t number) {
  SwfRow row;
  row.value.fill(-1);
  row.columns = log::kSwfFields;
  set(row, SwfField::number, number);
  set_time(row, SwfField::submit, below(100'000));
  if (!chance(10)) set_time(row, SwfField::run, below(60'000));
  if (!chance(10)) set(row, SwfField::processors, 1 + below(8));
  if (!chance(3)) set(row, SwfField::requested_processors, 1 + below(8));
  if (!chance(3)) set_time(row, SwfField::requested_time, 1 + below(90'000));
  if (chance(2)) set(row, SwfField::user, below(4));
  if (chance(2)) set(row, SwfField::group, below(3));
  if (chance(2)) set(row, SwfField::partition, 1 + below(2));
  if (chance(3)) set(row, SwfField::status, below(6));
  if (chance(3)) set_time(row, SwfField::wait, below(2000) - 1000);
  return row;
}

JobAttributes any_attributes(bool sites) {
  JobAttributes attributes;
  if (chance(4)) attributes.nodes = static_cast<std::uint32_t>(1 + below(2));
  if (chance(4)) attributes.memory = 1 + below(1 << 20);
  if (chance(3)) {
    attributes.licences = {{chance(2) ? "matlab" : "fluent", static_cast<std::uint32_t>(1 + below(2))}};
    if (chance(2)) attributes.licences.push_back({"solver", static_cast<std::uint32_t>(1 + below(4))});
  }
  if (chance(2)) attributes.restart = chance(2) ? Restart::checkpoint : Restart::from_start;
  if (attributes.restart != Restart::never) attributes.restart_cost = Duration{below(5000)};
  if (chance(3)) attributes.priority = static_cast<std::int32_t>(below(5)) - 2;
  if (chance(4)) {
    attributes.tasks.count = static_cast<std::uint32_t>(1 + below(20));
    attributes.tasks.accelerator = Duration{1 + below(3000)};
    attributes.tasks.transfer = below(1 << 20);
    attributes.tasks.start_up = Duration{below(3000)};
    if (chance(2)) attributes.tasks.cpu = Duration{1 + below(3000)};
    if (attributes.tasks.cpu > Duration{0}) attributes.tasks.limit = Duration{below(3000)};
  }
  if (sites && chance(3)) attributes.input = below(1 << 30);
  if (sites && chance(3)) attributes.site = chance(2) ? "east" : "west";
  return attributes;
}

std::vector<Line> any_lines(bool sites) {
  std::vector<Line> lines;
  const std::int64_t jobs = 1 + below(25);
  for (std::int64_t i = 0; i < jobs; ++i) {
    lines.push_back({any_row(chance(5) ? 1000 - i : i), chance(3) ? JobAttributes{} : any_attributes(sites)});
  }
  return lines;
}

Machine cluster(const std::string& name, std::int64_t nodes) {
  Machine machine;
  machine.name = name;
  machine.racks = {""};
  machine.processors = nodes * 4;
  machine.licences = {{"fluent", 2}, {"solver", 4}, {"matlab", 3}};
  for (std::int64_t i = 0; i < nodes; ++i) {
    Node node;
    node.name = name + std::to_string(i);
    node.processors = 4;
    node.memory = std::int64_t{1} << 30U;
    node.cpu_factor = i % 2 == 0 ? 1000 : 1500;
    machine.nodes.push_back(node);
  }
  return machine;
}

Machine federation() {
  Machine whole = cluster("east", 3);
  Machine west = cluster("west", 2);
  Machine east = whole;
  whole.name = "whole";
  whole.processors += west.processors;
  whole.nodes.insert(whole.nodes.end(), west.nodes.begin(), west.nodes.end());
  whole.sites = {std::move(east), std::move(west)};
  return whole;
}

std::string jobs_of(const log::Workload& workload, const Machine& machine, const log::Attributes& attributes,
                    const std::string& policy) {
  RehearseOptions options;
  options.machine = std::make_shared<const Machine>(machine);
  options.processors = machine.processors;
  options.keep_jobs = true;
  options.attributes = std::make_shared<const log::Attributes>(attributes);
  const TaskTable& tasks = options.attributes->tasks();
  if (!tasks.empty()) options.tasks = std::shared_ptr<const TaskTable>(options.attributes, &tasks);
  const auto chain = Chain::parse(policy);
  RC_ASSERT(chain.has_value());
  const auto rehearsed = rehearse(workload, *chain, options);
  if (!rehearsed) RC_FAIL(rehearsed.error().message);
  std::ostringstream out;
  report::write_jobs_csv(out, rehearsed->outcome);
  return out.str();
}

void check_on(const Machine& machine, const std::string& policy) {
  const std::vector<Line> lines = any_lines(!machine.sites.empty());
  log::LogTop top;
  top.processors = machine.processors;
  top.partitions = {{1, "batch"}, {2, "batch too"}};
  std::ostringstream swf, sidecar, json;
  {
    log::SwfWriter swf_writer(swf);
    log::SidecarWriter sidecar_writer(sidecar);
    log::JsonLinesWriter json_writer(json);
    swf_writer.top(top);
    json_writer.top(top);
    for (const Line& line : lines) {
      swf_writer.row(line.row);
      RC_ASSERT(sidecar_writer.row(line.row[SwfField::number], line.attributes).has_value());
      json_writer.job(line.row, line.attributes);
    }
  }
  const log::SwfOptions keep{.keep_cancelled = true};
  const auto two = log::parse_swf(swf.str(), "a.swf", keep);
  const auto one = log::parse_json_lines(json.str(), "a.jsonl", keep);
  RC_ASSERT(two.has_value());
  if (!one) RC_FAIL(one.error().message);
  const auto beside = log::Attributes::parse(sidecar.str(), "a.csv", &machine);
  RC_ASSERT(beside.has_value());
  const auto table = one->attributes ? one->attributes : std::make_shared<const log::AttributeTable>("a.jsonl");
  const auto inside = log::Attributes::match(table, &machine);
  RC_ASSERT(inside.has_value());
  RC_ASSERT(jobs_of(*one, machine, *inside, policy) == jobs_of(*two, machine, *beside, policy));
}

RC_GTEST_PROP(JsonLinesProperty, one_file_says_what_swf_and_a_sidecar_say, ()) {
  check_on(cluster("c", 4),
           *rc::gen::element<std::string>("easy", "conservative", "fcfs", "easy+preempt=suspend", "easy+migrate=gain"));
}

RC_GTEST_PROP(JsonLinesProperty, one_file_says_it_of_several_sites_too, ()) {
  check_on(federation(), *rc::gen::element<std::string>("easy", "easy+auction=announced", "easy+auction=race"));
}

}  // namespace
}  // namespace rota
