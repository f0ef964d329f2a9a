// One job in words for people: all that is known of it, and why it waits.
#pragma once

#include <string>

#include "cli/live/service.h"

namespace rota::cli {

// A line a member, what people look for first at the top.
std::string members_text(const Json& job);

// What the service explains of a job, in lines of at most so many columns.
std::string explained(const Json& answer, std::size_t width = 100);

}  // namespace rota::cli
