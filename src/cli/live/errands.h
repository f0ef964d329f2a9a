// Things that take a while, done one after the other on a thread of their own, while the caller goes on reading the
// keyboard.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace rota::cli {

class Errands {
 public:
  // What is to be done on the other thread; it gives what is to be done with the result on the caller's.
  using Errand = std::function<std::function<void()>()>;

  // done() is called on the other thread after each.
  explicit Errands(std::function<void()> done) : done_(std::move(done)), thread_([this] { run(); }) {}
  // Waits for the one that is under way; the others are dropped.
  ~Errands() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    more_.notify_one();
    thread_.join();
  }
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  void add(Errand errand) {
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(std::move(errand));
    }
    more_.notify_one();
  }
  // What came of those that are done.
  void finish() {
    std::deque<std::function<void()>> results;
    {
      const std::lock_guard lock(mutex_);
      results.swap(results_);
    }
    for (const auto& result : results) result();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return open_.empty() && !busy_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [this] { return over_ || !open_.empty(); });
      if (over_) return;
      const Errand errand = std::move(open_.front());
      open_.pop_front();
      busy_ = true;
      lock.unlock();
      auto result = errand();
      lock.lock();
      busy_ = false;
      results_.push_back(std::move(result));
      lock.unlock();
      done_();
      lock.lock();
    }
  }

  std::function<void()> done_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Errand> open_;
  std::deque<std::function<void()>> results_;
  bool over_ = false;
  bool busy_ = false;
  std::thread thread_;
};

}  // namespace rota::cli
