// A command of the site's own, such as one that wakes a node: run by /bin/sh as the service's user, in a process group
// of its own, while the service goes on. One thread: that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace rota::process {

class SiteCommand {
 public:
  struct Options {
    std::string text;                    // for /bin/sh
    std::vector<std::string> variables;  // NAME=VALUE, beside those of the service
    Duration timeout{0};                 // then it is killed, with all of its process group
    std::size_t most_output = 4096;      // bytes that are kept of what it writes, of the end, as whole lines
    std::string record = {};  // path of a file that is there while it runs, for end_left_over(); empty: none is kept
  };
  struct End {
    bool ran = false;    // it was executed and ended by itself, or had its time
    bool done = false;   // with 0
    int code = -1;       // with which it ended by itself; -1: it did not
    std::string why;     // not done: what became of it, as "ended with 3: no route to host"
    std::string output;  // the last of what it wrote, to show
  };
  using OnEnd = std::function<void(const End&)>;  // may destroy the command

  SiteCommand(boost::asio::io_context& io, const Options& options, OnEnd on_end);
  SiteCommand(const SiteCommand&) = delete;
  SiteCommand& operator=(const SiteCommand&) = delete;
  ~SiteCommand();  // if it still runs it is killed, and nothing is told

  // One that an earlier life of the service had begun, by its record: kills it, if it runs, and removes the record.
  static void end_left_over(const std::string& record);

 private:
  struct Running;
  std::shared_ptr<Running> running_;
};

}  // namespace rota::process
