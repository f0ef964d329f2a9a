// An array as a whole: how many of its tasks are in which state, and those that matter.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/live/service.h"

namespace rota::cli {

// The tasks of the array that `id` names, "7" or "last", those that have ended too; nothing: it names a single job or
// task. `job` is its row.
Result<std::optional<Json>> tasks_of_array(const Service& service, const std::string& id, const Json& job);

// {"id", "name", "user", "tasks": {state: count}, "jobs": [...]}
Json array_json(const Json& tasks);

std::string array_text(const Json& tasks);

// The task whose waiting tells most of the others': the first in the queue; nullptr: none waits.
const Json* first_waiting(const Json& tasks);

// "7_[1-3,5]" of the tasks in these states; empty: none is.
std::string tasks_in(const Json& tasks, const std::string& state);

}  // namespace rota::cli
