#include "control/home_jobs.h"

#include <utility>

#include "control/dispatcher.h"

namespace rota {

using About = OpenRequests::About;

namespace {

// In one request: more brings no more jobs a second, and a store has its limits.
constexpr std::size_t kMostOffers = 60, kMostBytes = std::size_t{256} << 10U;

}  // namespace

void HomeJobs::offer(const Offer& offer) {
  offers_.push_back(offer);
  offer_next();
}

// One request at a time, so that none overtakes another.
void HomeJobs::offer_next() {
  const Epoch epoch = requests_.epoch(queue_);
  if (offers_.empty() || !queue_.complete() || epoch == 0 || requests_.out(About::offer)) return;
  const std::int64_t last = queue_.last_offered(self_);
  while (!offers_.empty() && offers_.front().serial <= last) {
    site_.listed(offers_.front());
    offers_.pop_front();
  }
  if (offers_.empty()) return;
  Request request{.kind = Request::Kind::offer, .token = {}, .site = self_, .epoch = epoch};
  request.job = offers_.front().spec.number;
  request.last = last;
  std::size_t bytes = 0;
  for (const Offer& offer : offers_) {
    bytes += site_.bytes_of(offer);
    if (request.offers.size() == kMostOffers || (bytes > kMostBytes && !request.offers.empty())) break;
    request.offers.push_back(std::make_shared<const Offer>(offer));
  }
  requests_.send(request);
}

void HomeJobs::changed(const Change& change) {
  if (change.kind != Change::Kind::ended) return;
  const auto report = queue_.reports().find(change.job);
  if (report != queue_.reports().end()) site_.reported(change.job, report->second.site, report->second.text);
}

void HomeJobs::all_changed() {
  for (const auto& [job, report] : queue_.reports()) site_.reported(job, report.site, report.text);
  site_.all_known();
}

void HomeJobs::follow_up(std::int64_t job) {
  if (!noting_.empty() && noting_.contains(job)) send_note(job);
  if (!recalled_.empty() && recalled_.contains(job)) take_back(job);
  offer_next();
}

void HomeJobs::follow_up_all() {
  for (const std::int64_t job : std::set(noting_)) send_note(job);
  for (const std::int64_t job : std::set(recalled_)) take_back(job);
  offer_next();
}

void HomeJobs::noted(std::int64_t job) {
  recalled_.erase(job);
  noting_.insert(job);
  send_note(job);
}

void HomeJobs::send_note(std::int64_t job) {
  const Epoch epoch = requests_.epoch(queue_);
  if (!queue_.complete() || epoch == 0 || requests_.out(About::job, job)) return;
  if (!queue_.reports().contains(job)) {
    noting_.erase(job);
    return;
  }
  requests_.send({.kind = Request::Kind::note, .token = {}, .site = self_, .epoch = epoch, .job = job});
}

void HomeJobs::recall(std::int64_t job) {
  recalled_.insert(job);
  take_back(job);
}

// Once it is on offer and not claimed. What another site has settled may yet be put back, or forfeited.
void HomeJobs::take_back(std::int64_t job) {
  const Epoch epoch = requests_.epoch(queue_);
  if (!queue_.complete() || epoch == 0 || requests_.out(About::job, job)) return;
  if (queue_.won(job)) {
    recalled_.erase(job);
    return;
  }
  if (const GlobalQueue::Away* const there = queue_.away(job)) {
    if (queue_.cancelled(job, self_)) return;
    Request request{.kind = Request::Kind::cancel, .token = {}, .site = self_, .epoch = epoch, .job = job};
    request.own_seen = there->revision;
    return requests_.send(request);
  }
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (lot && !queue_.claimed(*lot)) requests_.claim(queue_, *lot, self_);
}

}  // namespace rota
