// Licences: what the site's licence server says of them, and how many others than jobs of this service use.
#include <fmt/core.h>

#include "base/text.h"
#include "model/licence_use.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr int kManyFailures = 3;  // in a row: one may come from a server that is just busy

}  // namespace

void Service::watch_licences() {
  if (settings_.licence_command.empty()) return count_none_elsewhere();
  licence_watch_ = std::make_unique<LicenceWatch>(io_,
                                                  LicenceWatch::Options{.command = settings_.licence_command,
                                                                        .interval = settings_.licence_interval,
                                                                        .timeout = settings_.licence_timeout,
                                                                        .record = options_.state_folder + "/licences"},
                                                  desk_.machine(), [this](const auto& counts) { counted(counts); });
}

// What was counted last, when there was a command, would be withheld for ever.
void Service::count_none_elsewhere() {
  for (std::size_t l = 0; l < desk_.machine()->licences.size(); ++l) {
    const LicenceId licence{static_cast<decltype(LicenceId::value)>(l)};
    if (desk_.view().licences_elsewhere(licence) != 0) static_cast<void>(desk_.record(LicencesCounted{licence, 0}));
  }
}

// What others use goes through the door, where it is another number than before. The processes of a job that was
// stopped to give way are there, and the server does not know that they stand still: counted as others', what they
// checked out would keep their own job from going on.
void Service::counted(const std::vector<LicenceCount>& counts) {
  if (desk_.stopped() || !desk_.health()) return;
  const RunProbe* probe = desk_.engine().run_probe();
  const std::vector<JobId> stopped = probe ? probe->held_stopped() : std::vector<JobId>{};
  for (const LicenceCount& each : counts) {
    const std::int64_t count = desk_.machine()->licences[each.licence.value].count;
    const std::int64_t before = desk_.view().licences_elsewhere(each.licence);
    std::int64_t held = count - before - desk_.view().nodes().licences_free(each.licence);
    for (const JobId job : stopped) {
      if (desk_.view().knows(job)) held += licences_of(desk_.view().job(job).spec, each.licence);
    }
    const std::int64_t elsewhere = used_elsewhere(each, count, held);
    if (elsewhere != before) static_cast<void>(desk_.record(LicencesCounted{each.licence, elsewhere}));
  }
}

std::vector<std::string> Service::warnings() const {
  std::vector<std::string> all = log_.warnings();
  if (const auto health = desk_.engine().health(); !health) all.push_back(health.error().message);
  if (licence_watch_ && licence_watch_->failures() >= kManyFailures) {
    all.push_back(fmt::format("the licence command has failed {} times in a row, and its last good count stands: {}.",
                              licence_watch_->failures(), licence_watch_->failure()));
  }
  const SlurmKnobs& slurm = desk_.chain().knobs().slurm;
  if (slurm.by_shares() && !desk_.machine()->accounts.empty()) {
    all.emplace_back(
        "the policy goes by fair share, and a service does not know of the configuration's [[accounts]]: all users "
        "have the same shares");
  }
  if (slurm.planner && slurm.multifactor && slurm.weights.qos > 0)
    all.emplace_back("the policy goes by QOS, and jobs of a service have none: weight-qos changes nothing");
  return all;
}

}  // namespace rota::serve
