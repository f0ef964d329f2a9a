// What the site's licence server says, asked by a command of the site's own from time to time: how many there are of
// each licence, and how many are in use in all. What others than our jobs use is not free for these.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/machine.h"
#include "process/site_command.h"

namespace rota::serve {

struct LicenceCount {
  LicenceId licence;
  std::int64_t total = 0;               // that the server has
  std::int64_t used = 0;                // of them, in all
  std::optional<std::int64_t> by_jobs;  // of those used, by jobs of this service, where the command tells them apart
};

// Lines "NAME TOTAL USED", or "NAME TOTAL USED BY_JOBS"; those that begin with no name of a licence here are passed
// over. Fails with a sentence where a line makes no sense or a licence is not told of.
Result<std::vector<LicenceCount>> parse_licence_counts(std::string_view text, const Machine& machine);

// How many of `count` licences, as the cluster file has it, are not there for jobs, of which these hold `held` by our
// own books. Where the server does not tell whose are used, what jobs hold counts as used by them.
std::int64_t used_elsewhere(const LicenceCount& counted, std::int64_t count, std::int64_t held);

// Asks at once, and then again so long after each answer. One thread: that of the io_context.
class LicenceWatch {
 public:
  struct Options {
    std::string command;  // for /bin/sh
    Duration interval{0};
    Duration timeout{0};
    std::string record;  // where a command under way is noted, for the next life of the service
  };
  using Take = std::function<void(const std::vector<LicenceCount>&)>;

  LicenceWatch(boost::asio::io_context& io, Options options, std::shared_ptr<const Machine> machine, Take take);

  void stop();
  // How many of the latest answers in a row were no good; 0: the last one was good.
  int failures() const { return failures_; }
  const std::string& failure() const { return failure_; }  // what was wrong with the last one

 private:
  void ask();
  void heard(const process::SiteCommand::End& end);

  boost::asio::io_context& io_;
  Options options_;
  std::shared_ptr<const Machine> machine_;
  Take take_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<process::SiteCommand> command_;
  int failures_ = 0;
  std::string failure_;
};

}  // namespace rota::serve
