// This computer as a cluster of one node, where no file describes one.
#pragma once

#include <cstdint>
#include <string>

namespace rota::serve {

// Its name, without what would mean something in a list of hosts.
std::string this_host();

// NVIDIA's accelerators, by the device files of its driver: what is called nvidia0, nvidia1 and so on in the folder.
std::int64_t nvidia_accelerators(const std::string& devices = "/dev");

// The text of a cluster file: its name, the processors that this process may use, its memory, its accelerators as far
// as they are NVIDIA's. All but the name stands behind a file that describes no nodes.
std::string cluster_of_this_host();

// A cluster file's text with the node that `kept` has, where both end with one from above: that of a state stays as it
// was when the state was made, since a newer kernel may count a little less memory.
std::string with_node_kept(const std::string& text, const std::string& kept);

}  // namespace rota::serve
