#include "cli/rehearse/rehearse_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "cli/time_zone_flag.h"
#include "log/partition_names.h"
#include "log/sacct_spread.h"
#include "policy/sweep.h"
#include "rehearse/recorded.h"
#include "site/cluster_file.h"

namespace rota::cli {

void RehearseFlags::declare(Command command, Policies policies) {
  several_ = policies == Policies::several;
  command
      .add_option("--processors", processors, "processors of the cluster; default: MaxProcs of the workload's header")
      .range(std::int64_t{1}, kMostProcessors)
      .type_name("N");
  command.add_option("--cluster", cluster, "cluster file (TOML) with nodes and partitions; in place of --processors")
      .excludes("--processors")
      .type_name("FILE.toml");
  command
      .add_option("--attributes", attributes,
                  "what the log does not say of its jobs (CSV): nodes by count, name or features, memory, "
                  "accelerators, licences, "
                  "priorities, inputs, "
                  "sites, whether and how they restart "
                  "elsewhere, and their tasks for accelerators")
      .type_name("FILE.csv");
  command
      .add_option("--policy", policy,
                  policies == Policies::one
                      ? "the policy; `rota policies` lists names and knobs"
                      : "policies to compare, separated by commas; `rota policies` lists names and knobs; a knob may "
                        "take several values, as depth=1..16 or depth=1|2|all, with a row for each; recorded is "
                        "what really happened, where the log tells it, and comes first")
      .type_name(policies == Policies::one ? "POLICY" : "POLICY,...")
      .capture_default_str();
  command.add_option("--estimates", estimates, "user: plan with the asked limits; exact: with the true run times")
      .one_of({"user", "exact"})
      .capture_default_str();
  command
      .add_option(
          "--ties", ties,
          "batch: events of one instant together, ends first; submit-first: one by one, as in published schedules, and "
          "run times cut at the limit as there; one-by-one: the same order and nothing else")
      .one_of({"batch", "submit-first", "one-by-one"})
      .capture_default_str();
  command
      .add_option("--container-stages", container_stages,
                  "of the containers in which accelerators compute tasks: pipelined: data of one task come while "
                  "another one is computed; in-turn: one stage after the other")
      .one_of({"pipelined", "in-turn"})
      .capture_default_str();
  command
      .add_option(
          "--container-copies", container_copies,
          "whose data pass the link of an accelerator: others: those of tasks of other nodes; all: those of tasks of "
          "its own node, too")
      .one_of({"others", "all"})
      .capture_default_str();
  command.add_flag("--clamp", clamp, "let jobs larger than the cluster ask for all of it instead of rejecting them");
  command.add_flag("--skip-bad-rows", skip_bad_rows, "drop rows of the log that cannot be read, and count them");
  command.add_flag("--keep-cancelled", keep_cancelled,
                   "keep jobs that were cancelled before they started, as jobs of 1 s");
  declare_time_zone(command, time_zone);
}

Result<log::SwfOptions> RehearseFlags::swf() const {
  auto zone = TRY(zone_of(time_zone));
  log::SwfOptions swf;
  swf.skip_bad_rows = skip_bad_rows;
  swf.keep_cancelled = keep_cancelled;
  swf.keep_recorded = wants_recorded();
  swf.published_limits = ties == "submit-first";
  swf.zone = std::move(zone);
  if (!cluster.empty() && std::filesystem::is_regular_file(cluster)) {  // what is wrong with it options() says
    if (const auto machine = site::read_cluster_file(cluster)) log::suit_to(*machine, swf);
  }
  return swf;
}

bool RehearseFlags::wants_recorded() const {
  const auto names = split(policy, ',');
  return several_ && std::ranges::any_of(names, [](std::string_view name) { return trimmed(name) == kRecorded; });
}

Result<RehearseOptions> RehearseFlags::options(const log::Workload& workload, const Machine* of_workload) const {
  RehearseOptions options;
  if (cluster.empty()) {
    TRY(accelerators_suit(of_workload));
    TRY(power_suits(of_workload));
    TRY(factors_suit(of_workload));
    TRY(sites_suit(of_workload));
  } else {
    auto machine = TRY(site::read_cluster_file(cluster));
    TRY(accelerators_suit(&machine));
    TRY(power_suits(&machine));
    TRY(reservations_suit(&machine));
    options.processors = machine.processors;
    options.machine = std::make_shared<const Machine>(std::move(machine));
    options = with_switches(std::move(options));
    TRY(nodes_suit(*options.machine));
    TRY(partitions_known(workload, *options.machine));
    TRY(factors_suit(options.machine.get()));
    TRY(sites_suit(options.machine.get()));
    return with_attributes(std::move(options), workload);
  }
  options.processors = processors > 0 ? processors : workload.processors;
  if (options.processors <= 0) {
    return fail(
        workload.name +
        ": its header does not say how many processors the cluster has, or says what cannot be (MaxProcs); give "
        "--processors N.");
  }
  return with_attributes(with_switches(std::move(options)), workload);
}

Result<RehearseOptions> RehearseFlags::with_attributes(RehearseOptions options, const log::Workload& workload) const {
  const bool of_log = workload.attributes && (!workload.recorded_attributes || options.machine);
  if (attributes.empty() && !of_log) return options;
  if (!attributes.empty() && of_log && workload.recorded_attributes) {
    auto sidecar = TRY(log::AttributeTable::read(attributes));
    auto both = log::AttributeTable::together(sidecar, *workload.attributes);
    auto matched =
        log::Attributes::match(std::make_shared<const log::AttributeTable>(std::move(both)), options.machine.get());
    if (!matched) return std::unexpected(matched.error());
    return with_attributes(std::move(options), std::move(*matched));
  }
  if (!attributes.empty() && of_log) {
    return fail(workload.attributes->shown() +
                " says itself what licences, priorities, tasks and so on its jobs have; "
                "leave --attributes out, or take them out of the log.");
  }
  auto read = TRY(of_log ? log::Attributes::match(workload.attributes, options.machine.get())
                         : log::Attributes::read(attributes, options.machine.get()));
  return with_attributes(std::move(options), std::move(read));
}

Result<RehearseOptions> RehearseFlags::with_attributes(RehearseOptions options, log::Attributes of_jobs) const {
  set_attributes(options, std::move(of_jobs));
  TRY(tasks_suit(*options.attributes));
  return options;
}

// What a job holds for itself cannot be lent.
Result<void> RehearseFlags::tasks_suit(const log::Attributes& of_jobs) const {
  if (of_jobs.tasks().empty() || !of_jobs.asks_for_accelerators()) return {};
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (chain.knobs().bind == Bind::none) continue;
    return fail(
        "policy {} lends the accelerators of a rack to tasks, and in {} jobs ask for accelerators of their own. Rota "
        "cannot do both at once: leave bind out, or the column accelerators, or the tasks.",
        rota::quoted(chain.text()), of_jobs.shown());
  }
  return {};
}

