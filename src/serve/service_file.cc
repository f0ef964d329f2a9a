// The configuration's file and the state: what is taken of a file that has changed since, when the service starts and
// when it is told to read it again.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "control/replay.h"
#include "model/snapshot.h"
#include "serve/cluster_change.h"
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
  if (store_->head().cluster != cluster_text_) return replay_under_another();
  TRY(store_->replay([&](const Fact& fact) -> Result<void> {
    auto folded = controller_->replay(fact);
    return folded ? folded : not_taken_over(folded.error().message);
  }));
  const ClusterChange change = cluster_change(view(), *file_);
  if (change.refused.empty() && change.nodes.empty()) {
    stands_as(with_commands(*view().options().machine, *file_), {});
    return std::nullopt;
  }
  controller_.reset();  // it was cut off while it took a file in
  TRY(start_deciding(std::string(policy())));
  return replay_under_another();
}

// What was is folded under the description of then, and what has come of it under the new one.
Result<ClusterChange> Service::replay_under_another() {
  const auto before = TRY(site::parse_configuration(store_->head().cluster, "before"));
  Cluster state(cluster_options(before.machine));
  bool some = false;
  TRY(store_->replay([&](const Fact& fact) -> Result<void> {
    some = true;
    if (auto follows = check_next(state, fact); !follows) return not_taken_over(follows.error().message);
    state.fold(fact);
    return {};
  }));
  if (!some) return ClusterChange{};
  const ClusterChange change = cluster_change(state, *file_);
  TRY(can_change(change));
  auto changed = under_file(cluster_options(), Snapshot::facts_of(state), change);
  if (!changed) return not_taken_over(changed.error().message);
  for (const Fact& fact : changed->facts) {
    if (auto folded = controller_->replay(fact); !folded) return not_taken_over(folded.error().message + kTooTight);
  }
  stands_as(std::move(changed->machine), change.taken);
  return change;
}

void Service::stands_as(std::shared_ptr<const Machine> machine, const std::string& taken) {
  if (!taken.empty() && options_.say) options_.say(fmt::format("{}{}{}.", shown_file(), kOtherCluster, taken));
  const auto before = std::exchange(machine_, std::move(machine));  // for as long as the engine may look at it
  if (!view().options().shared) engine_->describe(*machine_);
}

Result<Service::Reloaded> Service::reload() {
  if (options_.configuration.empty())
    return fail(
        "this service was started without --config, so there is no file to read again; start it again with one. "
        "Nothing was changed.");
  const std::string shown = shown_path(options_.configuration);
  auto read = TRY(site::read_configuration(options_.configuration, cluster_of_this_host()));
  if (const std::string text = with_node_kept(read.text, store_->head().cluster); text != read.text)
    read = TRY(site::parse_configuration(text, shown));
  const bool other_settings = read.service != settings_;
  const ClusterChange change = cluster_change(view(), read.machine);
  TRY(can_change(change));
  if (read.text == cluster_text_ && change.nodes.empty()) return Reloaded{};
  const auto is_to_come = [&](const Reservation& r) { return instant_of((r.until - kEpoch).count()) > now(); };
  if (std::ranges::any_of(read.reservations, is_to_come)) TRY(chain_->keeps_reservations());
  auto file = std::exchange(file_, std::make_shared<const Machine>(std::move(read.machine)));
  const auto undo = [&] { file_ = std::move(file); };
  const std::vector<Fact> snapshot = controller_->snapshot();
  auto changed = under_file(cluster_options(), snapshot, change);
  if (changed) {
    if (auto anew = decide_anew(policy(), carried_over(snapshot, change)); !anew)
      changed = std::unexpected(anew.error());
  }
  if (!changed) {
    undo();
    return fail("{} cannot be taken: {}", shown, changed.error().message);
  }
  licence_watch_.reset();  // it looks at the machine as it was
  dated_reservations_ = std::move(read.reservations);
  cluster_text_ = std::move(read.text);
  stands_as(std::move(changed->machine), change.taken);
  if (auto taken = describe_nodes(change); !taken) {
    fail_for_good(taken);
    return std::unexpected(taken.error());
  }
  return Reloaded{change.taken, other_settings};
}

// The journal begins anew under the file, and what becomes of nodes goes through the door behind that: where the
// service is killed between, the next one finds by the state that they have yet to be described.
Result<void> Service::describe_nodes(const ClusterChange& change) {
  if (change.less) controller_->withdraw_promises();
  TRY(compact());
  for (const Described& node : change.nodes) TRY(controller_->record(node));
  for (const NodeId node : change.back) TRY(put_health(node, {}));
  TRY(keep_reservations());
  contenders_ = {};
  auto resumed = controller_->resume();
  after_turn(resumed);
  TRY(resumed);
  watch_licences();
  return {};
}

}  // namespace rota::serve
