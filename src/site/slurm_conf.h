// The lines of slurm.conf that set what a policy sets: the other way round than slurm_policy.h. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rota {

// Knobs of policy slurm and their values as they are written behind it: ("bf-interval", "90s").
using SlurmKnobTexts = std::vector<std::pair<std::string, std::string>>;

// One line for each setting in which `then` differs from `now`; SchedulerParameters is one setting, whose line has all
// that the knobs say of it. What is not named has Slurm's default (22.05). Knobs that slurm.conf has no setting for are
// left out.
std::vector<std::string> slurm_conf_lines(const SlurmKnobTexts& now, const SlurmKnobTexts& then);

}  // namespace rota
