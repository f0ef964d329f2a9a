#include "cli/live/slurm_engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/import/import_live.h"
#include "cli/import/import_saved.h"
#include "engine/slurm/engine.h"
#include "serve/policy_check.h"
#include "serve/state_folder.h"
#include "site/service_file.h"
#include "site/slurm_cluster.h"
#include "site/slurm_policy.h"
#include "site/slurm_records.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

constexpr Duration kBefore = seconds(60 * 86'400LL);  // how far back a new state can tell

// Asked anew, the folder is replaced whole.
Result<void> ask_anew(const std::string& folder) {
  const std::string fresh = folder + ".new";
  std::error_code failed;
  fs::remove_all(fresh, failed);
  if (!fs::create_directory(fresh, failed)) return fail("Cannot make {}: {}.", shown_path(fresh), failed.message());
  TRY(ask_slurm_of_cluster(fresh));
  fs::remove_all(folder, failed);
  fs::rename(fresh, folder, failed);
  if (failed) return fail("Cannot put {} in its place: {}.", shown_path(folder), failed.message());
  return {};
}

// What this user does not get to see.
std::string hidden_from_us(const site::SlurmConfig& config) {
  const auto at = config.find("PrivateData");
  if (at == config.end()) return {};
  std::string hidden;
  for (const std::string_view each : site::split_slurm_list(at->second)) {
    if (each != "jobs" && each != "nodes" && each != "partitions" && each != "reservations" && each != "usage" &&
        each != "users" && each != "accounts" && each != "all")
      continue;
    hidden += fmt::format("{}{}", hidden.empty() ? "" : ", ", each);
  }
  if (hidden.empty() || ::geteuid() == 0) return {};
  return fmt::format(
      "slurm.conf has PrivateData={}: unless this user is an operator of Slurm, what others have of these is not seen "
      "here, and forecasts do not reckon with it",
      hidden);
}

std::string policy_of(const serve::ServiceOptions& options, const site::SlurmCluster& cluster,
                      std::vector<std::string>& remarks) {
  if (!options.configuration.empty()) {
    const auto file = site::read_configuration(options.configuration, cluster.toml);
    if (file && file->service.policy != site::ServiceSettings{}.policy) return file->service.policy;
  }
  const SlurmPolicy own = slurm_policy_of(
      {cluster.config.begin(), cluster.config.end()},
      {.qos = !cluster.machine.qos.empty(), .accounts = !cluster.machine.accounts.empty(), .gives_way = false});
  for (const std::string& remark : own.remarks) remarks.push_back("not followed here: " + remark);
  if (serve::chain_of(own.chain)) return own.chain;
  remarks.push_back(fmt::format("policy {} cannot decide here, so that plain `slurm` does", own.chain));
  return "slurm";
}

Result<std::string> this_program() {
  std::error_code failed;
  const std::string program = fs::read_symlink("/proc/self/exe", failed).string();
  if (failed) return fail("Cannot tell where this program is: {}.", failed.message());
  return for_shell(program);
}

}  // namespace

Result<std::vector<std::string>> watch_slurm(serve::ServiceOptions& options) {
  TRY(serve::make_folder(options.state_folder));
  const std::string folder = options.state_folder + "/slurm";
  std::vector<std::string> remarks;
  if (auto asked = ask_anew(folder); !asked) {
    if (!fs::exists(folder)) return std::unexpected(asked.error());
    remarks.push_back(asked.error().message + " The cluster is taken as it was the last time.");
  }
  const auto text = TRY(saved_cluster(folder));
  const auto cluster = TRY(site::cluster_of_slurm(text));
  if (options.policy.empty()) options.policy = policy_of(options, cluster, remarks);
  const auto program = TRY(this_program());
  const std::string state = for_shell(options.state_folder);
  options.watched = {.system = "slurm",
                     .description = cluster.toml,
                     .before = kBefore,
                     .report = fmt::format("exec nice -n 19 {} shadow --report --socket {} --state {} --since", program,
                                           for_shell(options.socket), state)};
  // What was written is taken back by this very program: one rule, with the service and without.
  slurm::WriterOptions writer{.folder = options.state_folder + "/" + slurm::MandateFolder::kName,
                              .take_back = fmt::format("exec {} undo --expired --state {}", program, state)};
  const auto chain = serve::chain_of(options.policy);
  options.engine = [hidden = hidden_from_us(cluster.config), writer = std::move(writer),
                    reckons = chain ? chain->knobs().slurm.weights.calc_period
                                    : slurm::SlurmOptions{}.reckons](const serve::EngineSite& site) mutable {
    const site::SlurmReading& how = site.settings.slurm;
    writer.gap = how.gap;
    writer.write_gap = how.write_gap;
    writer.round = how.poll;
    return std::make_unique<slurm::SlurmEngine>(
        slurm::SlurmEngine::Site{site.io, site.loop, site.jobs, site.instant_of},
        slurm::SlurmOptions{.poll = how.poll,
                            .gap = how.gap,
                            .history = how.history,
                            .writer = writer,
                            .reckons = reckons,
                            .warning = hidden});
  };
  return remarks;
}

}  // namespace rota::cli
