// A queue between two threads with so many places: the thread that finds it full or empty waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace rota::accel {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t places) : places_(places) {}

  // Waits for a place. False: the queue is closed.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    place_.wait(lock, [&] { return closed_ || items_.size() < places_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    item_.notify_one();
    return true;
  }
  // Leaves the item alone where there is no place.
  bool try_push(T& item) {
    const std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= places_) return false;
    items_.push_back(std::move(item));
    item_.notify_one();
    return true;
  }
  // Waits for an item. Nothing: the queue is closed.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    item_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return closed_ ? std::nullopt : first();
  }
  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return items_.empty() ? std::nullopt : first();
  }
  // Takes an item out of its turn. False: it is not in the queue.
  bool remove(const T& item) {
    const std::lock_guard lock(mutex_);
    if (std::erase(items_, item) == 0) return false;
    place_.notify_one();
    return true;
  }
  // Both sides stop waiting; what is in the queue stays there.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    item_.notify_all();
    place_.notify_all();
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  std::optional<T> first() {
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    place_.notify_one();
    return item;
  }

  const std::size_t places_;
  mutable std::mutex mutex_;
  std::condition_variable item_;
  std::condition_variable place_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace rota::accel
