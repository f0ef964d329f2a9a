// Which jobs somebody means: "12,14_[1-5],20-25", "last", "all", "user=ann", "name=fit", "partition=debug",
// "state=PENDING"; parts with commas are joined.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::serve {

struct SelectorPart {
  enum class Kind : std::uint8_t { numbers, tasks, last, all, user, name, partition, state };
  Kind kind = Kind::numbers;
  std::int64_t from = 0;  // numbers: from, to; tasks: the array is `from`
  std::int64_t to = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> indexes;  // tasks: from, to
  std::string word;                                            // user, name, partition, state
};

// Fails with a sentence that quotes what makes no sense.
Result<std::vector<SelectorPart>> parse_selector(std::string_view text);

}  // namespace rota::serve
