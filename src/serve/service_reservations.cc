// What the configuration reserves by date is kept in the state, and tells jobs why they wait.
#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "serve/node_list.h"
#include "serve/reserved.h"
#include "serve/service.h"

namespace rota::serve {

const Reservation* first_reserved_for(const View& view, const Job& job) {
  if (!view.reserved_in_reach()) return nullptr;
  const Instant now = view.now();
  const Reservation* first = nullptr;
  for (const Reservation& r : view.reservations().all()) {
    if (r.overlaps(now, now + job.expected) && (first == nullptr || r.from < first->from)) first = &r;
  }
  return first;
}
namespace {

bool alike(const Reservation& a, const Reservation& b) {
  return a.from == b.from && a.until == b.until && a.nodes == b.nodes && a.processors == b.processors;
}

std::string date_of(std::int64_t unix_milliseconds) {
  const std::time_t second = unix_milliseconds / 1000;
  std::tm parts{};
  ::localtime_r(&second, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts));
}

}  // namespace

// One that is no longer in the file is taken back, one that is new there is made.
Result<void> Service::keep_reservations() {
  std::vector<Reservation> wanted = dated_reservations_;
  for (Reservation& r : wanted) {
    r.from = instant_of((r.from - kEpoch).count());
    r.until = instant_of((r.until - kEpoch).count());
  }
  const std::vector<Reservation> known = view().reservations().all();
  for (const Reservation& r : known) {
    if (std::ranges::any_of(wanted, [&](const Reservation& w) { return alike(w, r); })) continue;
    if (auto done = controller_->record(Unreserved{r.id}); !done) return done;
  }
  for (const Reservation& r : wanted) {
    if (std::ranges::any_of(known, [&](const Reservation& k) { return alike(k, r); })) continue;
    if (r.until <= std::max(view().now(), loop_->now())) continue;  // it is over
    const Reserved fact{view().reservations().next_id(), r.from, r.until, r.nodes, r.processors};
    if (auto done = controller_->record(fact); !done) return done;
  }
  return {};
}

// What is reserved for a time in which the job would still run; nullptr: nothing, or something else is in its way as
// well.
const Reservation* Service::reserved_before(JobId id, const Job& job) const {
  if (view().free() < job.spec.processors) return nullptr;
  const Reservation* first = first_reserved_for(view(), job);
  if (first == nullptr) return nullptr;
  const WaitingEntry* head = view().waiting().head();
  const bool by_itself = first->nodes.empty() && view().free() - first->processors < job.spec.processors;
  return by_itself || (head != nullptr && head->job == id) ? first : nullptr;
}

std::string Service::text_of(const Reservation& reserved) const {
  std::string what = amount(reserved.processors, "processor");
  if (!reserved.nodes.empty())
    what = (reserved.nodes.size() == 1 ? "Node " : "Nodes ") + node_list(*machine_, reserved.nodes);
  const bool one = reserved.nodes.empty() ? reserved.processors == 1 : reserved.nodes.size() == 1;
  what += one ? " is reserved " : " are reserved ";
  const std::string until = date_of(unix_milliseconds(reserved.until));
  if (reserved.from <= view().now()) return what + "until " + until + ".";
  return what + "from " + date_of(unix_milliseconds(reserved.from)) + " to " + until + ", before it would be over.";
}

}  // namespace rota::serve
