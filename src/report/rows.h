// Rows of files for other programs.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>
#include <string>
#include <string_view>

#include "base/time.h"

namespace rota::report {

// Numbers into a buffer that goes to the stream when it is nearly full: a stream's own formatting takes most of the
// time when there are 300,000 rows.
class Rows {
 public:
  explicit Rows(std::ostream& out) : out_(out) {}

  // The room that one call of integer(), seconds() or text() may need.
  static constexpr std::size_t kPiece = 32;

  void integer(std::int64_t number) {
    make_room();
    used_ = static_cast<std::size_t>(std::to_chars(end(), end() + kPiece, number).ptr - buffer_.data());
  }
  void seconds(Duration d) { thousandths(d.count()); }
  void thousandths(std::int64_t ms) {
    if (ms < 0) text("-");
    integer(std::abs(ms / 1000));
    if (const auto rest = static_cast<unsigned>(std::abs(ms % 1000)); rest != 0) {
      const std::array<char, 4> digits{'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
      text({digits.data(), digits.size()});
    }
  }
  void millionths(std::int64_t number) {  // >= 0
    integer(number / 1'000'000);
    std::string digits = std::to_string(1'000'000 + number % 1'000'000);
    digits[0] = '.';
    digits.resize(digits.find_last_not_of('0') + 1);
    if (digits.size() > 1) text(digits);
  }
  void seconds(Instant at) { seconds(at.time_since_epoch()); }
  void text(std::string_view piece) {  // at most kPiece bytes
    make_room();
    std::ranges::copy(piece, end());
    used_ += piece.size();
  }
  void long_text(std::string_view text_of_any_length) {
    for (; !text_of_any_length.empty(); text_of_any_length.remove_prefix(std::min(kPiece, text_of_any_length.size()))) {
      text(text_of_any_length.substr(0, kPiece));
    }
  }
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
  }

 private:
  static char digit(unsigned d) { return static_cast<char>('0' + d); }
  char* end() { return buffer_.data() + used_; }
  void make_room() {
    if (used_ + kPiece > buffer_.size()) flush();
  }

  std::ostream& out_;
  std::size_t used_ = 0;
  std::array<char, 16'384> buffer_{};
};

// A name may hold what has a meaning in CSV.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

}  // namespace rota::report
