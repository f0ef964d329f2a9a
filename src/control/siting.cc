#include "control/siting.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

std::int64_t processors_asked(const View& view) {
  std::int64_t asked = view.running().processors();
  const auto add = [&](const WaitingEntry& e) {
    asked += e.processors;
    return true;
  };
  if (view.options().waiting.by_queue) {
    view.waiting().for_each_in_queue_order(add);
  } else {
    for (const WaitingEntry* e = view.waiting().head(); e; e = view.waiting().next(e->place)) add(*e);
  }
  return asked;
}

SiteId SiteChoice::choose(std::span<const SiteId> able, const std::function<SiteLoad(SiteId)>& load) {
  CHECK(!able.empty(), "a job that is to be placed can run somewhere");
  if (placing_ == Placing::random) turn_ = static_cast<std::uint32_t>(random_.between(0, std::int64_t{sites_} - 1));
  if (placing_ != Placing::least_loaded) return next_in_turn(able);
  SiteId best;
  SiteLoad least;
  for (const SiteId site : able) {
    const SiteLoad here = load(site);
    if (best.valid() && here.asked * least.processors >= least.asked * here.processors) continue;
    best = site;
    least = here;
  }
  return best;
}

SiteId SiteChoice::next_in_turn(std::span<const SiteId> able) {
  for (;;) {
    const SiteId site{turn_++ % sites_};
    if (std::find(able.begin(), able.end(), site) != able.end()) return site;
  }
}

}  // namespace rota
