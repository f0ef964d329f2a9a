#include "log/job_attributes.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/job_terms.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr std::int64_t kMostNodes = INT32_MAX;
constexpr Duration kLongestTask = seconds(8'640'000);
constexpr std::int64_t kMostTransfer = std::int64_t{1} << 50U;

using From = const JobAttributes&;
using Into = JobAttributes&;

void write_count(std::int64_t count, std::string& out) {
  if (count != 0) out += std::to_string(count);
}

void write_time(Duration time, std::string& out) {
  if (time.count() == 0) return;
  write_count(time.count() / 1000, out);
  if (time.count() < 1000) out += '0';
  if (time.count() % 1000 == 0) return;
  std::string places = std::to_string(1000 + time.count() % 1000).substr(1);
  while (places.back() == '0') places.pop_back();
  out += "." + places;
}

Result<void> read_nodes(std::string_view text, Into into) {
  const auto nodes = parse_integer(text);
  if (!nodes || *nodes < 1 || *nodes > kMostNodes) {
    return fail("nodes are a whole number from 1 on, not {}.", quoted(text));
  }
  into.nodes = static_cast<std::uint32_t>(*nodes);
  return {};
}

Result<void> read_memory(std::string_view text, Into into) {
  const auto bytes = parse_size(text);
  if (!bytes) return fail("memory is a number of bytes on each node such as 4096 or 64G, not {}.", quoted(text));
  into.memory = *bytes;
  return {};
}

// "matlab" is one of it, "matlab:4,fluent" are four of one kind and one of another.
Result<void> read_licences(std::string_view text, Into into) {
  auto licences = TRY(parse_named_licences(text));
  into.licences = std::move(licences);
  return {};
}

void write_licences(From from, std::string& out) { out += named_licences_text(from.licences); }

Result<void> read_accelerators(std::string_view text, Into into) {
  const auto count = parse_integer(text);
  if (!count || *count < 0 || *count > kMostAccelerators) {
    return fail("accelerators are how many the job needs on each of its nodes, up to {}, not {}.", kMostAccelerators,
                quoted(text));
  }
  into.accelerators = static_cast<std::uint8_t>(*count);
  return {};
}

Result<void> read_accelerator_type(std::string_view text, Into into) {
  into.accelerator_type = text;
  return {};
}

Result<void> read_features(std::string_view text, Into into) {
  TRY(check_features(text));
  into.wish.features = text;
  return {};
}

Result<void> read_node_names(std::string_view text, std::string& into) {
  TRY(parse_host_list(text));
  into = text;
  return {};
}

Result<void> read_restart(std::string_view how, Into into) {
  if (how == "checkpoint") {
    into.restart = Restart::checkpoint;
  } else if (how == "from-start") {
    into.restart = Restart::from_start;
  } else if (how == "once") {
    into.restart = Restart::once;
  } else if (how != "never") {
    return fail("restart is checkpoint, from-start, never or once, not {}.", quoted(how));
  }
  return {};
}

void write_restart(From from, std::string& out) {
  if (from.restart == Restart::checkpoint) out += "checkpoint";
  if (from.restart == Restart::from_start) out += "from-start";
  if (from.restart == Restart::once) out += "once";
}

Result<void> read_restart_cost(std::string_view text, Into into) {
  const auto time = parse_duration(text);
  if (!time) return fail("restart_cost is a duration such as 90s, not {}.", quoted(text));
  into.restart_cost = *time;
  return {};
}

Result<void> read_priority(std::string_view text, Into into) {
  const auto priority = parse_integer(text);
  if (!priority || *priority < -kMostPriority || *priority > kMostPriority) {
    return fail("priority is a whole number from -1000000 to 1000000, not {}.", quoted(text));
  }
  into.priority = static_cast<std::int32_t>(*priority);
  return {};
}

Result<void> read_tasks(std::string_view text, Into into) {
  const auto count = parse_integer(text);
  if (!count || *count < 0 || *count > kMostTasksOfJob) {
    return fail("tasks are a whole number up to {}, not {}.", grouped(kMostTasksOfJob), quoted(text));
  }
  into.tasks.count = static_cast<std::uint32_t>(*count);
  return {};
}

Result<void> read_task_time(const char* name, std::string_view text, Duration least, Duration& into) {
  const auto time = parse_duration(text);
  if (!time || *time < least || *time > kLongestTask) {
    return fail("{} is a duration such as 2.5s, not {}.", name, quoted(text));
  }
  into = *time;
  return {};
}

Result<void> read_transfer(std::string_view text, Into into) {
  const auto transfer = parse_size(text);
  if (!transfer || *transfer > kMostTransfer) {
    return fail("task_transfer is a size such as 50MB, not {}.", quoted(text));
  }
  into.tasks.transfer = *transfer;
  return {};
}

Result<void> read_input(std::string_view text, Into into) {
  const auto bytes = parse_size(text);
  if (!bytes) return fail("input is a number of bytes such as 4096 or 20G, not {}.", quoted(text));
  into.input = *bytes;
  return {};
}

Result<void> read_site(std::string_view text, Into into) {
  into.site = text;
  return {};
}

Result<void> read_anywhere(std::string_view text, Into into) {
  if (text != "yes" && text != "no") return fail("anywhere is yes or no, not {}.", quoted(text));
  into.anywhere = text == "yes";
  return {};
}

