#include "cli/live/change_request.h"

#include "cli/live/submit_value.h"
#include "model/job_request.h"

namespace rota::cli {
namespace {

// What is given of a job's processors, as for a new one.
Result<void> put_processors(const SubmitValues& values, Json& into) {
  const auto number = [&](std::string_view key, std::int64_t otherwise, std::int64_t least = 1) {
    const auto found = values.find(key);
    return found == values.end() ? Result<std::int64_t>(otherwise) : counted(found->second, least);
  };
  const auto nodes = number("nodes", -1, 0), each = number("each", 1), per_node = number("per_node", 0);
  const auto tasks = number("processors", per_node.value_or(0) * nodes.value_or(0));
  for (const auto* one : {&nodes, &each, &per_node, &tasks}) {
    if (!*one) return std::unexpected(one->error());
  }
  if (*per_node > 0 && *nodes < 1)
    return fail("--ntasks-per-node goes with -N, which says on how many nodes; name both.");
  if (*tasks == 0 && values.contains("each")) return fail("-c says how many processors each of -n has; name -n, too.");
  if (*tasks > kMostCounted / *each) return too_many_processors();
  if (*nodes >= 0) into["nodes"] = *nodes;
  if (*tasks == 0) return {};
  const bool says_each = values.contains("each");  // else each has as many processors as before
  if (says_each) into["processors"] = *tasks * *each;
  if (!says_each || *each > 1) into["tasks"] = *tasks;
  if (*per_node > 0 && !values.contains("processors")) into["tasks_per_node"] = *per_node;
  return {};
}

}  // namespace

Result<void> put_changes(const SubmitValues& values, Json& into) {
  if (const auto name = values.find("name"); name != values.end()) into["name"] = name->second.text;
  if (const auto memory = values.find("memory"); memory != values.end()) {
    const auto bytes = TRY(memory->second.text == "none" ? Result<std::int64_t>(0) : size_of(memory->second));
    into["memory"] = bytes;
  }
  for (const std::string_view label : labels()) {
    if (const auto asked = values.find(label); asked != values.end())
      into[std::string(label)] = asked->second.text == "none" ? "" : asked->second.text;
  }
  return put_processors(values, into);
}

}  // namespace rota::cli
