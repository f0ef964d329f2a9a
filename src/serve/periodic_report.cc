#include "serve/periodic_report.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "process/clock.h"

namespace rota::serve {
namespace {

constexpr const char* kLatest = "report made";
constexpr Duration kTimeout = seconds(3600);
constexpr Duration kLook = seconds(60);     // at the clock, which may be set
constexpr Duration kAgain = seconds(3600);  // after a failure
constexpr std::size_t kMostOutput = std::size_t{1} << 20U;
constexpr std::size_t kMostMailed = std::size_t{1} << 16U;  // of what a command finds in one variable

bool is_path(const std::string& to) { return to.starts_with('/'); }

}  // namespace

Result<std::unique_ptr<PeriodicReport>> PeriodicReport::begin(boost::asio::io_context& io, const Desk& desk,
                                                              Options options) {
  if (!is_path(options.to)) {
    TRY(check_mail_user(options.to));
    if (!options.mails)
      return fail("`report` in [slurm] is to be mailed to {}, and no `mail_command` in [service] sends mail.",
                  options.to);
  }
  std::unique_ptr<PeriodicReport> report(new PeriodicReport(io, desk, std::move(options)));
  report->wait();
  return report;
}

PeriodicReport::PeriodicReport(boost::asio::io_context& io, const Desk& desk, Options options)
    : io_(io), desk_(desk), options_(std::move(options)), timer_(io) {
  process::SiteCommand::end_left_over(options_.record);
  const auto kept = desk_.store().setting(kLatest);
  const auto latest = parse_integer(kept && *kept ? std::string_view(**kept) : std::string_view());
  latest_ = latest ? *latest : process::unix_milliseconds();
  if (!latest) desk_.store().put_setting(kLatest, std::to_string(latest_));
}

void PeriodicReport::stop() {
  timer_.cancel();
  command_.reset();
}

std::int64_t PeriodicReport::due() const { return latest_ + options_.every.count(); }

void PeriodicReport::wait() {
  const Duration left{std::max<std::int64_t>(due() - process::unix_milliseconds(), 0)};
  timer_.expires_after(std::chrono::milliseconds(std::min(left, kLook).count()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (due() > process::unix_milliseconds()) return wait();
    make();
  });
}

void PeriodicReport::make() {
  command_ = std::make_unique<process::SiteCommand>(io_,
                                                    process::SiteCommand::Options{.text = options_.command,
                                                                                  .variables = {},
                                                                                  .timeout = kTimeout,
                                                                                  .most_output = kMostOutput,
                                                                                  .record = options_.record},
                                                    [this](const process::SiteCommand::End& end) { made(end); });
}

// It is tried again before the next period is over, and the next one counts from now on in either case.
void PeriodicReport::made(const process::SiteCommand::End& end) {
  const std::int64_t now = process::unix_milliseconds();
  const Result<void> done = end.done ? deliver(end.output) : fail("its command {}", end.why);
  if (done) {
    latest_ = now;
    desk_.store().put_setting(kLatest, std::to_string(latest_));
    desk_.log().say("the report was made: " + options_.to);
  } else {
    latest_ = now + std::min(kAgain, options_.every).count() - options_.every.count();
    desk_.log().warn(fmt::format("the report for {} was not made: {}", options_.to, done.error().message));
  }
  wait();
}

Result<void> PeriodicReport::deliver(const std::string& text) {
  if (is_path(options_.to)) {
    auto file = TRY(OutputFile::create(options_.to));
    file.stream() << text;
    return file.commit();
  }
  options_.mails(
      {.uid = ::geteuid(),
       .to = options_.to,
       .type = "REPORT",
       .job = "",
       .subject = fmt::format("{}: how Slurm's jobs were foretold, and what is worth changing", desk_.machine()->name),
       .body = text.substr(0, kMostMailed)});
  return {};
}

}  // namespace rota::serve
