// What people are told of a limit of jobs.
#pragma once

#include <string>

#include "model/limit_book.h"

namespace rota {

// Why one more such job would break that limit, as sentences. O(1).
std::string why_over_limit(const LimitUse& use, LimitKey broken, const JobSpec& spec);

}  // namespace rota
