#include "serve/end_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "serve/job_book.h"

namespace rota::serve {

std::string text_of(const EndReport& r) {
  return fmt::format("{} {} {} {} {}\n{}", static_cast<int>(r.outcome), r.status, r.start, r.end, r.files ? 1 : 0,
                     r.why);
}

EndReport read_end_report(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const std::size_t line = std::min(text.find('\n'), text.size());
  for (const std::string_view word : split(std::string_view(text).substr(0, line), ' '))
    numbers.push_back(parse_integer(word).value_or(0));
  numbers.resize(5);
  constexpr auto kLast = static_cast<std::int64_t>(Outcome::unknown);
  return {static_cast<Outcome>(std::clamp<std::int64_t>(numbers[0], 0, kLast)),
          static_cast<std::int32_t>(numbers[1]),
          numbers[2],
          numbers[3],
          numbers[4] == 1,
          line < text.size() ? text.substr(line + 1) : ""};
}

Outcome outcome_of(std::string_view state) {
  for (const Outcome outcome : {Outcome::completed, Outcome::timed_out, Outcome::failed, Outcome::node_failed,
                                Outcome::out_of_memory, Outcome::cancelled}) {
    Job job;
    job.state = state_after(outcome);
    if (state_word(job) == state) return outcome;
  }
  return Outcome::unknown;
}

}  // namespace rota::serve
