// Running jobs that give way to others of higher priority.
#include "policy/registry.h"

namespace rota {
namespace {

constexpr NamedValue kHow[]{{"no", Preemption::none},
                            {"suspend", Preemption::suspend},
                            {"requeue", Preemption::requeue},
                            {"checkpoint", Preemption::checkpoint},
                            {"cancel", Preemption::cancel}};

constexpr Knob kKnobs[]{
    {.name = "preempt",
     .names = kHow,
     .fallback = "no",
     .meaning =
         "running jobs give way at once to a job of higher priority: with their work kept, lost, or kept after a "
         "checkpoint; cancel: they end for good (policy slurm)",
     .source = "Baranov et al. 2018 (suspend); Slurm's PreemptMode (requeue, checkpoint, cancel)",
     .set = put<&ChainKnobs::preempt>},
    {.name = "checkpoint",
     .range = Range::time(),
     .fallback = "1m",
     .meaning = "with preempt=checkpoint: how long writing one takes",
     .source = "textbook",
     .set = put<&ChainKnobs::checkpoint>,
     .idle = [](const ChainKnobs& k) -> std::string_view {
       return k.preempt == Preemption::checkpoint ? "" : "it is for preempt=checkpoint";
     }},
};

bool preempts(const ChainKnobs& k) { return k.preempt != Preemption::none; }

// Policy slurm has its own rules for that.
bool makes_room(const ChainKnobs& k) { return preempts(k) && !k.slurm.planner; }

std::unique_ptr<Policy> link(const ChainKnobs& k) {
  if (!makes_room(k)) return nullptr;
  return std::make_unique<Preempt>(k.preempt, k.checkpoint, k.backfill.skip, k.backfill.promises > 1);
}

void ask(const ChainKnobs& k, ClusterOptions& options) { options.by_priority = makes_room(k); }

constexpr EngineNeed kNeeds[]{
    {"preempt=suspend", Capability::suspend, [](const ChainKnobs& k) { return k.preempt == Preemption::suspend; }},
    {"preempt=checkpoint", Capability::checkpoint,
     [](const ChainKnobs& k) { return k.preempt == Preemption::checkpoint; }},
    {"preempt=requeue", Capability::requeue, [](const ChainKnobs& k) { return k.preempt == Preemption::requeue; }},
    {"preempt=cancel", Capability::cancel, [](const ChainKnobs& k) { return k.preempt == Preemption::cancel; }},
};

// Rules that look at particular processors do not know of jobs that give way.
constexpr Refusal kRefusals[]{
    {[](const ChainKnobs& k) { return preempts(k) && k.auction.takes_back() && k.backfill.promises > 1; },
     "auction=race and auction-second-thoughts take back jobs for which others give way, and preempt beside several "
     "promises does not know of that: take depth=0 or depth=1, or another auction, or leave preempt out."},
    {[](const ChainKnobs& k) { return preempts(k) && asks_for_processors(k.overrun); },
     "preempt goes with overrun=kill, run-on, grace or a duration: take one of these, or leave preempt out."},
    // a job that gives way has used something, and then another job may come first than the one that it gave way to
    {[](const ChainKnobs& k) { return makes_room(k) && by_recent_use(k); },
     "with order=fair it may be another job's turn once a job has given way, so that preempt would serve the wrong "
     "job: take another order, or leave preempt out."},
    {[](const ChainKnobs& k) { return makes_room(k) && k.preempt == Preemption::cancel; },
     "preempt=cancel is for policy slurm: take preempt=suspend, requeue or checkpoint, or that policy."},
};

std::string_view breaks_reservations(const ChainKnobs& k) {
  return makes_room(k) ? "preempt makes room without looking at what is reserved" : "";
}

}  // namespace

constinit const Module kPreemptModule{.name = "preempt",
                                      .knobs = kKnobs,
                                      .link = link,
                                      .ask = ask,
                                      .engine = kNeeds,
                                      .refusals = kRefusals,
                                      .breaks_reservations = breaks_reservations};

}  // namespace rota
