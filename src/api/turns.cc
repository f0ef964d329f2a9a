#include "api/turns.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace rota::api {

void Turns::enqueue(const boost::asio::any_io_executor& executor, const std::string& peer, std::function<void()> call) {
  const auto found = std::ranges::find(waiting_, peer, &Waiting::peer);
  Waiting& waiting = found == waiting_.end() ? waiting_.emplace_back(peer) : *found;
  waiting.calls.push_back(std::move(call));
  if (!std::exchange(runs_soon_, true)) run_soon(executor);
}

// After so many rounds of the loop.
void Turns::run_soon(const boost::asio::any_io_executor& executor, int rounds) {
  boost::asio::post(executor, [this, executor, rounds, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    if (rounds > 0) {
      run_soon(executor, rounds - 1);
    } else {
      run(executor);
    }
  });
}

void Turns::run(const boost::asio::any_io_executor& executor) {
  const auto begun = std::chrono::steady_clock::now();
  const auto until = begun + at_once_;
  do {
    Waiting& next = waiting_.front();
    const auto call = std::move(next.calls.front());
    next.calls.pop_front();
    if (next.calls.empty()) {
      waiting_.pop_front();
    } else {
      waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
    }
    call();
  } while (!waiting_.empty() && std::chrono::steady_clock::now() < until);
  runs_soon_ = !waiting_.empty();
  // Peers that came during a long one are let in, read and heard before the next one, each in a round of its own.
  constexpr int kRounds = 8;
  const bool was_long = std::chrono::steady_clock::now() - begun > 5 * at_once_;
  if (runs_soon_) run_soon(executor, was_long ? kRounds : 0);
}

}  // namespace rota::api
