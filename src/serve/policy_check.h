// Which policies can decide in a service. All fail with a sentence.
#pragma once

#include <string>

#include "serve/desk.h"
#include "serve/job_book.h"

namespace rota::serve {

// A policy that needs no more than a service knows.
Result<Chain> chain_of(const std::string& policy);
// Fails for a policy that starts jobs over, where a job is known that must not be.
Result<void> starts_no_job_over(const Chain& chain, const JobBook& book, const View& view);
// A policy that could decide here, as things stand.
Result<Chain> chain_that_suits(const std::string& policy, const Desk& desk, const JobBook& book,
                               const Capabilities& can);

}  // namespace rota::serve