Result<void> RehearseFlags::partitions_known(const log::Workload& workload, const Machine& machine) const {
  std::map<std::uint32_t, std::int64_t> jobs_of;
  if (workload.partitions.empty()) return {};
  for (const JobSpec& job : workload.jobs) ++jobs_of[job.partition.value];
  return log::partitions_known({workload.partitions, jobs_of, workload.name}, machine, cluster,
                               "Give it a [[partitions]] table there; its nodes may be those of another.");
}

// Migration is from slower nodes to faster ones.
Result<void> RehearseFlags::factors_suit(const Machine* machine) const {
  const auto differ = [](const Machine& of) {
    const auto other = [&](const Node& node) { return node.cpu_factor != of.nodes[0].cpu_factor; };
    return std::any_of(of.nodes.begin(), of.nodes.end(), other);
  };
  if (machine != nullptr && !machine->sites.empty()) {
    if (std::any_of(machine->sites.begin(), machine->sites.end(), differ)) return {};
  } else if (machine != nullptr && differ(*machine)) {
    return {};
  }
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (chain.knobs().migrate.how == Migration::none) continue;
    return fail("policy {} moves jobs to faster nodes, and here all are as fast. {}, or leave migrate out.",
                rota::quoted(chain.text()),
                cluster.empty() ? std::string("Give a --cluster file whose nodes differ in `cpu_factor`")
                                : fmt::format("Say in {} which nodes have a higher `cpu_factor`", cluster));
  }
  return {};
}

RehearseOptions RehearseFlags::with_switches(RehearseOptions options) const {
  options.exact_estimates = estimates == "exact";
  options.clamp = clamp;
  options.ties = ties == "batch"          ? sim::Ties::batch
                 : ties == "submit-first" ? sim::Ties::submit_first
                                          : sim::Ties::one_by_one;
  options.containers = {{.overlap = container_stages == "pipelined"}, container_copies == "all"};
  return options;
}

// What is not there on clusters that are described node by node is refused, never ignored.
Result<void> RehearseFlags::nodes_suit(const Machine& machine) const {
  if (machine.nodes.empty()) return {};
  if (ties == "submit-first") {
    return fail(
        "--ties submit-first is for published schedules, whose processors are counted; leave --cluster out and give "
        "--processors.");
  }
  return {};
}

