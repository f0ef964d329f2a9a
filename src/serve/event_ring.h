// The latest facts as lines of JSON, for who follows what happens. Costs nothing while nobody has ever followed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace rota::serve {

struct Event {
  std::uint64_t sequence = 0;
  std::string kind;
  std::string line;
  std::int64_t job = 0;  // its number; 0: it is about none
};

// One thread.
class EventRing {
 public:
  explicit EventRing(std::size_t most = 10'000) : most_(most) {}

  void add(Event event) {
    events_.push_back(std::move(event));
    if (events_.size() > most_) events_.pop_front();
  }
  // What came after this number until visit(event) returns false. False: some of it is no longer known.
  template <class Visit>
  bool for_each_after(std::uint64_t sequence, const Visit& visit) const {
    const bool whole = events_.empty() ? sequence >= before_ : events_.front().sequence <= sequence + 1;
    for (auto at = std::ranges::upper_bound(events_, sequence, {}, &Event::sequence); at != events_.end(); ++at) {
      if (!visit(*at)) break;
    }
    return whole;
  }
  bool wanted() const { return wanted_; }  // somebody follows, or has followed

  // Called after each turn in which something came.
  // `now`: the number of the latest fact.
  std::uint64_t follow(std::uint64_t now, std::function<void()> call) {
    if (!wanted_) before_ = now;
    wanted_ = true;
    followers_.push_back({++next_, std::move(call)});
    return next_;
  }
  void leave(std::uint64_t follower) {
    std::erase_if(followers_, [&](const auto& f) { return f.first == follower; });
  }
  void wake() {
    const auto followers = followers_;  // one of them may leave
    for (const auto& [id, call] : followers) call();
  }
  std::size_t followers() const { return followers_.size(); }

 private:
  std::size_t most_;
  std::deque<Event> events_;
  bool wanted_ = false;
  std::uint64_t before_ = 0;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> followers_;
  std::uint64_t next_ = 0;
};

}  // namespace rota::serve
