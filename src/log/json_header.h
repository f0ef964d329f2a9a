// The header of JSON lines: a first line that is an object without `number`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "log/log_top.h"

namespace rota::log {

// Whether a line is meant as a header. Lines that are no JSON are not.
bool is_json_header(std::string_view line);

// Reads {"workload": "may", "computer": "...", "notes": ["..."], "unix_start": 0, "processors": 512, "nodes": 16,
// "queue_floor": 10, "queues": {"1": "short"}, "partitions": {...}, "users": {...}, "groups": {...}}; all of it may be
// left out. The error is a whole sentence without file and line.
Result<LogTop> read_json_header(std::string_view line);

}  // namespace rota::log
