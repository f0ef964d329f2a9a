// A thread for what takes long and looks at nothing that the loop has, such as reading a large body, or a library that
// waits for an answer: the loop goes on meanwhile.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <utility>

namespace rota::process {

class Worker {
 public:
  explicit Worker(boost::asio::io_context& io) : io_(io) {}
  // Waits for what is being done; what waits for its turn never is.
  ~Worker() {
    ends_ = true;
    thread_.stop();
    thread_.join();
  }

  // `work` is done there, one after the other, and what it gives is called on the loop; if that has stopped, never.
  // What either of them holds is let go on the loop as well.
  void run(std::function<std::function<void()>()> work) {
    ++under_way_;
    boost::asio::post(thread_, [this, work = std::move(work)]() mutable {
      auto call = work();
      boost::asio::post(io_, [this, work = std::move(work), call = std::move(call)] {
        --under_way_;
        call();
      });
    });
  }
  std::size_t under_way() const { return under_way_; }
  // Whether the work that is being done is not waited for any more. On any thread.
  bool ends() const { return ends_; }

 private:
  boost::asio::io_context& io_;
  std::size_t under_way_ = 0;  // that has not been called yet
  std::atomic<bool> ends_ = false;
  boost::asio::thread_pool thread_{1};
};

}  // namespace rota::process
