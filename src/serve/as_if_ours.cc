#include "serve/as_if_ours.h"

#include <algorithm>
#include <array>

#include "model/never_fits.h"

namespace rota::serve {

bool waits_for_room(std::string_view reason) {
  constexpr std::array<std::string_view, 5> kForRoom{"None", "Priority", "Resources", "BeginTime", "Licenses"};
  return reason.empty() || std::ranges::find(kForRoom, reason) != kForRoom.end();
}

std::vector<Fact> as_if_ours(std::vector<Fact> facts, const Machine& machine, const JobBook& book) {
  for (Fact& fact : facts) {
    if (auto* planned = std::get_if<Replanned>(&fact.what)) planned->owes_try = planned->owes_plan = true;
    auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept == nullptr || kept->row.ours() || kept->row.gone()) continue;
    Job& row = kept->row;
    const auto bars = static_cast<Bars>(row.bars & ~kNotOurs);
    if (row.state == JobState::running) row.bars = bars;
    if (row.state != JobState::barred) continue;
    const JobEntry* entry = book.find(kept->job);
    if (entry != nullptr && !waits_for_room(entry->heard().waits)) continue;
    if (row.spec.processors > machine.processors || never_fits(machine, row.spec)) continue;
    row.bars = bars;
    if (bars == kNoBars) row.state = JobState::waiting;
  }
  return facts;
}

}  // namespace rota::serve
