// When nodes go to sleep and wake.
#include <algorithm>

#include "policy/power/always_on.h"
#include "policy/power/power_demand.h"
#include "policy/power/power_load.h"
#include "policy/registry.h"

namespace rota {
namespace {

constexpr std::string_view kCao = "Cao, Cao, Dai, Zhu and Chi 2011";

constexpr NamedValue kRules[]{{"always-on", Power::none},
                              {"load-factor", Power::load_factor},
                              {"demand", Power::demand},
                              {"idle-timeout", Power::idle_timeout}};
constexpr NamedValue kSample[]{{"all", WorkSample::all}, {"latest", WorkSample::latest}, {"drawn", WorkSample::drawn}};
constexpr NamedValue kTrigger[]{{"all", 0}, {"on", 1}};
constexpr NamedValue kRoot[]{{"sample", 0}, {"queue", 1}};
constexpr NamedValue kFew[]{{"open", 1}, {"no", 0}};
constexpr NamedValue kPer[]{{"partition", 0}, {"cluster", 1}};
constexpr NamedValue kHistory[]{{"learn", 0}, {"log", 1}};

template <auto Member>
constexpr auto power = put<&ChainKnobs::power, Member>;

std::string_view for_load_factor(const ChainKnobs& k) {
  return k.power.rule == Power::load_factor ? "" : "it is for power=load-factor";
}
std::string_view for_demand(const ChainKnobs& k) {
  return k.power.rule == Power::demand ? "" : "it is for power=demand";
}
std::string_view for_demand_or_load(const ChainKnobs& k) {
  const bool used = k.power.rule == Power::demand || k.power.rule == Power::load_factor;
  return used ? "" : "it is for power=demand and power=load-factor";
}
bool set_by_thrift(const ChainKnobs& k) { return k.power.rule == Power::demand && k.power.thrift > Duration{0}; }

constexpr Knob kKnobs[]{
    {.name = "power",
     .names = kRules,
     .fallback = "always-on",
     .meaning = "when nodes go to sleep and wake",
     .source = "Cao et al. 2011 (load-factor); Slurm's SuspendTime (idle-timeout); Rota (demand)",
     .set = power<&PowerKnobs::rule>},
    {.name = "power-interval",
     .range = Range::time(Duration{1}),
     .fallback = "30m",
     .meaning = "load-factor: how often it looks",
     .source = kCao,
     .set = power<&PowerKnobs::interval>,
     .idle = for_load_factor},
    {.name = "power-close",
     .range = Range::number(0, 100),
     .fallback = "0.7",
     .unit = "times capacity",
     .meaning = "load-factor: below this load nodes are switched off",
     .source = kCao,
     .set = power<&PowerKnobs::close>,
     .idle = for_load_factor},
    {.name = "power-open",
     .range = Range::number(0, 100),
     .fallback = "1.5",
     .unit = "times capacity",
     .meaning = "load-factor: above this load nodes are switched on",
     .source = kCao,
     .set = power<&PowerKnobs::open>,
     .idle = for_load_factor},
    {.name = "power-close-to",
     .range = Range::number(0, 100),
     .fallback = "1.0",
     .unit = "times capacity",
     .meaning = "load-factor: the load that switching off aims at",
     .source = kCao,
     .set = power<&PowerKnobs::close_to>,
     .idle = for_load_factor},
    {.name = "power-open-to",
     .range = Range::number(0, 100),
     .fallback = "0.9",
     .unit = "times capacity",
     .meaning = "load-factor: the load that switching on aims at",
     .source = kCao,
     .set = power<&PowerKnobs::open_to>,
     .idle = for_load_factor},
    {.name = "power-confidence",
     .range = Range::number(0, 10),
     .fallback = "1.96",
     .unit = "standard errors",
     .meaning = "load-factor: half-width of the confidence interval of a class's mean use",
     .source = kCao,
     .set = power<&PowerKnobs::confidence>,
     .idle = for_load_factor},
    {.name = "power-samples",
     .range = Range::whole(1, 1'000'000),
     .fallback = "30",
     .unit = "jobs",
     .meaning = "load-factor: size classes with fewer past jobs are taken together",
     .source = kCao,
     .set = power<&PowerKnobs::samples>,
     .idle = for_load_factor},
    {.name = "power-sample",
     .names = kSample,
     .fallback = "all",
     .meaning = "load-factor: which past jobs of a size class: all, the latest, or some drawn at random from all",
     .source = kCao,
     .set = power<&PowerKnobs::sample>,
     .idle = for_load_factor},
    {.name = "power-window",
     .range = Range::whole(1, WorkHistory::kKept),
     .fallback = "256",
     .unit = "jobs",
     .meaning = "load-factor with power-sample=latest or drawn: how many of a size class",
     .source = kCao,
     .set = power<&PowerKnobs::window>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       if (k.power.rule != Power::load_factor) return for_load_factor(k);
       return k.power.sample == WorkSample::all ? "power-sample=all looks at every past job" : "";
     }},
    {.name = "power-longest",
     .range = Range::time(Duration{1}),
     .fallback = "max_time",
     .meaning = "load-factor: the longest run time, with which capacity is reckoned",
     .source = kCao,
     .set = power<&PowerKnobs::longest>,
     .idle = for_load_factor},
    {.name = "power-trigger",
     .names = kTrigger,
     .fallback = "all",
     .meaning = "load-factor: the nodes over which the load that triggers is reckoned",
     .source = "a reading of Cao et al. 2011",
     .set = power<&PowerKnobs::load_of_on>,
     .idle = for_load_factor},
    {.name = "power-root",
     .names = kRoot,
     .fallback = "sample",
     .meaning = "load-factor: which jobs are counted under the root",
     .source = "a reading of Cao et al. 2011",
     .set = power<&PowerKnobs::root_of_queue>,
     .idle = for_load_factor},
    {.name = "power-few",
     .names = kFew,
     .fallback = "open",
     .meaning = "load-factor: whether too few idle nodes are a reason to switch on",
     .source = kCao,
     .set = power<&PowerKnobs::few_idle_open>,
     .idle = for_load_factor},
    {.name = "power-published",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "load-factor: the rule of the paper alone; else what is on could always take each job that waits",
     .source = kCao,
     .set = power<&PowerKnobs::published>,
     .idle = for_load_factor},
    {.name = "power-per",
     .names = kPer,
     .fallback = "partition",
     .meaning = "load-factor: whether each partition has a load of its own, or the cluster has one",
     .source = "Cao et al. 2011 (partition); Rota (cluster)",
     .set = power<&PowerKnobs::by_cluster>,
     .idle = for_load_factor},
    {.name = "power-history",
     .names = kHistory,
     .fallback = "learn",
     .meaning = "load-factor: past jobs are those that have ended, or, all of the log beforehand",
     .source = "Rota",
     .set = power<&PowerKnobs::from_log>,
     .idle = for_load_factor},
    {.name = "power-wait",
     .range = Range::time(),
     .fallback = "10m",
     .meaning = "demand: how long a job waits before nodes are woken for it, while some may come free",
     .source = "Rota",
     .set = power<&PowerKnobs::wait>,
     .idle = [](const ChainKnobs& k) { return set_by_thrift(k) ? "power-thrift sets it" : for_demand(k); }},
    {.name = "power-idle",
     .range = Range::time(Duration{1}),
     .fallback = "10m",
     .meaning = "idle-timeout: how long a node is idle before it goes to sleep; demand: the same of the node that the "
                "jobs of a boot time would just reach, others by how likely they are needed",
     .source = "Slurm's SuspendTime (idle-timeout); Rota (demand)",
     .set = power<&PowerKnobs::idle>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       if (set_by_thrift(k)) return "power-thrift sets it";
       return k.power.on_demand() ? "" : "it is for power=demand and power=idle-timeout";
     }},
    {.name = "power-thrift",
     .range = Range::time(Duration{1}),
     .fallback = "not used",
     .meaning =
         "demand: sets power-wait to three times itself and power-idle to boot^2 / 4 of it: the longer, the more "
         "nodes are off and the longer jobs wait",
     .source = "Rota",
     .set = power<&PowerKnobs::thrift>,
     .idle = for_demand},
    {.name = "power-reserve",
     .range = Range::number(0, 0.9999),
     .fallback = "0",
     .unit = "probability",
     .meaning = "demand: nodes are kept ready so that the jobs of a boot time find some with this probability",
     .source = "Rota",
     .set = power<&PowerKnobs::reserve>,
     .idle = for_demand},
    {.name = "power-least-on",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "demand, load-factor: how long a node stays on once it was woken",
     .source = "Rota",
     .set = power<&PowerKnobs::least_on>,
     .idle = for_demand_or_load},
    {.name = "power-cycles",
     .range = Range::whole(1, 10'000),
     .fallback = "no limit",
     .unit = "times",
     .meaning = "demand, load-factor: how often a node may go to sleep in a day",
     .source = "Rota",
     .set = power<&PowerKnobs::most_cycles>,
     .idle = for_demand_or_load},
    {.name = "power-ramp",
     .range = Range::whole(1, 1'000'000),
     .fallback = "no limit",
     .unit = "nodes",
     .meaning = "demand, load-factor: how many nodes are woken, or sent to sleep, in a minute",
     .source = "Slurm's ResumeRate and SuspendRate",
     .set = power<&PowerKnobs::ramp>,
     .idle = for_demand_or_load},
};

std::unique_ptr<Policy> link(const ChainKnobs& k) {
  if (k.power.rule == Power::load_factor) return std::make_unique<LoadFactorPower>(k.power);
  if (k.power.on_demand()) return std::make_unique<DemandPower>(k.power);
  return std::make_unique<AlwaysOn>();
}

bool switches(const ChainKnobs& k) { return k.power.switches(); }

void ask(const ChainKnobs& k, ClusterOptions& options) {
  if (!switches(k)) return;
  options.idle_order = IdleOrder::latest_first;
  options.wakes_for_promises = k.power.on_demand();
  options.work_history = k.power.rule == Power::load_factor && !k.power.knows_the_log();
  options.demand_history = k.power.rule == Power::demand;
  options.waiting.by_queue |= k.power.rule == Power::load_factor;  // all jobs that wait, at each look
}

constexpr EngineNeed kNeeds[]{{"power", Capability::power, switches}};

constexpr Refusal kRefusals[]{
    {[](const ChainKnobs& k) {
       const PowerKnobs& p = k.power;
       const bool between = p.close < std::min(p.close_to, p.open_to) && std::max(p.close_to, p.open_to) < p.open;
       return p.rule == Power::load_factor && !between;
     },
     "nodes are switched off below the load power-close and on above power-open, and both aims lie between: "
     "power-close < power-close-to and power-open-to < power-open. Set them so."}};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return switches(k) ? "power switches nodes without looking at what is reserved" : "";
}

}  // namespace

constinit const Module kPowerModule{.name = "power",
                                    .knobs = kKnobs,
                                    .link = link,
                                    .waits_for_sleepers = [](const ChainKnobs& k) { return !switches(k); },
                                    .ask = ask,
                                    .engine = kNeeds,
                                    .refusals = kRefusals,
                                    .breaks_reservations = breaks_reservations,
                                    .in_plain_mode = true};

}  // namespace rota
