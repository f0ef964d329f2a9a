// This computer as a cluster of one node, for who describes none.
#pragma once

#include <string>

namespace rota::serve {

// Its name, without what would mean something in a list of hosts.
std::string this_host();

// The text of a cluster file: its name, the processors that this process may use, its memory.
std::string cluster_of_this_host();

}  // namespace rota::serve
