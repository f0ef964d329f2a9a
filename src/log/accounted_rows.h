// What readers of accounting logs make of their rows, whichever system they are of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// Rows without a number (members of arrays), and later rows with one that is there already, get numbers above all
// others, in their order here. Each is noted in the report. `rows` must not be empty.
void give_numbers(std::vector<SwfRow>& rows, ImportReport& report);

// The largest sum of changes up to any moment (when, by how much); where some are at one moment, the least comes first.
std::int64_t most_at_once(std::vector<std::pair<std::int64_t, std::int64_t>> changes);

// The largest sum of processors of jobs that ran at the same time.
std::int64_t most_in_use(const std::vector<SwfRow>& rows);

}  // namespace rota::log
