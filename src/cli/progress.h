// A progress bar on standard error: appears after a second, and goes when the work is done. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace rota::cli {

class Progress {
 public:
  Progress(std::int64_t all, bool shown, const char* what = "jobs")
      : all_(all), shown_(shown), what_(what), begin_(std::chrono::steady_clock::now()) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::int64_t done);

 private:
  void draw(std::int64_t done);

  std::int64_t all_;
  bool shown_;
  const char* what_;
  std::chrono::steady_clock::time_point begin_;
  std::atomic<std::int64_t> done_ = 0;
  std::mutex drawing_;
  std::chrono::steady_clock::time_point drawn_{};
  bool visible_ = false;
};

}  // namespace rota::cli
