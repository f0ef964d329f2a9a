// What is typed at the terminal of a job: all of it is the job's, but for an escape as ssh has it, "~" at the beginning
// of a line. Pure; one byte after the other.
#pragma once

#include <string>
#include <string_view>

namespace rota::cli {

class EscapeKeys {
 public:
  enum class Wish { nothing, cancel, help };

  // Adds what is the job's to `out`. Ends at an escape: the bytes behind it are not looked at.
  Wish read_keys(std::string_view typed, std::string& out);

 private:
  bool at_line_start_ = true;
  bool escaped_ = false;  // a "~" at the beginning of a line has been held back
};

}  // namespace rota::cli
