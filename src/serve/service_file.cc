// The configuration's file and the state: what is taken of a file that has changed since, when the service starts and
// when it is told to read it again.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "control/replay.h"
#include "model/snapshot.h"
#include "serve/cluster_change.h"
#include "serve/policy_check.h"
#include "serve/service.h"
#include "serve/this_host.h"

namespace rota::serve {

std::string Service::shown_file() const {
  return options_.configuration.empty() ? "this computer" : shown_path(options_.configuration);
}

Result<void> Service::can_change(const ClusterChange& change) const {
  if (change.refused.empty()) return {};
  return fail(
      "{} holds jobs of another cluster than {} describes: {}. Nothing was changed; mend the file, or begin with "
      "another folder by --state.",
      shown_path(options_.state_folder), shown_file(), change.refused);
}

// One by one: there may be millions. Nothing: the state was made under this file.
Result<std::optional<ClusterChange>> Service::replay() {
  if (desk_.store().head().cluster != desk_.file()->configuration->text) return replay_under_another();
  TRY(desk_.store().replay([&](const Fact& fact) -> Result<void> {
    auto folded = desk_.controller().replay(fact);
    return folded ? folded : not_taken_over(folded.error().message);
  }));
  const ClusterChange change = cluster_change(desk_.view(), desk_.file()->configuration->machine);
  if (change.refused.empty() && change.nodes.empty()) {
    desk_.stands_as(with_commands(*desk_.view().options().machine, desk_.file()->configuration->machine));
    return std::nullopt;
  }
  auto anew = TRY(chain_of(desk_.chain().text()));  // it was cut off while it took a file in
  TRY(desk_.decide_by(std::move(anew)));
  return replay_under_another();
}

// What was is folded under the description of then, and what has come of it under the new one.
Result<ClusterChange> Service::replay_under_another() {
  const auto before = TRY(site::parse_configuration(desk_.store().head().cluster, "before"));
  Cluster state(cluster_options(desk_, desk_.chain(), before.machine));
  bool some = false;
  TRY(desk_.store().replay([&](const Fact& fact) -> Result<void> {
    some = true;
    if (auto follows = check_next(state, fact); !follows) return not_taken_over(follows.error().message);
    state.fold(fact);
    return {};
  }));
  if (!some) return ClusterChange{};
  const ClusterChange change = cluster_change(state, desk_.file()->configuration->machine);
  TRY(can_change(change));
  auto changed = under_file(cluster_options(desk_), Snapshot::facts_of(state), change);
  if (!changed) return not_taken_over(changed.error().message);
  for (const Fact& fact : changed->facts) {
    if (auto folded = desk_.controller().replay(fact); !folded)
      return not_taken_over(folded.error().message + kTooTight);
  }
  stands_as(std::move(changed->machine), change.taken);
  return change;
}

void Service::stands_as(std::shared_ptr<const Machine> machine, const std::string& taken) {
  if (!taken.empty()) log_.say(fmt::format("{}{}{}.", shown_file(), kOtherCluster, taken));
  desk_.stands_as(std::move(machine));
}

Result<Service::Reloaded> Service::reload() {
  if (options_.configuration.empty())
    return fail(
        "this service was started without --config, so there is no file to read again; start it again with one. "
        "Nothing was changed.");
  const std::string shown = shown_path(options_.configuration);
  auto read = TRY(site::read_configuration(options_.configuration, cluster_of_this_host()));
  if (const std::string text = with_node_kept(read.text, desk_.store().head().cluster); text != read.text)
    read = TRY(site::parse_configuration(text, shown));
  const bool other_settings = read.service != configured_.settings;
  const ClusterChange change = cluster_change(desk_.view(), read.machine);
  TRY(can_change(change));
  const bool same_file = read.text == desk_.file()->configuration->text;
  auto use = FileInUse::made(std::make_shared<const site::Configuration>(std::move(read)));
  if (same_file && change.nodes.empty() && use->limit_names == desk_.file()->limit_names) return Reloaded{};
  const auto is_to_come = [&](const Reservation& r) {
    return desk_.loop().instant_of((r.until - kEpoch).count()) > desk_.now();
  };
  if (std::ranges::any_of(use->configuration->reservations, is_to_come)) TRY(desk_.chain().keeps_reservations());
  auto chain = TRY(chain_of(desk_.chain().text()));
  auto before = desk_.take_file(std::move(use));
  const std::vector<Fact> snapshot = desk_.controller().snapshot();
  auto changed = under_file(cluster_options(desk_), snapshot, change);
  if (changed) {
    answers_.forget();
    if (auto anew = desk_.decide_by(std::move(chain), carried_over(snapshot, change)); !anew)
      changed = std::unexpected(anew.error());
  }
  if (!changed) {
    desk_.take_file(std::move(before));
    return fail("{} cannot be taken: {}", shown, changed.error().message);
  }
  stands_as(std::move(changed->machine), change.taken);
  if (auto taken = describe_nodes(change); !taken) {
    desk_.end_turn(taken);
    return std::unexpected(taken.error());
  }
  return Reloaded{change.taken, other_settings};
}

// The journal begins anew under the file, and what becomes of nodes goes through the door behind that: where the
// service is killed between, the next one finds by the state that they have yet to be described.
Result<void> Service::describe_nodes(const ClusterChange& change) {
  desk_.controller().under_other_rules(change.less);
  TRY(upkeep_.compact());
  for (const Described& node : change.nodes) TRY(desk_.controller().record(node));
  for (const NodeId node : change.back) TRY(nodes_.put_health(node, {}));
  TRY(reservations_.keep_the_files());
  answers_.forget();
  auto resumed = desk_.controller().resume();
  desk_.end_turn(resumed);
  TRY(resumed);
  accelerators_.nodes_changed();
  watch_licences();
  return {};
}

}  // namespace rota::serve
