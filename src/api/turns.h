// Which peer's request is carried out next: each that has one waiting has its turn, so that none that asks much at a
// time, over many connections, keeps others from the service for longer than one of its requests takes.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace rota::api {

// One thread.
class Turns {
 public:
  // After so long, what else is ready on the loop comes first: requests of others that have yet to be read.
  explicit Turns(std::chrono::microseconds at_once) : at_once_(at_once) {}

  // Soon, on the executor's loop; those of one peer in the order in which they came. Cost: by the number of peers that
  // have one waiting.
  void enqueue(const boost::asio::any_io_executor& executor, const std::string& peer, std::function<void()> call);

 private:
  struct Waiting {
    std::string peer;
    std::deque<std::function<void()>> calls;
  };
  void run_soon(const boost::asio::any_io_executor& executor, int rounds = 0);
  void run(const boost::asio::any_io_executor& executor);

  std::chrono::microseconds at_once_;
  std::list<Waiting> waiting_;  // the first one is next
  bool runs_soon_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // as long as this is there
};

}  // namespace rota::api
