#include "exchange/faulty.h"

#include <algorithm>
#include <utility>

namespace rota {

// Stands in for a site's watcher at the exchange.
class FaultyExchange::Line final : public Watcher {
 public:
  Line(FaultyExchange& network, SiteId site, Watcher& stands_for, Revision known)
      : watcher(&stands_for), seen(known), network_(network), site_(site) {}

  void hear(const Change& change) override {
    const Instant soon = network_.loop_.now() + network_.delay();
    if (change.kind != Change::Kind::refused) {
      last_due = std::max(last_due, soon);
      return network_.put(last_due, Delivery{site_, stream, change});
    }
    if (network_.random_.chance(network_.faults_.refusal_lost)) {
      ++network_.counts_.refusals_lost;
      return;
    }
    network_.put(soon, Delivery{site_, stream, change});
    if (!network_.random_.chance(network_.faults_.refusal_doubled)) return;
    ++network_.counts_.refusals_doubled;
    network_.put(network_.loop_.now() + network_.delay(), Delivery{site_, stream, change});
  }

  Watcher* watcher;
  Revision seen;  // the last change that was handed over
  bool is_cut = false;
  bool in_resync = false;
  std::uint32_t stream = 0;  // rises when it breaks; what is under way of an earlier one is lost
  Instant last_due = kEpoch;

 private:
  FaultyExchange& network_;
  SiteId site_;
};

FaultyExchange::FaultyExchange(Exchange& inner, const Faults& faults, std::uint64_t seed, Loop& loop)
    : inner_(inner), faults_(faults), random_(seed), loop_(loop) {}

FaultyExchange::~FaultyExchange() {
  for (auto& [site, line] : lines_) inner_.stop(*line);
  loop_.set(*this, kNever);
}

Duration FaultyExchange::delay() {
  return faults_.delay > Duration{0} ? Duration{random_.between(0, faults_.delay.count())} : Duration{0};
}

void FaultyExchange::put(Instant at, Item item) {
  under_way_.emplace(std::pair{at, ++sent_}, std::move(item));
  loop_.set(*this, under_way_.begin()->first.first);
}

void FaultyExchange::send(const Request& request) {
  ++counts_.requests;
  const auto line = lines_.find(request.site);
  const bool is_cut = line != lines_.end() && line->second->is_cut;
  if (is_cut || random_.chance(faults_.request_lost)) {
    ++counts_.requests_lost;
    return;
  }
  put(loop_.now() + delay(), request);
  if (!random_.chance(faults_.request_doubled)) return;
  ++counts_.requests_doubled;
  put(loop_.now() + delay(), request);
}

void FaultyExchange::watch(SiteId site, Watcher& watcher, Revision seen) {
  auto& line = lines_[site];
  const bool was_cut = line && line->is_cut;
  const std::uint32_t stream = line ? line->stream + 1 : 0;
  if (line) inner_.stop(*line);
  line = std::make_unique<Line>(*this, site, watcher, seen);
  line->is_cut = was_cut;
  line->stream = stream;
  if (!was_cut) inner_.watch(site, *line, seen);
}

void FaultyExchange::stop(Watcher& watcher) {
  for (auto& [site, line] : lines_) {
    if (line->watcher != &watcher) continue;
    inner_.stop(*line);
    line->watcher = nullptr;
    ++line->stream;
  }
}

void FaultyExchange::cut(SiteId site) {
  Line& line = *lines_.at(site);
  if (std::exchange(line.is_cut, true)) return;
  ++counts_.cuts;
  ++line.stream;
  inner_.stop(line);
}

void FaultyExchange::heal(SiteId site) {
  Line& line = *lines_.at(site);
  if (!std::exchange(line.is_cut, false) || !line.watcher) return;
  carry(Reconnect{site, line.stream});
}

void FaultyExchange::ring() {
  while (!under_way_.empty() && under_way_.begin()->first.first <= loop_.now()) {
    Item item = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    std::visit([&](auto& message) { carry(message); }, item);
  }
  loop_.set(*this, under_way_.empty() ? kNever : under_way_.begin()->first.first);
}

void FaultyExchange::carry(const Request& request) { inner_.send(request); }

void FaultyExchange::carry(const Reconnect& reconnect) {
  Line& line = *lines_.at(reconnect.site);
  if (line.stream != reconnect.stream || line.is_cut || !line.watcher) return;
  line.in_resync = false;
  inner_.watch(reconnect.site, line, line.seen);
}

void FaultyExchange::carry(Delivery& delivery) {
  Line& line = *lines_.at(delivery.site);
  if (line.stream != delivery.stream || !line.watcher) return;
  if (delivery.change.kind == Change::Kind::refused) return line.watcher->hear(delivery.change);
  if (random_.chance(faults_.stream_broken)) {
    ++counts_.streams_broken;
    ++line.stream;
    inner_.stop(line);
    return put(loop_.now() + faults_.reconnect, Reconnect{delivery.site, line.stream});
  }
  hand_over(line, delivery.change);
}

void FaultyExchange::hand_over(Line& line, const Change& change) {
  if (change.kind == Change::Kind::resync) {
    line.in_resync = true;
    ++counts_.resyncs;
  }
  if (change.kind == Change::Kind::resynced) line.in_resync = false;
  if (!line.in_resync) line.seen = change.revision;
  line.watcher->hear(change);
  if (!line.watcher) return;  // its site has died of it
  if (line.in_resync || !random_.chance(faults_.change_doubled)) return;
  ++counts_.changes_doubled;
  line.watcher->hear(change);
}

}  // namespace rota
