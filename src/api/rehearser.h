// What takes seconds, on a thread of its own: sums of the history, rehearsals of policies. No user takes all of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "process/worker.h"
#include "serve/submission.h"

namespace rota::api {

// On the loop, but for ends().
class Rehearser {
 public:
  explicit Rehearser(boost::asio::io_context& io) : worker_(io) {}

  // Why nothing more is begun for this caller now; empty: it is. Operators have a place however many others ask.
  std::string full_for(const serve::Caller& caller) const {
    constexpr std::size_t kMostOfOne = 4;
    constexpr std::size_t kMost = 16;
    const auto of = of_.find(caller.uid);
    if (of != of_.end() && of->second >= kMostOfOne)
      return "four sums of the history or rehearsals of policies are being made for you already; ask again in a "
             "moment.";
    if (!caller.operates && worker_.under_way() >= kMost)
      return "many sums of the history and rehearsals of policies are being made already; ask again in a moment.";
    return "";
  }
  // See Worker.
  void run(std::uint32_t uid, std::function<std::function<void()>()> work) {
    ++of_[uid];
    worker_.run([this, uid, work = std::move(work)] {
      return [this, uid, call = work()] {
        if (const auto of = of_.find(uid); --of->second == 0) of_.erase(of);
        call();
      };
    });
  }
  bool ends() const { return worker_.ends(); }

 private:
  std::map<std::uint32_t, std::size_t> of_;  // under way
  process::Worker worker_;
};

}  // namespace rota::api
