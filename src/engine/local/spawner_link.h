// The service's end of its spawner: starts it, hands it orders without ever waiting, and starts another one when it was
// killed. Orders that it had not read then come to nothing, which their own connections tell by closing. Not
// thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

class SpawnerLink {
 public:
  // `program`: how the program that calls supervise() is called, up to its arguments, which come behind.
  SpawnerLink(boost::asio::io_context& io, std::vector<std::string> program, std::string folder);
  SpawnerLink(const SpawnerLink&) = delete;
  SpawnerLink& operator=(const SpawnerLink&) = delete;
  ~SpawnerLink();

  // Waits until it is ready: no earlier one is there any more, and what that was told to do is done.
  Result<void> open();
  // `connection`: the other end of what the run will be asked through; none for an order to remove something.
  void send(const Order& order, process::Descriptor connection);
  pid_t pid() const { return pid_; }  // 0: there is none now

 private:
  struct Unsent {
    std::string text;
    process::Descriptor connection;
    std::size_t sent = 0;
  };
  struct Channel;

  enum class Earlier : std::uint8_t { may_be_there, are_gone };  // lives of the service
  Result<void> start(Earlier earlier);
  void watch(const std::shared_ptr<Channel>& channel);
  void push();
  void died();

  boost::asio::io_context& io_;
  std::vector<std::string> program_;
  std::string folder_;
  pid_t pid_ = 0;
  std::shared_ptr<Channel> channel_;  // nullptr: there is no spawner
  std::deque<Unsent> unsent_;
};

// Both ends of a new connection.
struct ConnectionEnds {
  process::Descriptor ours;
  process::Descriptor theirs;
};
ConnectionEnds connection_ends();  // without descriptors if there are no more

}  // namespace rota::local
