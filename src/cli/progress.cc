#include "cli/progress.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "cli/terminal_width.h"
#include "report/readable.h"

namespace rota::cli {
namespace {

constexpr std::size_t kWidth = 40;
constexpr std::size_t kLeastWidth = 5;   // a shorter bar says nothing
constexpr std::size_t kColumns = 80;     // of a terminal that does not tell
constexpr double kLeastShare = 0.001;    // below it what is left cannot be guessed
constexpr double kLongestGuess = 1.0e7;  // seconds
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kBetween{100};

}  // namespace

std::string progress_line(double done, double seconds, const std::string& what, std::size_t columns) {
  std::string text = what;
  if (done >= 0) {
    std::array<char, 16> percent{};
    std::snprintf(percent.data(), percent.size(), " %3.0f %%  ", done * 100);
    text = percent.data() + text;
    const double left = done > kLeastShare ? seconds / done * (1 - done) : kLongestGuess;
    if (left < kLongestGuess) text += fmt::format(", {} left", report::readable_seconds(std::ceil(left)));
  }
  const std::size_t beside = text.size() + 3;  // brackets, and the last column, behind which terminals wrap
  if (done >= 0 && columns >= beside + kLeastWidth) {
    const std::size_t width = std::min(kWidth, columns - beside);
    const auto full = static_cast<std::size_t>(done * static_cast<double>(width));
    return fmt::format("[{}{}]{}", std::string(full, '#'), std::string(width - full, '.'), text);
  }
  return text.substr(0, columns > 0 ? columns - 1 : 0);
}

Progress::~Progress() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

// To be asked under the lock.
bool Progress::is_time() {
  const auto now = std::chrono::steady_clock::now();
  if (now - begin_ < kPatience || now - drawn_ < kBetween) return false;
  drawn_ = now;
  return true;
}

void Progress::add(std::int64_t done) {
  const std::int64_t so_far = done_ += done;
  if (!shown_) return;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (!lock || !is_time()) return;
  const double share = all_ > 0 ? std::clamp(static_cast<double>(so_far) / static_cast<double>(all_), 0.0, 1.0) : 0.0;
  draw(share, fmt::format("{} of {} {}", grouped(so_far), grouped(all_), what_));
}

void Progress::share(double done) {
  if (!shown_) return;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (lock && is_time()) draw(done > 0 ? std::min(done, 1.0) : -1, what_);
}

void Progress::draw(double share, const std::string& what) {
  const std::chrono::duration<double> gone = drawn_ - begin_;
  const std::size_t columns = terminal_width(STDERR_FILENO);
  const std::string line = progress_line(share, gone.count(), what, columns > 0 ? columns : kColumns);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  visible_ = true;
}

}  // namespace rota::cli
