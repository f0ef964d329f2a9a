// This computer as a cluster of one node, for who describes none.
#pragma once

#include <cstdint>
#include <string>

namespace rota::serve {

// Its name, without what would mean something in a list of hosts.
std::string this_host();

// NVIDIA's accelerators, by the device files of its driver: what is called nvidia0, nvidia1 and so on in the folder.
std::int64_t nvidia_accelerators(const std::string& devices = "/dev");

// The text of a cluster file: its name, the processors that this process may use, its memory, its accelerators as far
// as they are NVIDIA's.
std::string cluster_of_this_host();

}  // namespace rota::serve
