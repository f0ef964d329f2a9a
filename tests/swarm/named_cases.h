// What seeds of the swarm have taught, each made small enough to be read, and written down so that it stays whatever is
// drawn from a seed later. They run before the seeds.
#pragma once

#include <variant>
#include <vector>

#include "swarm/federation_case.h"
#include "swarm/outcome.h"

namespace rota::swarm {

struct NamedCase {
  std::string name;
  std::variant<Case, FederationCase> drawn;
  // Whether a run came to what the case is about; one that does not shows nothing any more.
  bool (*shows)(const Counts&) = nullptr;
};

std::vector<NamedCase> named_cases();

}  // namespace rota::swarm
