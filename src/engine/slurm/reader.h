// Runs Slurm's commands, one at a time and no more than so many in a second, while the service goes on. It only reads:
// no command here changes anything. One thread: that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "control/ports.h"
#include "process/site_command.h"

namespace rota::slurm {

class Reader final : private Alarm {
 public:
  // The whole of what a command printed, or a sentence why there is nothing.
  using Call = std::function<void(Result<std::string>)>;

  Reader(boost::asio::io_context& io, Loop& loop, Duration gap) : io_(io), loop_(loop), gap_(gap) {}
  ~Reader() override { loop_.set(*this, kNever); }

  // One at a time: not while another is asked. The answer comes later.
  void ask(const std::string& command, Call call);
  std::int64_t calls() const { return calls_; }

 private:
  void ring() override;
  void ended(const process::SiteCommand::End& end);

  boost::asio::io_context& io_;
  Loop& loop_;
  Duration gap_;
  Instant next_ = kEpoch;  // no command begins before
  std::string text_;
  Call call_;
  std::unique_ptr<process::SiteCommand> command_;
  std::int64_t calls_ = 0;
};

// For /bin/sh: the command without what users and sites may have set for their own reading. What it says on standard
// error comes last, and only where it fails.
std::string plainly(const std::string& command);

// Six letters and digits that cannot be guessed: see job_rows.h.
std::string drawn_mark();

}  // namespace rota::slurm