Result<void> RehearseFlags::sites_suit(const Machine* machine) const {
  if (machine != nullptr && !machine->sites.empty()) {
    if (ties == "batch") return {};
    return fail(
        "--ties {} is for published schedules, which are of one site; leave it out where the --cluster file has "
        "[[sites]].",
        ties);
  }
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (chain.knobs().auction.siting == Siting::none) continue;
    return fail("policy {} chooses a site for each job, and here there is one. {}, or take a policy that does not.",
                rota::quoted(chain.text()),
                machine == nullptr ? std::string("Give a --cluster file with [[sites]]")
                                   : "Describe several [[sites]] in " + cluster);
  }
  return {};
}

Result<void> RehearseFlags::accelerators_suit(const Machine* machine) const {
  if (machine != nullptr && machine->has_accelerators()) return {};
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (chain.knobs().bind == Bind::none) continue;
    return fail("policy {} binds tasks to accelerators, and the cluster has none. {}, or leave bind out.",
                rota::quoted(chain.text()),
                machine == nullptr ? std::string("Give a --cluster file whose nodes have `accelerators`")
                                   : fmt::format("Say in {} which nodes have `accelerators`", cluster));
  }
  return {};
}

Result<void> RehearseFlags::policies_suit(const Machine* machine) const {
  if (auto suits = sites_suit(machine); !suits) return suits;
  if (auto suits = power_suits(machine); !suits) return suits;
  if (auto suits = reservations_suit(machine); !suits) return suits;
  if (auto suits = accelerators_suit(machine); !suits) return suits;
  return factors_suit(machine);
}

Result<void> RehearseFlags::reservations_suit(const Machine* machine) const {
  if (machine == nullptr || machine->reservations.empty()) return {};
  if (ties != "batch") {
    return fail(
        "--ties {} is for published schedules, in which nothing is reserved; leave it out, or the [[reservations]] in "
        "{}.",
        ties, cluster);
  }
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (auto kept = chain.keeps_reservations(); !kept) return kept;
  }
  return {};
}

Result<void> RehearseFlags::power_suits(const Machine* machine) const {
  if (machine != nullptr && !machine->nodes.empty()) return {};
  const auto read = TRY(chains());
  for (const Chain& chain : read) {
    if (!chain.knobs().power.switches()) continue;
    return fail(
        "policy {} switches nodes on and off, and here processors are only counted. Give a --cluster file with "
        "[[nodes]], or leave power out.",
        rota::quoted(chain.text()));
  }
  return {};
}

Result<void> RehearseFlags::check_ties(const Chain& chain) const {
  if (ties != "submit-first") return {};
  if (chain.knobs().overrun != Overrun::kill) {
    return fail(
        "--ties submit-first is for comparing with published schedules, in which every run is cut at its limit; it "
        "does not go with policy {}, which has another overrun rule.",
        rota::quoted(chain.text()));
  }
  if (chain.ranks_running()) {
    return fail(
        "--ties submit-first is for comparing with published schedules, in which no job gives way; it does not go "
        "with policy {}, which preempts.",
        rota::quoted(chain.text()));
  }
  return {};
}

// Where the text stands for several, the sentence says of which policy it is.
Result<std::vector<Chain>> RehearseFlags::chains_of(std::string_view text) const {
  if (text == kRecorded)
    return fail("recorded is no policy but what really happened, a row of rota simulate; name a policy, such as easy.");
  std::vector<std::string> policies{std::string(text)};
  if (several_) policies = TRY(swept_policies(text));
  std::vector<Chain> chains;
  for (const std::string& one : policies) {
    auto chain = Chain::parse(one);
    if (!chain && policies.size() > 1)
      return fail("{} stands for {} policies, and one of them, {}, cannot be: {}", rota::quoted(text), policies.size(),
                  rota::quoted(one), chain.error().message);
    if (!chain) return std::unexpected(chain.error());
    TRY(check_ties(*chain));
    chains.push_back(std::move(*chain));
  }
  return chains;
}

Result<std::vector<Chain>> RehearseFlags::chains() const {
  std::vector<Chain> chains;
  for (const std::string_view name : split(policy, ',')) {
    if (several_ && trimmed(name) == kRecorded) continue;
    auto of_name = TRY(chains_of(trimmed(name)));
    std::ranges::move(of_name, std::back_inserter(chains));
  }
  return chains;
}

}  // namespace rota::cli
