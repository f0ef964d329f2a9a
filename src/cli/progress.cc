#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/text.h"

namespace rota::cli {
namespace {

constexpr int kWidth = 40;
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kBetween{100};

}  // namespace

Progress::~Progress() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void Progress::add(std::int64_t done) {
  const std::int64_t so_far = done_ += done;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (!lock || now - begin_ < kPatience || now - drawn_ < kBetween) return;
  drawn_ = now;
  draw(so_far);
}

void Progress::draw(std::int64_t done) {
  const double share = all_ > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(all_), 0.0, 1.0) : 0.0;
  const int full = static_cast<int>(share * kWidth);
  const std::string bar =
      std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(kWidth - full), '.');
  std::fprintf(stderr, "\r[%s] %3.0f %%  %s of %s %s", bar.c_str(), share * 100, grouped(done).c_str(),
               grouped(all_).c_str(), what_);
  std::fflush(stderr);
  visible_ = true;
}

}  // namespace rota::cli
