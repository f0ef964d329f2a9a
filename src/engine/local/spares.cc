#include "engine/local/spares.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/spare_supervisor.h"
#include "process/clock.h"

namespace rota::local {

using process::boot_milliseconds;

namespace {

constexpr std::size_t kMost = 64;
constexpr std::chrono::seconds kRest{10};  // without a job they go

}  // namespace

void Spares::keep(std::unique_ptr<RunLink> link, const RunRecord& over) {
  if (waiting_.size() >= kMost) return;
  link->hear_for([this, one = link.get()](const RunRecord* record) {
    if (record == nullptr) forget(one);
  });
  waiting_.push_back({std::move(link), over.cores, over.cgroups});
  rest_.expires_after(kRest);
  rest_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (*alive && !error) waiting_.clear();
  });
}

bool Spares::Spare::suits(const Order& order) const {
  if (cgroups.size() != order.claim.cgroups.size()) return false;
  return cgroups.empty() || (cores == order.claim.cores && order.most_memory == 0);
}

std::unique_ptr<RunLink> Spares::give(Order& order, RunLink::Hear hear) {
  const auto found =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Spare& spare) { return spare.suits(order); });
  if (found == waiting_.rend()) return nullptr;
  const std::vector<std::string> own = std::exchange(order.claim.cgroups, found->cgroups);
  const std::string text = in_words(order);
  if (text.size() <= kLongestForSpares) {
    std::unique_ptr<RunLink> link = std::move(found->link);
    waiting_.erase(std::next(found).base());
    if (link->send(text)) {
      link->hear_for(std::move(hear));
      return link;
    }
  }
  order.claim.cgroups = own;
  return nullptr;
}

void Spares::end() {
  constexpr std::int64_t kPatience = 500;  // milliseconds
  for (const Spare& spare : waiting_) ::shutdown(spare.link->socket(), SHUT_WR);
  const std::int64_t until = boot_milliseconds() + kPatience;
  for (const Spare& spare : waiting_) {
    pollfd gone{spare.link->socket(), POLLIN, 0};
    ::poll(&gone, 1, static_cast<int>(std::max<std::int64_t>(until - boot_milliseconds(), 0)));
  }
  waiting_.clear();
}

// It was killed.
void Spares::forget(const RunLink* link) {
  const auto found = std::ranges::find(waiting_, link, [](const Spare& spare) { return spare.link.get(); });
  if (found == waiting_.end()) return;
  remove_cgroups(found->cgroups);
  waiting_.erase(found);
}

}  // namespace rota::local
