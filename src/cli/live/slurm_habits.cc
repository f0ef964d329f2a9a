#include "cli/live/slurm_habits.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace rota::cli {
namespace {

struct Habit {
  std::string_view commands;
  std::string_view options;
  std::string_view hint;
};

constexpr std::string_view kNotByAccount = "`rota queue -o jobid,account` prints the account of each job";
constexpr std::string_view kNotByQos = "`rota queue -o jobid,qos` prints the QOS of each job";
constexpr std::string_view kAll = "all are listed anyway; leave it out";
constexpr std::string_view kNoSteps = "jobs have no steps; leave it out";

constexpr std::array kHabits{
    Habit{"queue", "-j --jobs --job", "name jobs without it, as in `rota queue 2,3`"},
    Habit{"queue", "-w --nodelist", "`rota queue state=R -o jobid,nodelist` tells where each job runs"},
    Habit{"queue", "-O --Format", "-o takes columns by name, as in `rota queue -o jobid,name,state`"},
    Habit{"queue", "-a --all", kAll},
    Habit{"history", "-j --jobs --job", "name jobs without it, as in `rota history 2,3`"},
    Habit{"history", "-N --nodelist", "`rota history -o jobid,nodelist` tells where each job ran"},
    Habit{"history", "-s", "-t names states, as in `rota history -t F,TO`"},
    Habit{"history", "-r", "-p names partitions, as in `rota history -p batch`"},
    Habit{"history", "--starttime", "-S says since when, as in `rota history -S now-7days`"},
    Habit{"history", "--endtime", "-E says until when, as in `rota history -E yesterday`"},
    Habit{"history", "-P --parsable --parsable2", "--json prints what a program can read"},
    Habit{"history", "-a --allusers", kAll},
    Habit{"history", "-X --allocations", kNoSteps},
    Habit{"queue", "-s --steps", kNoSteps},
    Habit{"cancel", "-t --state", "say it in place of a job's id, as in `rota cancel state=PD`"},
    Habit{"cancel", "-n --name --jobname", "say it in place of a job's id, as in `rota cancel name=sweep`"},
    Habit{"cancel", "-p --partition", "say it in place of a job's id, as in `rota cancel partition=batch`"},
    Habit{"cancel", "-a --all", "say it in place of a job's id, as in `rota cancel all`"},
    Habit{"cancel", "-w --nodelist", "`rota queue state=R -o jobid,nodelist` tells where each job runs; cancel by ids"},
    Habit{"submit", "--dry-run", "--test-only submits nothing, and says when it would start"},
    Habit{"run", "--dry-run --test-only", "`rota submit --test-only` runs nothing, and says when it would start"},
    Habit{"run", "-a --array", "the tasks of an array cannot run at one terminal; `rota submit --wait` runs them"},
    Habit{"submit", "-Q --quiet", "--parsable prints the id alone"},
    Habit{"submit run", "-F --nodefile", "-w names the nodes themselves"},
    Habit{"update", "-w --nodelist -F --nodefile -x --exclude -C --constraint",
          "what nodes a job asks for stays as it was submitted; cancel it, and submit it anew"},
    Habit{"update", "--hold -H", "`rota hold` holds a job"},
    Habit{"update", "--nice", "--priority says which number it has from now on, as in `rota update 12 --priority -5`"},
    Habit{"update", "--reservation", "the reservation of a job stays as it was submitted; submit it anew"},
    Habit{"queue history cancel", "-A --account --accounts", kNotByAccount},
    Habit{"queue history cancel", "-q --qos", kNotByQos},
    Habit{"update", "-q --qos", "the QOS of a job stays as it was submitted; submit it anew with another one"},
    Habit{"queue history cancel", "-M --clusters --cluster", "--url names another service"}};

bool has(std::string_view words, std::string_view word) {
  return std::ranges::any_of(words | std::views::split(' '), [&](auto each) { return std::string_view(each) == word; });
}

constexpr std::array kForeign{ForeignCommand{"sbatch qsub bsub", "rota submit"},
                              ForeignCommand{"srun salloc", "rota run"},
                              ForeignCommand{"squeue qstat bjobs ls list ps tsp", "rota queue"},
                              ForeignCommand{"watch sview", "rota top"},
                              ForeignCommand{"scancel qdel qsig bkill kill", "rota cancel"},
                              ForeignCommand{"scontrol", "rota job, nodes, hold, release, update, reservations"},
                              ForeignCommand{"qhold bstop", "rota hold"},
                              ForeignCommand{"qrls bresume", "rota release"},
                              ForeignCommand{"qrerun brequeue", "rota requeue"},
                              ForeignCommand{"qalter bmod", "rota update"},
                              ForeignCommand{"tail qcat bpeek", "rota logs -f"},
                              ForeignCommand{"sinfo pbsnodes bhosts bqueues", "rota nodes, partitions"},
                              ForeignCommand{"pbs_rstat", "rota reservations"},
                              ForeignCommand{"pbs_rsub", "rota reserve"},
                              ForeignCommand{"pbs_rdel", "rota unreserve"},
                              ForeignCommand{"sacct sreport bhist bacct", "rota history"},
                              ForeignCommand{"seff", "rota job"},
                              ForeignCommand{"sdiag", "rota status, doctor"},
                              ForeignCommand{"start systemctl", "rota serve --background"},
                              ForeignCommand{"qterm shutdown", "rota stop"}};

}  // namespace

std::span<const ForeignCommand> foreign_commands() { return kForeign; }

std::string_view our_command(std::string_view foreign) {
  const auto* const found =
      std::ranges::find_if(kForeign, [&](const ForeignCommand& each) { return has(each.names, foreign); });
  return found == kForeign.end() ? "" : found->ours;
}

std::string_view slurm_hint(std::string_view command, std::string_view option) {
  command.remove_prefix(std::min(command.size(), command.rfind(' ') + 1));
  const std::string_view name = option.starts_with("--") ? option : option.substr(0, 2);  // "-j2" is "-j 2"
  const auto* const found = std::ranges::find_if(
      kHabits, [&](const Habit& habit) { return has(habit.commands, command) && has(habit.options, name); });
  return found == kHabits.end() ? "" : found->hint;
}

}  // namespace rota::cli
