// Which container the service has for a node: asked over the service's Unix socket (GET /v1/accelerators/NODE), where
// the kernel says which user asks. A few lines of HTTP, so that this library needs no other. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accel/address.h"

namespace rota::accel {

struct BoundContainer {
  std::string address;  // one that parse_address() takes, and which is no NodeAddress
  std::string token;    // that it asks for; empty: none
};

// One of several that could be a node's.
struct RackContainer {
  BoundContainer of;
  std::int64_t weight = 1;  // how fast it is beside the others; > 0
};

// Blocks, but no longer than `patience`. Nothing: `why` is a sentence without its end.
std::optional<BoundContainer> ask_service(const NodeAddress& of, std::chrono::milliseconds patience, std::string& why);
// All containers of the node's rack, likewise; empty: there are none now.
std::optional<std::vector<RackContainer>> ask_for_rack(const NodeAddress& of, std::chrono::milliseconds patience,
                                                       std::string& why);

}  // namespace rota::accel
