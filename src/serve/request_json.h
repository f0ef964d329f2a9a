// What a job asks for in JSON, in and out, as the table of wishes has it (model/job_request.h).
#pragma once

#include <cstdint>
#include <string>

#include "serve/member_json.h"

namespace rota::serve {

// Reads one member. Fails with a sentence that names it. `unix_start`: of instant 0, in seconds.
Result<void> read_wish(const std::string& name, const Json& json, std::int64_t unix_start, JobRequest& into);
Result<JobRequest> read_request(const Json& json, std::int64_t unix_start);
// Every wish that is not as in an empty request; but for a terminal, which is at one computer.
Json json_of(const JobRequest& request, std::int64_t unix_start);

}  // namespace rota::serve
