// What SWF has no fields for, of one job, and the table of these attributes: their names, and how they are read and
// written. The sidecar of a log and JSON lines both go by the table; docs/workloads.md has it for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "model/licence_names.h"
#include "model/node_wish.h"
#include "model/tasks.h"

namespace rota::log {

// In the account of an import; keep_askable() says which.
inline constexpr const char* kOddLicences =
    "licences that no job can ask for (over 8 kinds, over 1,000,000 of one, or an odd name): left out";

// Each as in JobSpec, but for names, which stand for what a cluster file has. The default is that nothing is said.
struct JobAttributes {
  std::uint32_t nodes = 0;
  std::int64_t memory = 0;
  std::vector<NamedLicences> licences;  // each kind once
  std::uint8_t accelerators = 0;        // on each of its nodes
  std::string accelerator_type;         // empty: any will do
  NodeWishTexts wish;                   // which nodes it may use
  Restart restart = Restart::never;
  Duration restart_cost{0};
  std::int32_t priority = 0;  // added to that of the partition
  TaskSpec tasks;             // count 0: none
  std::int64_t input = 0;     // bytes
  std::string site;
  bool anywhere = true;  // other sites may have it

  bool operator==(const JobAttributes&) const = default;
};

// What a value is in JSON; in CSV the text is the same without quotes.
enum class AttributeForm : std::uint8_t {
  word,      // "checkpoint"
  whole,     // 4
  quantity,  // 90 or "1m30s", 4096 or "4K"
};

struct AttributeColumn {
  std::string_view name;
  AttributeForm form;
  // Takes a text that is not empty. The error is a whole sentence without file and line.
  Result<void> (*read)(std::string_view text, JobAttributes& into);
  // Appends the text of the value: a word, or digits with a decimal point at most. Nothing where nothing is said.
  void (*write)(const JobAttributes& from, std::string& out);
};

std::span<const AttributeColumn> attribute_columns();
const AttributeColumn* attribute_column(std::string_view name);  // nullptr: there is none

// On each of its nodes. Fails with half a sentence where these are too many.
Result<void> set_accelerators(JobAttributes& asks, std::int64_t on_each);

// What holds between several attributes of a job. The error is a whole sentence without file and line.
Result<void> check(const JobAttributes& from);

}  // namespace rota::log
