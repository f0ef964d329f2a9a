// What a job runs. The scheduler does not look into it.
#pragma once

#include <string>

namespace rota::store {

struct Payload {
  std::string about = {};  // JSON, which others read and write
  std::string script = {};
  std::string environment = {};

  bool operator==(const Payload&) const = default;
};

}  // namespace rota::store