constexpr std::array kColumns{
    AttributeColumn{"nodes", AttributeForm::whole, read_nodes,
                    [](From from, std::string& out) { write_count(from.nodes, out); }},
    AttributeColumn{"memory", AttributeForm::quantity, read_memory,
                    [](From from, std::string& out) { write_count(from.memory, out); }},
    AttributeColumn{"licences", AttributeForm::word, read_licences, write_licences},
    AttributeColumn{"accelerators", AttributeForm::whole, read_accelerators,
                    [](From from, std::string& out) { write_count(from.accelerators, out); }},
    AttributeColumn{"accelerator_type", AttributeForm::word, read_accelerator_type,
                    [](From from, std::string& out) { out += from.accelerator_type; }},
    AttributeColumn{"features", AttributeForm::word, read_features,
                    [](From from, std::string& out) { out += from.wish.features; }},
    AttributeColumn{"on_nodes", AttributeForm::word,
                    [](std::string_view text, Into into) { return read_node_names(text, into.wish.among); },
                    [](From from, std::string& out) { out += from.wish.among; }},
    AttributeColumn{"not_on_nodes", AttributeForm::word,
                    [](std::string_view text, Into into) { return read_node_names(text, into.wish.without); },
                    [](From from, std::string& out) { out += from.wish.without; }},
    AttributeColumn{"reservation", AttributeForm::word,
                    [](std::string_view text, Into into) {
                      into.wish.reservation = text;
                      return Result<void>{};
                    },
                    [](From from, std::string& out) { out += from.wish.reservation; }},
    AttributeColumn{"restart", AttributeForm::word, read_restart, write_restart},
    AttributeColumn{"restart_cost", AttributeForm::quantity, read_restart_cost,
                    [](From from, std::string& out) { write_time(from.restart_cost, out); }},
    AttributeColumn{"priority", AttributeForm::whole, read_priority,
                    [](From from, std::string& out) { write_count(from.priority, out); }},
    AttributeColumn{"tasks", AttributeForm::whole, read_tasks,
                    [](From from, std::string& out) { write_count(from.tasks.count, out); }},
    AttributeColumn{"task_accelerator", AttributeForm::quantity,
                    [](std::string_view text, Into into) {
                      return read_task_time("task_accelerator", text, Duration{1}, into.tasks.accelerator);
                    },
                    [](From from, std::string& out) { write_time(from.tasks.accelerator, out); }},
    AttributeColumn{
        "task_cpu", AttributeForm::quantity,
        [](std::string_view text, Into into) { return read_task_time("task_cpu", text, Duration{1}, into.tasks.cpu); },
        [](From from, std::string& out) { write_time(from.tasks.cpu, out); }},
    AttributeColumn{"task_transfer", AttributeForm::quantity, read_transfer,
                    [](From from, std::string& out) { write_count(from.tasks.transfer, out); }},
    AttributeColumn{"start_up", AttributeForm::quantity,
                    [](std::string_view text, Into into) {
                      return read_task_time("start_up", text, Duration{0}, into.tasks.start_up);
                    },
                    [](From from, std::string& out) { write_time(from.tasks.start_up, out); }},
    AttributeColumn{"task_limit", AttributeForm::quantity,
                    [](std::string_view text, Into into) {
                      return read_task_time("task_limit", text, Duration{1}, into.tasks.limit);
                    },
                    [](From from, std::string& out) { write_time(from.tasks.limit, out); }},
    AttributeColumn{"input", AttributeForm::quantity, read_input,
                    [](From from, std::string& out) { write_count(from.input, out); }},
    AttributeColumn{"site", AttributeForm::word, read_site, [](From from, std::string& out) { out += from.site; }},
    AttributeColumn{"anywhere", AttributeForm::word, read_anywhere,
                    [](From from, std::string& out) { out += from.anywhere ? "" : "no"; }},
};

}  // namespace

std::span<const AttributeColumn> attribute_columns() { return kColumns; }

const AttributeColumn* attribute_column(std::string_view name) {
  const auto* const found = std::ranges::find(kColumns, name, &AttributeColumn::name);
  return found == kColumns.end() ? nullptr : found;
}

Result<void> check(const JobAttributes& from) {
  if ((from.restart == Restart::never || from.restart == Restart::once) && from.restart_cost.count() > 0) {
    return fail("there is a restart_cost, but the job is never restarted.");
  }
  if (from.accelerators == 0 && !from.accelerator_type.empty()) {
    return fail("there is an accelerator_type, but no accelerators.");
  }
  if (from.nodes > 0 && !from.wish.among.empty()) {
    const std::size_t named = TRY(parse_host_list(from.wish.among)).size();
    if (from.nodes != named)
      return fail("nodes is {} and on_nodes names {}: the job gets all that it names, and no others.", from.nodes,
                  named);
  }
  const TaskSpec& tasks = from.tasks;
  if (tasks.count > 0 && tasks.accelerator.count() == 0) {
    return fail("the job has tasks, and task_accelerator does not say what one takes on an accelerator.");
  }
  if (tasks.count > 0 && tasks.limit.count() > 0 && tasks.cpu.count() == 0) {
    return fail("there is a task_limit, and task_cpu does not say what a task takes on a CPU.");
  }
  if (tasks.count > 0 || tasks == TaskSpec{}) return {};
  const char* const name = tasks.accelerator.count() > 0 ? "task_accelerator"
                           : tasks.cpu.count() > 0       ? "task_cpu"
                           : tasks.transfer > 0          ? "task_transfer"
                           : tasks.limit.count() > 0     ? "task_limit"
                                                         : "start_up";
  return fail("there is a {}, but no tasks.", name);
}

Result<void> set_accelerators(JobAttributes& asks, std::int64_t on_each) {
  if (on_each > kMostAccelerators)
    return fail("the job asks for {} accelerators on a node, and {} are the most", on_each, kMostAccelerators);
  asks.accelerators = static_cast<std::uint8_t>(on_each);
  return {};
}

}  // namespace rota::log
