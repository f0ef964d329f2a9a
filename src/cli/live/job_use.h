// What a job holds, and what one that has ended has used of it, as text for people; "-" where it is not known.
#pragma once

#include <string>

#include "cli/live/service.h"

namespace rota::cli {

std::string cpu_used(const Json& job);      // "1:02:03"
std::string cpu_held(const Json& job);      // the same of all its processors while it ran
std::string cpu_share(const Json& job);     // "26%" of that
std::string memory_held(const Json& job);   // "4G", what it asked for on all its nodes together
std::string memory_used(const Json& job);   // "1.2G", the most at one time
std::string memory_share(const Json& job);  // "30%"

// Which accelerators a running job holds on each node, or each job of a node: "g1: 0,1; g2: 4"; "": none.
std::string accelerators_held(const Json& of);

// "1:02:03 of 4:00:00 (26%)", or as much of it as is known.
std::string cpu_use(const Json& job);
std::string memory_use(const Json& job);

}  // namespace rota::cli
