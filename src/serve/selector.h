// Which jobs a caller means: "12,14_[1-5],20-25", "last" (the job or the array that they submitted last), "all",
// "user=ann", "user=me", "user=1000", "name=fit", "partition=debug", "state=PENDING", "state=pd"; several with commas.
// Parts of one sort mean a job that suits any of them: "user=ann,user=ben"; parts of several sorts, one that suits each
// sort: "user=ann,state=PENDING". Ids, last and all are one sort.
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
  std::string word;                                            // user, name, partition, state in full

  // The sort of this part, below kSorts.
  constexpr std::size_t sort() const {
    return kind <= Kind::all ? 0 : static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::all);
  }
  static constexpr std::size_t kSorts = 5;
};

// A job or a task that a selector names and that is not known now.
struct Absent {
  std::string id, never = {};  // tasks named with those that have ended, and that never were, as "5_[7-9]"
  bool ended = false;          // else there never was one, or it is forgotten
  std::string sentence() const;
};

inline constexpr std::size_t kMostParts = 1000;
inline constexpr std::size_t kMostNumbers = 100'000;  // of jobs that have ended, looked at one by one

// Each part once, and the tasks of an array in one part. Fails with a sentence that quotes what makes no sense, and
// where there are too many.
Result<std::vector<SelectorPart>> parse_selector(std::string_view text);

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;  // from, to

// What several ranges have together, in order.
Ranges merged(Ranges ranges);
bool within(const Ranges& merged, std::int64_t number);
// The ranges of those parts that are numbers.
Ranges numbers_of(const std::vector<SelectorPart>& parts);

}  // namespace rota::serve
