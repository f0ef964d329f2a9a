#include "control/open_requests.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace rota {

OpenRequests::About OpenRequests::about(Request::Kind kind) {
  switch (kind) {
    case Request::Kind::join:
    case Request::Kind::renew:
      return About::site;
    case Request::Kind::offer:
      return About::offer;
    case Request::Kind::bid:
    case Request::Kind::withdraw:
      return About::bid;
    default:
      return About::job;
  }
}

void OpenRequests::send(Request request) {
  request.site = self_;
  request.token = token();
  const About what = about(request.kind);
  const bool one_at_a_time = what == About::offer || what == About::site;
  const auto [at, fresh] = open_.try_emplace({what, one_at_a_time ? 0 : request.job});
  CHECK(fresh, "one request is out at a time");
  at->second = {request, loop_.now() + patience_};
  exchange_.send(request);
}

void OpenRequests::claim(const GlobalQueue& queue, const GlobalQueue::Lot& lot, SiteId winner, std::string auction) {
  Request request{.kind = Request::Kind::claim, .token = {}, .site = self_, .epoch = epoch(queue)};
  if (request.epoch == 0) return;
  request.job = lot.offer->spec.number;
  request.job_seen = lot.revision;
  request.claim_seen = lot.claim.revision;
  request.winner = winner;
  request.winner_epoch = queue.epoch_of(winner);
  request.auction = std::move(auction);
  send(std::move(request));
}

Epoch OpenRequests::epoch(const GlobalQueue& queue) const {
  return queue.joined_by(self_).life == life_ ? queue.epoch_of(self_) : 0;
}

bool OpenRequests::conclude(const GlobalQueue& queue, std::int64_t job) {
  if (open_.empty()) return false;
  bool any = false;
  const std::pair<About, std::int64_t> keys[] = {{About::job, job}, {About::bid, job}, {About::offer, 0}};
  for (const auto& key : keys) {
    const auto open = open_.find(key);
    if (open == open_.end() || queue.possible(open->second.request)) continue;
    open_.erase(open);
    any = true;
  }
  return any;
}

bool OpenRequests::conclude_all(const GlobalQueue& queue) {
  return std::erase_if(open_, [&](const auto& open) { return !queue.possible(open.second.request); }) > 0;
}

void OpenRequests::resend() {
  std::vector<Request> due;
  for (auto& [key, open] : open_) {
    if (open.again > loop_.now()) continue;
    open.again = loop_.now() + patience_;
    due.push_back(open.request);
  }
  for (const Request& request : due) exchange_.send(request);
}

Instant OpenRequests::next() const {
  Instant next = kNever;
  for (const auto& [key, open] : open_) next = std::min(next, open.again);
  return next;
}

}  // namespace rota
