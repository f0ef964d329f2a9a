#include <cstdio>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/rehearse.h"
#include "trace/swf.h"

namespace rota::cli {
namespace {

struct SimulateFlags {
  std::string workload;
  std::int64_t processors = 0;
  std::string policies = "easy";
  std::string ties = "batch";
  std::string estimates = "user";
};

Result<int> simulate(const SimulateFlags& flags) {
  auto workload = trace::read_swf(flags.workload);
  if (!workload) return std::unexpected(workload.error());
  RehearseOptions options;
  options.processors = flags.processors;
  options.ties = flags.ties == "batch" ? sim::Ties::batch : sim::Ties::submit_first;
  options.exact_estimates = flags.estimates == "exact";
  for (const auto name : split(flags.policies, ',')) {
    const auto chain = Chain::parse(name);
    if (!chain) return std::unexpected(chain.error());
    const auto outcome = rehearse(*workload, *chain, options);
    if (!outcome) return std::unexpected(outcome.error());
    double wait = 0;
    for (const Job& j : outcome->jobs) wait += to_seconds(j.start - j.spec.submit);
    std::printf("%s: %zu jobs, mean wait %.2f s, hash %016lx, %ld cycles, %ld checks, %.3f cpu s\n", outcome->policy.c_str(), outcome->jobs.size(), wait / double(outcome->jobs.size()), outcome->plan_hash, outcome->cycles, outcome->referee_checks, outcome->cpu_seconds);
  }
  return kDone;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* command = app.add_subcommand("simulate", "rehearse policies on a workload");
  command->add_option("workload", flags->workload)->required();
  command->add_option("--processors", flags->processors)->required();
  command->add_option("--policy", flags->policies);
  command->add_option("--ties", flags->ties);
  command->add_option("--estimates", flags->estimates);
  command->callback([&action, flags] { action = [flags] { return simulate(*flags); }; });
}

}  // namespace rota::cli
