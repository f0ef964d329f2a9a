// How a job of a federation ended, as the site that ran it reports it to the job's home. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/fact.h"

namespace rota::serve {

struct EndReport {
  Outcome outcome = Outcome::failed;
  std::int32_t status = 0;          // as wait() has it
  std::int64_t start = 0, end = 0;  // milliseconds since 1970
  bool files = false;               // it has left some, which its home is to fetch
  std::string why = {};             // what there is to say, for its user
};

std::string text_of(const EndReport& report);        // five numbers in a line, and `why` behind it
EndReport read_end_report(const std::string& text);  // what is missing, or no number, is 0
Outcome outcome_of(std::string_view state);          // by the word that people read; unknown: none has it

}  // namespace rota::serve
