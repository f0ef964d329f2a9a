// Why a job was allowed to go on past its time, in words that its neighbours in the queue will accept.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "report/outcome.h"

namespace rota::report {

struct GrantContext {
  std::int64_t processors = 0;  // of the job that goes on; 0: not known
  std::int64_t unix_start = 0;  // Unix time of the workload's second 0; 0: not known
};

// One or two sentences without markup.
std::string grant_reason(const Grant& grant, const GrantContext& context);

}  // namespace rota::report
