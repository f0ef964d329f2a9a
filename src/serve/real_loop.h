// Real time, and alarms that ring in it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/ports.h"

namespace rota::serve {

// A clock that steps neither back nor forward: it is set by the computer's time of day once, and goes on by
// CLOCK_BOOTTIME, which counts the time that the computer sleeps. Instants count from `unix_start`. One thread.
class RealLoop final : public Loop {
 public:
  RealLoop(boost::asio::io_context& io, std::int64_t unix_start);

  // As before, which that one's offset() tells: of the same start of the system, whatever the time of day is by now.
  void goes_on(std::int64_t offset) { offset_ = offset; }
  std::int64_t offset() const { return offset_; }  // milliseconds that it is ahead of CLOCK_BOOTTIME

  // It never shows less from now on: what was written down before is past.
  void not_before(Instant at);

  Instant now() const override;
  void set(Alarm& alarm, Instant at) override;

  // Called after each alarm has rung.
  void after_alarms(std::function<void()> call) { after_ = std::move(call); }
  // How far it is ahead of the computer's time of day, which may have been set since this began, or before it.
  // Negative: it is behind.
  Duration ahead() const;
  std::int64_t unix_start() const { return unix_start_; }
  std::int64_t unix_milliseconds(Instant at) const { return at.time_since_epoch().count() + unix_start_ * 1000; }
  Instant instant_of(std::int64_t unix_milliseconds) const {
    return Instant{Duration{unix_milliseconds - unix_start_ * 1000}};
  }
  std::string date_of(Instant at) const;  // for people: "2026-12-01 08:00", local time
  // Calls after that time, and once all that is due before has had its turn; not after cancel().
  void later(std::function<void()> call, std::chrono::steady_clock::duration after = {}) const;
  void forget(Alarm& alarm);  // it never rings again
  void cancel() {             // nothing rings any more
    timers_.clear();
    calls_.reset();
  }

 private:
  struct Timer {
    Alarm* alarm;
    Instant at = kNever;
    boost::asio::steady_timer timer;
    std::uint64_t setting = 0;
  };
  void wait(const std::shared_ptr<Timer>& timer);

  boost::asio::io_context& io_;
  std::int64_t unix_start_;
  std::int64_t offset_;                         // milliseconds: now - CLOCK_BOOTTIME
  std::vector<std::shared_ptr<Timer>> timers_;  // a handful
  std::function<void()> after_;
  std::shared_ptr<bool> calls_ = std::make_shared<bool>(true);  // of later(), as long as this is there
};

}  // namespace rota::serve
