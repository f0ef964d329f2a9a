// A line that was searched out of several files, as by `grep JOB_FINISH lsb.acct*`, has the name of its file and a
// colon in front of it, and with -n the number of the line.
#pragma once

#include <string_view>

namespace rota::log {

// From where `is_record` takes it; the whole line where it does so nowhere.
inline std::string_view behind_file_name(std::string_view line, bool (*is_record)(std::string_view)) {
  if (is_record(line)) return line;
  constexpr std::size_t kLongestName = 4096;
  for (std::size_t at = line.find(':'); at < kLongestName && at < line.size(); at = line.find(':', at + 1))
    if (is_record(line.substr(at + 1))) return line.substr(at + 1);
  return line;
}

}  // namespace rota::log
