// What a job runs. The scheduler does not look into it.
#pragma once

#include <cstdint>
#include <string>

namespace rota::store {

struct Payload {
  std::string about = {};  // JSON, which others read and write
  std::string script = {};
  std::string environment = {};
  std::int64_t owner = -1;  // the number of the user whose job it is; -1: not known

  bool operator==(const Payload&) const = default;
};

}  // namespace rota::store
