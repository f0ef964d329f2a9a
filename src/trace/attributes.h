// What a job log has no fields for, from a CSV file beside it: how jobs can be stopped and go on elsewhere, the
// licences that they hold, the accelerators that they need, their priorities and their tasks for accelerators, and in a
// federation where they come from and how much input they bring. docs/workloads.md has the format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "model/machine.h"
#include "model/tasks.h"

namespace rota::trace {

class Attributes {
 public:
  // Licences and sites are those of the machine; nullptr: it has none. Errors name file and line.
  static Result<Attributes> read(const std::string& path, const Machine* machine);
  static Result<Attributes> parse(std::string_view text, const std::string& shown, const Machine* machine);

  // Puts in what the file says of the job with that number, or of all jobs that it does not name.
  void give(JobSpec& spec) const;
  const TaskTable& tasks() const { return tasks_; }
  // Whether any job asks for accelerators on its nodes.
  bool asks_for_accelerators() const { return asks_for_accelerators_; }
  // Where the job with that number was submitted and its input lies; invalid: the file does not say.
  SiteId site_of(std::int64_t job) const { return said_of(job).site; }
  std::int64_t input_of(std::int64_t job) const { return said_of(job).input; }  // bytes

 private:
  friend class AttributesReader;
  struct Said {
    std::int64_t input = 0;
    SiteId site;
    LicenceId licence;
    std::uint32_t licences = 0;
    std::uint8_t accelerators = 0;
    AcceleratorTypeId accelerator_type;
    Restart restart = Restart::never;
    Duration restart_cost{0};
    std::int32_t priority = 0;
  };
  const Said& said_of(std::int64_t job) const;

  Said of_others_;
  std::map<std::int64_t, Said> of_;  // by job number
  TaskTable tasks_;
  bool asks_for_accelerators_ = false;
};

}  // namespace rota::trace
