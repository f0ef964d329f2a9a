#include "model/trades.h"

#include <fmt/core.h>

#include <algorithm>

namespace rota {
namespace {

auto listed_as(const std::map<std::int64_t, Offer>& offered, std::int64_t number) {
  return std::ranges::find(offered, number, [](const auto& row) { return row.second.spec.number; });
}

}  // namespace

std::optional<std::string> Trades::objection(const Offer& offer) const {
  if (offer.serial > last_serial_) return std::nullopt;
  return fmt::format("job {} is offered as number {} of its site, which has given {} numbers; nothing was changed.",
                     offer.spec.number, offer.serial, last_serial_);
}

std::optional<std::string> Trades::objection(const Offer& offer, Trade trade) const {
  const std::int64_t number = offer.spec.number;
  const auto guest = guests_.find(number);
  bool fits = false;
  switch (trade) {
    case Trade::listed:
      fits = listed_as(offered_, number) != offered_.end();
      break;
    case Trade::won:
    case Trade::over:
      fits = guest == guests_.end();
      break;
    case Trade::lost:
    case Trade::closed:
      fits = guest != guests_.end();
  }
  if (fits) return std::nullopt;
  return fmt::format("what is said to have become of job {} at the exchange cannot be; nothing was changed.", number);
}

void Trades::offer(const Offer& offer) {
  offered_.emplace(offer.serial, offer);
  last_serial_ = offer.serial;
}

void Trades::trade(const Offer& offer, Trade trade, std::int64_t number) {
  const std::int64_t job = offer.spec.number;
  const std::int64_t here = number == 0 ? job : number;
  switch (trade) {
    case Trade::listed:
      offered_.erase(listed_as(offered_, job));
      return;
    case Trade::won:
      guests_[job] = {offer, here};
      if (here != job) numbers_[here] = job;
      return;
    case Trade::over:
      guests_[job] = {offer, here, Guest::Stage::over};
      return;
    case Trade::lost:
    case Trade::closed:
      numbers_.erase(guests_.at(job).number);
      guests_.erase(job);
  }
}

const Trades::Guest* Trades::with_number(std::int64_t number) const {
  const auto other = numbers_.find(number);
  const auto guest = guests_.find(other == numbers_.end() ? number : other->second);
  return guest == guests_.end() || guest->second.number != number ? nullptr : &guest->second;
}

Trades::Guest* Trades::find(std::int64_t number) {
  const Guest* const guest = with_number(number);
  return guest == nullptr ? nullptr : &guests_.at(guest->offer.spec.number);
}

void Trades::queued(std::int64_t number, JobId id) {
  Guest* const guest = find(number);
  if (guest == nullptr || guest->stage != Guest::Stage::coming) return;
  guest->stage = Guest::Stage::queued;
  guest->id = id;
}

void Trades::ended(std::int64_t number, JobId id) {
  Guest* const guest = find(number);
  if (guest == nullptr || guest->id != id) return;
  guest->stage = Guest::Stage::over;
}

}  // namespace rota
