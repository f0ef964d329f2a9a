// What a submission waits for, as people write it: "afterok:12:13_4", "after:12+5", "aftercorr:14", "singleton", and
// "any" among them where one will do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_terms.h"

namespace rota::serve {

inline constexpr std::size_t kMostNames = 1000;  // of one submission

// One job, or of an array all tasks, or one of them.
struct AfterName {
  Dependency::When when = Dependency::When::ended;
  bool same_index = false;  // of an array the task with the index of the one that waits
  std::int64_t number = 0;
  std::int64_t index = -1;  // of the task; -1: none is said
  Duration later{0};        // behind "+", in minutes: so long after its start

  auto operator<=>(const AfterName&) const = default;
  std::string text() const;  // "12" or "12_3"
};

struct AfterText {
  bool singleton = false;        // for all of its user and its name
  bool any = false;              // one of them will do
  std::vector<AfterName> names;  // each once
};

// Whether a submission, whose texts were found good, waits for all of its user and its name.
bool is_singleton(const std::vector<std::string>& texts);

// Fails with a sentence that quotes what makes no sense, and where there are too many names.
Result<AfterText> parse_after(const std::vector<std::string>& texts);

}  // namespace rota::serve
