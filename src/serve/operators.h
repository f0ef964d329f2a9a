// Users that may do everything.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rota::serve {

struct Operators {
  std::vector<std::uint32_t> named = {};  // by the configuration, beside root and the service's own user

  bool include(std::uint32_t uid) const {
    return uid == 0 || uid == ::geteuid() || std::ranges::find(named, uid) != named.end();
  }
};

}  // namespace rota::serve
