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

// All members but script and command.
Result<Json> job_request(const SubmitValues& values, const Surroundings& here, std::vector<std::string>& remarks);

// Into such a request, or a change of one.
void put_licences(const std::vector<NamedLicences>& licences, Json& into);

}  // namespace rota::cli
