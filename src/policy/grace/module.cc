// What becomes of jobs that have used up their time.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kRules[]{{"kill", Overrun::kill},
                              {"run-on", Overrun::run_on},
                              {"strict", Overrun::strict},
                              {"rb-har", Overrun::rb_har},
                              {"rb-har-literal", Overrun::rb_har_literal},
                              {"grace", Overrun::grace, "lazy"}};

void set_overrun(ChainKnobs& k, const KnobValue& value) {
  k.overrun = value.named ? static_cast<Overrun>(value.whole) : Overrun::fixed;
  k.grace = Duration{value.named ? 0 : value.whole};
}

constexpr Knob kKnobs[]{
    {.name = "overrun",
     .names = kRules,
     .range = Range::time(),
     .fallback = "kill",
     .meaning = "what becomes of a job at its limit; a duration is a fixed grace like Slurm's OverTimeLimit",
     .source = "Li and Lei 2018 (strict, rb-har); Slurm's OverTimeLimit (a duration); Rota (grace)",
     .set = set_overrun},
};

std::unique_ptr<Policy> link(const ChainKnobs& k) { return make_overrun(k.overrun); }

void ask(const ChainKnobs& k, ClusterOptions& options) {
  options.list_processors = asks_for_processors(k.overrun);
  options.waiting.by_size |= asks_for_processors(k.overrun);
}

bool stops_jobs(const ChainKnobs& k) { return k.overrun >= Overrun::strict; }

constexpr EngineNeed kNeeds[]{
    {"overrun", Capability::requeue, stops_jobs},
    {"overrun", Capability::extend, [](const ChainKnobs& k) { return k.overrun != Overrun::kill; }},
};

constexpr Refusal kRefusals[]{
    {[](const ChainKnobs& k) { return stops_jobs(k) && k.backfill.promises == 0; },
     "this overrun rule acts when a promised start is due, and with depth=0 nothing is promised. Take depth=1, or "
     "overrun=kill, run-on or a duration."},
};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return stops_jobs(k) ? "its overrun rule stops jobs for a promise without looking at what is reserved" : "";
}

constexpr PolicyName kPolicies[]{
    {"strict", "", "depth=1+beside=no+fixed=yes+overrun=strict",
     "backfilling that stops overrunning jobs as soon as a promise is due", "Li and Lei 2018, their base",
     "overrun=strict"},
    {"rb-har", "rbhar", "depth=1+beside=no+fixed=yes+overrun=rb-har",
     "backfilling in which an overrunning job goes on when that harms no other job", "Li and Lei 2018",
     "overrun=rb-har"},
    {"grace", "lazy", "depth=1+beside=no+fixed=yes+overrun=grace",
     "as rb-har, but kills only when the promised job can start by it at once",
     "after Li and Lei 2018; Yuan et al. 2014", "overrun=grace"},
};

}  // namespace

constinit const Module kGraceModule{.name = "overrun",
                                    .knobs = kKnobs,
                                    .policies = kPolicies,
                                    .link = link,
                                    .ask = ask,
                                    .engine = kNeeds,
                                    .refusals = kRefusals,
                                    .breaks_reservations = breaks_reservations};

}  // namespace rota
