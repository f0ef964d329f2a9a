// The service's end of its connection to one supervisor: whole lines come out of it, and its end. Not thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

class RunLink {
 public:
  // Called for each record that comes; nullptr: the other end has closed. May destroy the link.
  using Hear = std::function<void(const RunRecord*)>;

  RunLink(boost::asio::io_context& io, process::Descriptor socket, Hear hear);
  // To a supervisor that is crowded: it is tried again and again. What is told meanwhile goes as soon as it is reached.
  using Connect = std::function<process::Reached()>;
  RunLink(boost::asio::io_context& io, Connect connect, Hear hear);
  RunLink(const RunLink&) = delete;
  RunLink& operator=(const RunLink&) = delete;
  ~RunLink();

  void tell(const Tell& tell);  // if the other end is there no more, that is heard soon
  // For another run: false if it cannot take that much at once.
  bool send(const std::string& text);
  void hear_for(Hear hear);  // from now on
  int socket() const;

 private:
  struct Channel;
  static void try_later(const std::shared_ptr<Channel>& channel);
  static void try_again(const std::shared_ptr<Channel>& channel);
  static void watch(const std::shared_ptr<Channel>& channel);
  static void read(const std::shared_ptr<Channel>& channel);

  std::shared_ptr<Channel> channel_;
};

}  // namespace rota::local
