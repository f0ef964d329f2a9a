// The latest facts as lines of JSON, for clients that follow what happens. Costs nothing until the first one follows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "control/ports.h"

namespace rota::serve {

struct Event {
  std::uint64_t sequence = 0;
  std::string kind;
  std::string line;
  std::int64_t job = 0;  // its number; 0: it is about none
};

// One thread.
class EventRing final : public FactObserver {
 public:
  explicit EventRing(std::size_t most = 10'000) : most_(most) {}

  void fact_recorded(const View& before, const FactRef& fact) override;
  void add(Event event) {
    events_.push_back(std::move(event));
    if (events_.size() > most_) events_.pop_front();
  }
  // What came after this number, and may be told, until visit(event) returns false. False: some of it is no longer
  // known.
  template <class Visit>
  bool for_each_after(std::uint64_t sequence, const Visit& visit) const {
    const bool whole = events_.empty() ? sequence >= before_ : events_.front().sequence <= sequence + 1;
    for (auto at = std::ranges::upper_bound(events_, sequence, {}, &Event::sequence); at != events_.end(); ++at) {
      if (at->sequence > told_ || !visit(*at)) break;
    }
    return whole;
  }
  bool wanted() const { return wanted_; }  // a client follows, or has followed

  // Called after each turn in which something came: at once where few follow, else a few at a time and at most once for
  // all that has come meanwhile. `now`: the number of the latest fact.
  std::uint64_t follow(std::uint64_t now, std::function<void()> call) {
    if (!wanted_) before_ = now;
    wanted_ = true;
    followers_.emplace(++next_, std::make_shared<const std::function<void()>>(std::move(call)));
    return next_;
  }
  void leave(std::uint64_t follower) { followers_.erase(follower); }
  // Something has come, and all of it may be told.
  void wake() {
    if (!events_.empty()) told_ = events_.back().sequence;
    again_ = true;
    if (!waking_) wake_some();
  }
  // How to do something a moment later, after what others have to do.
  void set_later(std::function<void(std::function<void()>)> later) { later_ = std::move(later); }
  std::size_t followers() const { return followers_.size(); }

 private:
  static constexpr int kAtOnce = 100;

  // One of them may leave meanwhile, or come.
  void wake_some() {
    if (!waking_) woken_ = 0, again_ = false, waking_ = true;
    int some = 0;
    auto next = followers_.upper_bound(woken_);
    for (; next != followers_.end() && (some < kAtOnce || !later_); next = followers_.upper_bound(woken_), ++some) {
      woken_ = next->first;
      const auto call = next->second;
      (*call)();
    }
    if (next == followers_.end()) waking_ = false;
    if (waking_ || again_) later_ ? later_([this] { wake_some(); }) : void();
  }

  std::size_t most_;
  std::deque<Event> events_;
  bool wanted_ = false;
  std::uint64_t before_ = 0;
  std::map<std::uint64_t, std::shared_ptr<const std::function<void()>>> followers_;
  std::uint64_t next_ = 0;
  std::function<void(std::function<void()>)> later_;
  std::uint64_t told_ = 0;   // the latest that may be
  std::uint64_t woken_ = 0;  // in this round, the last of them
  bool waking_ = false;      // a round is under way
  bool again_ = false;       // something has come since it began
};

}  // namespace rota::serve
