// Which job's turn it is, and which is tried first when others pass.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr auto kOrders = [] {
  std::array<NamedValue, kOrderNames.size()> values{{}};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = {kOrderNames[i].second, kOrderNames[i].first};
  return values;
}();

std::string_view no_job_is_tried(const ChainKnobs& k) {
  const std::int32_t depth = k.backfill.promises;
  const bool tried = depth != BackfillKnobs::kEveryJob && (depth != 0 || k.backfill.skip);
  return tried || k.candidates == k.order
             ? ""
             : "no job is tried for backfilling: jobs start in queue order, or each as it was promised";
}

constexpr NamedValue kNoCap[]{{"no", kNoRatioCap}};

constexpr Knob kKnobs[]{
    {.name = "order",
     .names = kOrders,
     .fallback = "fcfs",
     .meaning = "whose turn it is",
     .source = "Tang et al. 2009 (wfp3, unicef); Carastan-Santos and de Camargo 2017 (f1); Slurm's fair share (fair); "
               "Brinch Hansen 1971 (hrrn)",
     .set = put<&ChainKnobs::order>},
    {.name = "candidates",
     .names = kOrders,
     .follows = "order",
     .meaning = "who is tried first for backfilling",
     .source = "Tsafrir, Etsion and Feitelson 2007",
     .set = put<&ChainKnobs::candidates>,
     .idle = no_job_is_tried},
    {.name = "fair-half-life",
     .range = Range::time(seconds(1)),
     .fallback = "7d",
     .meaning = "after so long, half of what a user has used counts no more",
     .source = "Slurm's PriorityDecayHalfLife",
     .set = put<&ChainKnobs::fair_half_life>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return by_recent_use(k) ? "" : "it is for order=fair, and for weight-fairshare under slurm";
     }},
    {.name = "hrrn-cap",
     .names = kNoCap,
     .range = Range::whole(1, 1'000'000),
     .fallback = "no",
     .unit = "times",
     .meaning = "hrrn: a response ratio above this counts as this, so that those who have it go by arrival",
     .source = "Rota",
     .set = put<&ChainKnobs::hrrn_cap>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return orders_by(k, Order::hrrn) ? "" : "it is for order=hrrn";
     }},
};

void ask(const ChainKnobs& k, ClusterOptions& options) {
  options.waiting.queue = k.order;
  options.waiting.candidates = k.candidates;
  options.waiting.ratio_cap = k.hrrn_cap;
  if (by_recent_use(k)) options.use.half_life = k.fair_half_life;
}

}  // namespace

constinit const Module kOrderModule{.name = "order", .knobs = kKnobs, .ask = ask};

}  // namespace rota
