#include "serve/real_loop.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "process/clock.h"

namespace rota::serve {

RealLoop::RealLoop(boost::asio::io_context& io, std::int64_t unix_start)
    : io_(io),
      unix_start_(unix_start),
      offset_(process::unix_milliseconds() - unix_start * 1000 - process::boot_milliseconds()) {}

void RealLoop::not_before(Instant at) { offset_ += std::max(std::int64_t{0}, (at - now()).count()); }

Instant RealLoop::now() const { return Instant{Duration{process::boot_milliseconds() + offset_}}; }

Duration RealLoop::ahead() const {
  return now().time_since_epoch() - Duration{process::unix_milliseconds() - unix_start_ * 1000};
}

std::string RealLoop::date_of(Instant at) const {
  const std::time_t second = unix_milliseconds(at) / 1000;
  std::tm parts{};
  ::localtime_r(&second, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts));
}

void RealLoop::later(std::function<void()> call, std::chrono::steady_clock::duration after) const {
  const auto timer = std::make_shared<boost::asio::steady_timer>(io_, after);
  timer->async_wait([timer, call = std::move(call), calls = std::weak_ptr(calls_)](const boost::system::error_code&) {
    if (!calls.expired()) call();
  });
}

void RealLoop::set(Alarm& alarm, Instant at) {
  auto found = std::ranges::find(timers_, &alarm, [](const auto& t) { return t->alarm; });
  if (found == timers_.end()) {
    timers_.push_back(std::make_shared<Timer>(Timer{&alarm, kNever, boost::asio::steady_timer(io_)}));
    found = timers_.end() - 1;
  }
  const std::shared_ptr<Timer> timer = *found;
  timer->at = at;
  ++timer->setting;
  timer->timer.cancel();
  if (at != kNever) wait(timer);
}

void RealLoop::forget(Alarm& alarm) {
  std::erase_if(timers_, [&](const auto& t) { return t->alarm == &alarm; });
}

// In pieces of an hour: what is far away is a number that the system's clocks cannot hold.
void RealLoop::wait(const std::shared_ptr<Timer>& timer) {
  const Duration left = std::clamp(timer->at - now(), Duration{0}, Duration{3'600'000});
  timer->timer.expires_after(std::chrono::milliseconds(left.count()));
  timer->timer.async_wait(
      [this, kept = std::weak_ptr(timer), setting = timer->setting](const boost::system::error_code& error) {
        const std::shared_ptr<Timer> due = kept.lock();
        if (error || !due || setting != due->setting) return;
        if (now() < due->at) return wait(due);
        due->at = kNever;
        due->alarm->ring();
        if (after_) after_();
      });
}

}  // namespace rota::serve
