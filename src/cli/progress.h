// A progress bar on standard error: appears after a second, fits the terminal, tells how long it will yet take, and
// goes when the work is done. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace rota::cli {

// A line of the bar, of at most `columns` characters: the bar itself gives way first. `done` of 0..1; negative: it is
// not known how much there is. `seconds` have gone by.
std::string progress_line(double done, double seconds, const std::string& what, std::size_t columns);

class Progress {
 public:
  // The progress of so many things.
  Progress(std::int64_t all, bool shown, std::string what = "jobs")
      : all_(all), shown_(shown), what_(std::move(what)), begin_(std::chrono::steady_clock::now()) {}
  // The progress of something that is told as a share; `what` says what is being done.
  Progress(bool shown, std::string what) : Progress(0, shown, std::move(what)) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::int64_t done);
  void share(double done);  // 0..1; 0: not known

 private:
  void draw(double share, const std::string& what);
  bool is_time();

  std::int64_t all_;
  bool shown_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::atomic<std::int64_t> done_ = 0;
  std::mutex drawing_;
  std::chrono::steady_clock::time_point drawn_{};
  bool visible_ = false;
};

}  // namespace rota::cli
