// A thread for what takes long and knows nothing of the state, such as reading a large body: the loop goes on
// meanwhile.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <utility>

namespace rota::api {

class Worker {
 public:
  explicit Worker(boost::asio::io_context& io) : io_(io) {}
  ~Worker() { thread_.join(); }

  // `work` is done there, one after the other, and what it gives is called on the loop; if that has stopped, never.
  void run(std::function<std::function<void()>()> work) {
    boost::asio::post(thread_, [this, work = std::move(work)] { boost::asio::post(io_, work()); });
  }

 private:
  boost::asio::io_context& io_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace rota::api
