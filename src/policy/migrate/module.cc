// Running jobs that move to faster nodes.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kHow[]{{"no", Migration::none}, {"cpu-factor", Migration::cpu_factor}, {"gain", Migration::gain}};

bool moves(const ChainKnobs& k) { return k.migrate.how != Migration::none; }
std::string_view for_cpu_factor(const ChainKnobs& k) {
  return k.migrate.how == Migration::cpu_factor ? "" : "it is for migrate=cpu-factor";
}

constexpr Knob kKnobs[]{
    {.name = "migrate",
     .names = kHow,
     .fallback = "no",
     .meaning = "running jobs move to faster nodes that have come free: as published, or where it gains more than it "
                "costs",
     .source = "Wang et al. 2018 (cpu-factor); Rota (gain)",
     .set = put<&ChainKnobs::migrate, &MigrateKnobs::how>},
    {.name = "poll",
     .range = Range::time(seconds(1)),
     .fallback = "1m",
     .meaning = "with migrate=cpu-factor: how often it looks",
     .source = "Wang et al. 2018; how long is Rota's",
     .set = put<&ChainKnobs::migrate, &MigrateKnobs::poll>,
     .idle = for_cpu_factor},
    {.name = "threshold",
     .range = Range::time(),
     .fallback = "240m",
     .meaning = "with migrate=cpu-factor: what a job must have run for",
     .source = "Wang et al. 2018",
     .set = put<&ChainKnobs::migrate, &MigrateKnobs::threshold>,
     .idle = for_cpu_factor},
    {.name = "margin",
     .range = Range::hundredths(0, 100),
     .fallback = "3.0",
     .unit = "factors",
     .meaning = "with migrate=gain: how many times its cost a move must gain",
     .source = "Rota",
     .set = put_hundredths<&ChainKnobs::migrate, &MigrateKnobs::margin>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return k.migrate.how == Migration::gain ? "" : "it is for migrate=gain";
     }},
};

std::unique_ptr<Policy> link(const ChainKnobs& k) { return moves(k) ? std::make_unique<Migrate>(k.migrate) : nullptr; }

constexpr EngineNeed kNeeds[]{{"migrate", Capability::move, moves}};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return moves(k) ? "migrate moves jobs without looking at what is reserved" : "";
}

}  // namespace

constinit const Module kMigrateModule{
    .name = "migrate", .knobs = kKnobs, .link = link, .engine = kNeeds, .breaks_reservations = breaks_reservations};

}  // namespace rota
