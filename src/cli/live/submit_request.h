// What was asked of a job, as text, read and put into the JSON of POST /v1/jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/live/service.h"
#include "cli/live/submit_options.h"
#include "model/licence_names.h"

namespace rota::cli {

// Whence a job is submitted.
struct Surroundings {
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // NAME=VALUE
  std::int64_t now = 0;                  // Unix time
  std::uint32_t umask = 022;
};
Result<Surroundings> surroundings();

// Bytes. On Rota's own command line a size says its unit: people who come from Slurm would mean megabytes.
Result<std::int64_t> size_of(const SubmitValue& value);

// All members but script and command.
Result<Json> job_request(const SubmitValues& values, const Surroundings& here, std::vector<std::string>& remarks);

// Into such a request, or a change of one.
void put_licences(const std::vector<NamedLicences>& licences, Json& into);

// Name, processors, nodes and memory that a job is to have in place of those that it has.
Result<void> put_changes(const SubmitValues& values, Json& into);

// A time limit: in Slurm's dialect a bare number counts minutes, and 0 stands for none.
Result<double> limit_seconds(std::string_view text, Dialect dialect);

}  // namespace rota::cli
