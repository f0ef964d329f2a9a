// What readers of accounting logs make of their rows, whichever system they are of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "log/attribute_table.h"
#include "log/node_lists.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// The jobs of a log on the terms of SWF.
struct AccountedLog {
  std::vector<SwfRow> rows;  // by submit time, counted from unix_start; those of one instant in file order
  std::map<std::uint32_t, std::string> users, groups, partitions, queues;
  std::shared_ptr<const AttributeTable> attributes;  // what SWF has no fields for; nullptr: none
  std::shared_ptr<NodeLists> node_lists;             // of SwfRow::ran_on; nullptr: no job tells its nodes
  std::int64_t unix_start = 0;                       // the first submit time
  ImportReport report;
};

// The log as a workload, by the rules of log/swf.h. Its processors are a guess. `shown` is its name for messages;
// empty: the path.
Result<Workload> workload_of(AccountedLog log, const std::string& path, const SwfOptions& options,
                             const std::string& shown = "");

// That were in use at once: the machine had at least as many.
std::int64_t most_processors(const AccountedLog& log);

// Rows without a number (members of arrays), and later rows with one that is there already, get numbers above all
// others, in their order here. Each is noted in the report. `rows` must not be empty.
void give_numbers(std::vector<SwfRow>& rows, ImportReport& report);

// The largest sum of changes up to any moment (when, by how much); where some are at one moment, the least comes first.
std::int64_t most_at_once(std::vector<std::pair<std::int64_t, std::int64_t>> changes);

// Puts the rows, which have their numbers, in order of submit time, and counts that from the first one on. `rows` must
// not be empty.
void close(AccountedLog& log);

}  // namespace rota::log
