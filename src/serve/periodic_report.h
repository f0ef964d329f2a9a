// A report that the service has made once in each period, and puts into a file or mails: what a command prints, run at
// the lowest priority beside all else. Periods count on when the service starts anew: a report that was due meanwhile
// is made then, and once. One thread: that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "process/site_command.h"
#include "serve/desk.h"
#include "serve/mail.h"

namespace rota::serve {

class PeriodicReport {
 public:
  struct Options {
    std::string command;  // for /bin/sh, prints the report
    std::string to;       // an absolute path, or an address
    Duration every{0};
    std::string record;               // see SiteCommand
    std::function<void(Mail)> mails;  // empty: no mail can be sent
  };

  // Begins. Fails with a sentence where `to` is an address to which no mail can go.
  static Result<std::unique_ptr<PeriodicReport>> begin(boost::asio::io_context& io, const Desk& desk, Options options);
  void stop();

 private:
  PeriodicReport(boost::asio::io_context& io, const Desk& desk, Options options);
  std::int64_t due() const;  // Unix milliseconds
  void wait();
  void make();
  void made(const process::SiteCommand::End& end);
  Result<void> deliver(const std::string& text);

  boost::asio::io_context& io_;
  const Desk& desk_;
  Options options_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<process::SiteCommand> command_;
  std::int64_t latest_ = 0;  // when the latest one was made, or the first period began; Unix milliseconds
};

}  // namespace rota::serve
