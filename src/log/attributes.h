// What is said of jobs beyond what SWF has fields for, from a sidecar or from JSON lines, matched with the licences,
// accelerators, nodes and sites of one machine. docs/workloads.md has the formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/attribute_table.h"
#include "model/job.h"
#include "model/machine.h"

namespace rota::log {

class Attributes {
 public:
  // Fails where a name is none of the machine's, and where jobs have tasks and the machine no nodes; nullptr:
  // processors are counted. Errors name file and line.
  static Result<Attributes> match(std::shared_ptr<const AttributeTable> table, const Machine* machine);
  // A sidecar.
  static Result<Attributes> read(const std::string& path, const Machine* machine);
  static Result<Attributes> parse(std::string_view text, const std::string& shown, const Machine* machine);

  // Puts in what is said of the job with that number.
  void give(JobSpec& spec) const;
  const TaskTable& tasks() const { return table_->tasks(); }
  const std::string& shown() const { return table_->shown(); }  // the file, for messages
  // Whether any job asks for accelerators on its nodes.
  bool asks_for_accelerators() const { return table_->line_with_accelerators() > 0; }
  // Where the job with that number was submitted and its input lies; invalid: nothing is said.
  SiteId site_of(std::int64_t job) const;
  std::int64_t input_of(std::int64_t job) const { return table_->of(job).input; }  // bytes
  bool anywhere(std::int64_t job) const { return table_->of(job).anywhere; }       // else at that site alone

 private:
  std::shared_ptr<const AttributeTable> table_;
  std::vector<LicenceId> licences_;                   // of the table's licences
  std::vector<AcceleratorTypeId> accelerator_types_;  // of its types
  std::vector<SharedNodeWish> wishes_;                // of its wishes
  std::vector<SiteId> sites_;                         // of its sites
};

}  // namespace rota::log
