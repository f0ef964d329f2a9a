#include "cli/live/submit_options.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "model/job_request.h"

namespace rota::cli {
namespace {

// Those that are reckoned into wishes (cli/live/submit_request.h).
constexpr std::array kReckoned{
    SubmitOption{"processors", "-n,--processors,--ntasks", "N", "", "processors; with -c: how many times so many"},
    SubmitOption{"each", "-c,--cpus-per-task", "N", "", "processors of each of -n"},
    SubmitOption{"nodes", "-N,--nodes", "N", "", "nodes to spread them over evenly"},
    SubmitOption{"per_node", "--ntasks-per-node,--tasks-per-node", "N", "",
                 "with -N, in place of -n: how many on each node"},
    SubmitOption{"memory", "--mem", "SIZE", "", "memory on each node, as 500M or 4G"},
    SubmitOption{"memory_each", "--mem-per-cpu", "SIZE", "", "memory for each processor, in place of --mem"},
    SubmitOption{"memory_of_accelerator", "--mem-per-gpu", "SIZE", "",
                 "memory for each accelerator, in place of --mem"},
    SubmitOption{"accelerators", "--gpus-per-node", "N", "", "accelerators on each node, as 2 or a100:2"},
    SubmitOption{"accelerators", "--gres", "GPUS", "", "the same as Slurm writes it, as gpu:2 or gpu:a100:2"},
    SubmitOption{"accelerators_all", "-G,--gpus", "N", "", "accelerators in all, shared evenly by the nodes"},
    SubmitOption{"accelerators_each", "--gpus-per-task", "N", "",
                 "accelerators for each of -n, shared evenly by the nodes"},
    SubmitOption{"each_of_accelerator", "--cpus-per-gpu", "N", "", "processors for each accelerator, in place of -c"},
    SubmitOption{"accel_tasks", "--accel-tasks", "", "node",
                 "it has tasks for an accelerator container: it finds in ROTA_ACCEL the one that its node is bound to"},
    SubmitOption{"accel_tasks", "--accel-tasks-slot", "", "slot",
                 "likewise, each of its processors a container of its own: slot 0 that of ROTA_ACCEL"},
    SubmitOption{"accel_tasks", "--accel-tasks-late", "", "late",
                 "likewise all containers of its rack, each for the tasks that it will have done first"},
    SubmitOption{"tres_each", "--tres-per-task", "LIST", "",
                 "the same as Slurm writes it for each of -n, as cpu=2,gres/gpu=1"},
    SubmitOption{"exclusive", "--exclusive", "", "yes", "whole nodes, with all their processors"},
    SubmitOption{"licence", "-L,--licences,--licenses", "NAMES", "",
                 "licences that it holds while it runs, with how many of each, as matlab:2,simulink"},
    SubmitOption{"limit", "-t,--limit,--time", "TIME", "",
                 "time limit, as 1h30m or 1:30:00; a bare number counts seconds"},
    SubmitOption{"folder", "-D,--chdir,--folder", "DIR", "", "working directory; without: this one"},
    SubmitOption{"output", "-o,--output", "FILE", "",
                 "where its output goes; %j stands for the id; without: rota-%j.out, of arrays rota-%A_%a.out"},
    SubmitOption{"error", "-e,--error", "FILE", "", "where its errors go; without: where output goes"},
    SubmitOption{"input", "-i,--input", "FILE", "", "where its input comes from; without: /dev/null"},
    SubmitOption{"open_mode", "--open-mode", "append|truncate", "",
                 "whether output files that are there go on or begin anew"},
    SubmitOption{"array", "-a,--array", "INDEXES", "", "a job for each index, as 1-100%10: ten at a time"},
    SubmitOption{
        "after", "-d,--dependency", "LIST", "",
        "waits for others, as afterok:12:13,singleton or afterok:last; after, afterany, afternotok and aftercorr too"},
    SubmitOption{"begin", "-b,--begin", "WHEN", "", "not before, as now+1hour, 16:00 or 2026-11-30T12:00"},
    SubmitOption{"hold", "-H,--hold", "", "yes", "do not start it before it is released"},
    SubmitOption{"priority", "--priority", "N", "", "higher goes first; only operators may ask for more than 0"},
    SubmitOption{"nice", "--nice", "N", "", "lower the priority by so much", "100"},
    SubmitOption{"requeue", "--requeue", "", "yes", "run it again from its start if its node is lost"},
    SubmitOption{
        "requeue", "--no-requeue", "", "no",
        "never do so; a policy with preempt=requeue starts any job over that is outranked, and takes none with this"},
    SubmitOption{"signal", "--signal", "NAME[@TIME]", "", "send it this signal so long (60 s) before its limit"},
    SubmitOption{"kill_wait", "--kill-wait", "TIME", "", "from SIGTERM to SIGKILL when it is ended"},
    SubmitOption{"checkpoint_time", "--checkpoint-time", "TIME", "", "that this may take; without: 60 s"},
    SubmitOption{
        "export", "--export", "LIST", "",
        "its environment: ALL of this one, NONE of it, or NAME or NAME=VALUE each, with ALL in front if wanted"},
    SubmitOption{
        "mail", "--mail-type", "LIST", "",
        "mail when it begins, ends or fails, as BEGIN,END,FAIL; REQUEUE, ALL, NONE; ARRAY_TASKS: of each task"}};

}  // namespace

bool only_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::span<const SubmitOption> submit_options() {
  static const std::vector<SubmitOption> all = [] {
    std::vector<SubmitOption> options(kReckoned.begin(), kReckoned.end());
    each_wish([&](const auto& wish) {
      const WishOption& option = wish.option;
      if (!option.names.empty()) options.push_back({wish.name, option.names, option.value, "", option.meaning});
    });
    return options;
  }();
  return all;
}

void overrule(SubmitValues& weaker, SubmitValues stronger) {
  using Group = std::vector<std::string_view>;
  static const std::vector<Group> kGroups{{"memory", "memory_each", "memory_of_accelerator", "memory_all"},
                                          {"each", "each_of_accelerator", "tres_each"},
                                          {"array", "throttle"}};
  for (const Group& group : kGroups) {
    if (std::ranges::none_of(group, [&](std::string_view key) { return stronger.contains(key); })) continue;
    for (const std::string_view key : group)
      if (const auto at = weaker.find(key); at != weaker.end()) weaker.erase(at);
  }
  stronger.merge(weaker);
  weaker = std::move(stronger);
}

const SubmitOption* submit_option(std::string_view name) {
  for (const SubmitOption& option : submit_options()) {
    const auto names = split(option.names, ',');
    if (std::ranges::find(names, name) != names.end()) return &option;
  }
  return nullptr;
}

Option declare_submit_option(Command command, SubmitValues& values, const SubmitOption& option) {
  const auto all_names = split(option.names, ',');
  const std::string where(*std::ranges::find_if(all_names, [](auto name) { return name.starts_with("--"); }));
  const std::string key(option.key);
  const auto keep = [&values, key, where](const std::string& text) {
    values[key] = SubmitValue{.text = text, .dialect = Dialect::rota, .where = where};
  };
  const std::string names(option.names), meaning(option.meaning);
  if (option.value.empty())
    return command.add_flag_callback(names, [keep, set = std::string(option.set)] { keep(set); }, meaning);
  return command.add_option_function(names, keep, meaning).type_name(std::string(option.value));
}

void declare_submit_options(Command command, SubmitValues& values) {
  for (const SubmitOption& option : submit_options()) {
    Option declared = declare_submit_option(command, values, option);
    if (!option.value.empty()) declared.take_last();
  }
}

}  // namespace rota::cli
