// All mechanisms of policies. A new one is its folder and a line here.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "policy/module.h"

namespace rota {

extern const Module kOrderModule;
extern const Module kPredictModule;
extern const Module kGraceModule;
extern const Module kPreemptModule;
extern const Module kBackfillModule;
extern const Module kSlurmModule;
extern const Module kMigrateModule;
extern const Module kPowerModule;
extern const Module kBindModule;
extern const Module kAuctionModule;

// In the order in which their links decide: each sees what those before it have drafted.
inline constexpr std::array<const Module*, 10> kModules{
    &kOrderModule,     // no link: what is tried first is a question to the state
    &kPredictModule,   // no link: asked at submission
    &kGraceModule,     // which jobs stand in the way of a promise that is due
    &kPreemptModule,   // which jobs give way at once
    &kBackfillModule,  // which jobs start, and which are promised what
    &kSlurmModule,     // the same, as Slurm does it
    &kMigrateModule,   // what is left goes to running jobs
    &kPowerModule,     // nodes that no job needs sleep
    &kBindModule,      // no link: tasks are not jobs
    &kAuctionModule,   // no link: decides between sites
};

const Knob* knob_named(std::string_view name);  // nullptr: there is none
const Module& module_of(const Knob& knob);
std::vector<const Knob*> every_knob();  // in the order of the modules

// Those that only start jobs and make promises come first, those that need several sites last.
std::span<const PolicyName> policy_names();
const PolicyName* policy_named(std::string_view name);  // or an alias; nullptr: there is none

}  // namespace rota
