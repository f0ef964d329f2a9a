#include "serve/node_desk.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "serve/node_list.h"

namespace rota::serve {
namespace {

// Beginnings of names under which the store keeps, with the node's name behind them:
constexpr const char* kReason = "node ";  // why it is out of use
constexpr const char* kBy = "node by ";   // the user who took it out of use

}  // namespace

void NodeDesk::read() {
  const std::vector<Node>& nodes = desk_.machine()->nodes;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (desk_.view().power().health(NodeId{n}) == Health::up) continue;  // it had gone, and is back
    for (const auto& [what, texts] : {std::pair{kReason, &reasons_}, std::pair{kBy, &by_}}) {
      const auto text = desk_.store().setting(what + nodes[n].name);
      if (text && *text && !(*text)->empty()) (*texts)[NodeId{n}] = **text;
    }
  }
}

Result<NodeDesk::Emptied> NodeDesk::set_health(const std::string& nodes, const Wish& wish) {
  TRY(carries_out(desk_, "nodes"));
  const auto ids = TRY(nodes_named(*desk_.machine(), nodes));
  for (const NodeId id : ids) {
    TRY(put_health(id, wish));
    NodeProbe* probe = desk_.engine().node_probe();
    if (probe && wish.health == Health::up) probe->look(id);  // it may have come back meanwhile
  }
  Emptied emptied = wish.health == Health::down ? empty_nodes(ids) : Emptied{};
  static_cast<void>(desk_.decide());
  return emptied;
}

Result<void> NodeDesk::put_health(NodeId id, const Wish& wish) {
  if (desk_.view().power().health(id) != wish.health) {
    if (auto done = desk_.record(HealthChanged{id, wish.health}); !done) return done;
  }
  const bool up = wish.health == Health::up;
  if (up) troubles_.erase(id);
  const auto keep_of = [&](std::map<NodeId, std::string>& texts, const char* what, const std::string& text) {
    if (up) {
      texts.erase(id);
    } else {
      texts[id] = text;
    }
    desk_.store().put_setting(what + desk_.machine()->nodes[id.value].name, up ? "" : text);
  };
  keep_of(reasons_, kReason, wish.reason);
  keep_of(by_, kBy, wish.by);
  return {};
}

std::string NodeDesk::by(NodeId node) const {
  const auto found = by_.find(node);
  return found == by_.end() ? std::string() : found->second;
}

// Which user took it down, and why.
std::string NodeDesk::sentence_of_down(NodeId node) const {
  const std::string user = by(node);
  const std::string why = reason(node);
  return fmt::format("Node {} was taken down{}{}{}", desk_.machine()->nodes[node.value].name,
                     user.empty() ? "" : " by " + user, why.empty() ? "" : ": " + why, why.ends_with('.') ? "" : ".");
}

// What runs or starts there is done again elsewhere where it may be, else ended. What is leaving already leaves as it
// was told to.
NodeDesk::Emptied NodeDesk::empty_nodes(const std::vector<NodeId>& nodes) {
  std::vector<bool> emptied(desk_.machine()->nodes.size());
  for (const NodeId node : nodes) emptied[node.value] = true;
  std::vector<std::pair<JobId, NodeId>> there;
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    const auto& shares = desk_.view().placement(entry.job).shares;
    const auto share = std::ranges::find_if(shares, [&](const Share& each) { return emptied[each.node.value]; });
    if (share != shares.end()) there.emplace_back(entry.job, share->node);
    return true;
  });
  Emptied told;
  for (const auto& [id, node] : there) {
    const Job& job = desk_.view().job(id);
    if (job.cancelling) continue;
    if (!job.spec.may_move()) {
      records_.note(id, sentence_of_down(node));
      if (desk_.record(CancelAsked{id})) told.ended.push_back(id);
    } else if (!job.stopping && !job.leaving && desk_.controller().requeue(id)) {
      told.again.push_back(id);
    }
  }
  return told;
}

void NodeDesk::leave_if_down(JobId job) {
  if (desk_.view().nodes().counted()) return;
  for (const Share& share : desk_.view().placement(job).shares) {
    if (desk_.view().power().health(share.node) != Health::down) continue;
    desk_.loop().later([this, node = share.node] {
      if (desk_.view().power().health(node) != Health::down) return;
      static_cast<void>(empty_nodes({node}));
      static_cast<void>(desk_.decide());
    });
  }
}

// Those that are so already aside: all of them, or none.
Result<NodeDesk::Switched> NodeDesk::set_power(const std::string& nodes, bool on) {
  TRY(carries_out(desk_, "nodes"));
  const auto ids = TRY(nodes_named(*desk_.machine(), nodes));
  Switched switched;
  std::optional<std::string> in_vain;
  for (const NodeId id : ids) {
    const Node& node = desk_.machine()->nodes[id.value];
    if (!node.commands)
      return fail("node {} cannot be switched: the cluster file gives it no {}", node.name,
                  on ? "`resume_command`." : "`suspend_command`.");
    const PowerState state = desk_.view().power().state(id);
    const bool is_on = state == PowerState::on || state == PowerState::booting;
    auto why = desk_.controller().objection_to_power(id, on);
    if (why && is_on != on) return fail(std::move(*why));
    (why ? switched.already : switched.ordered).push_back(id);
    if (why && !in_vain) in_vain = std::move(why);
  }
  if (switched.ordered.empty() && in_vain) return fail(std::move(*in_vain));
  Result<void> ordered;
  for (std::size_t n = 0; n < switched.ordered.size() && ordered; ++n)
    ordered = desk_.controller().order_power(switched.ordered[n], on);
  static_cast<void>(desk_.decide());
  if (!ordered) return std::unexpected(ordered.error());
  return switched;
}

bool NodeDesk::left_asleep(NodeId node) const {
  const PowerState state = desk_.view().power().state(node);
  return !desk_.chain().knobs().power.switches() && desk_.view().power().health(node) == Health::up &&
         (state == PowerState::off || state == PowerState::shutting_down) && !desk_.view().power().row(node).by_rule;
}

std::vector<NodeId> NodeDesk::left_asleep() const {
  std::vector<NodeId> nodes;
  for (std::uint32_t n = 0; !desk_.view().power().all_on() && n < desk_.machine()->nodes.size(); ++n) {
    if (left_asleep(NodeId{n})) nodes.push_back(NodeId{n});
  }
  return nodes;
}

std::vector<NodeId> NodeDesk::woken_after_policy() const {
  std::vector<NodeId> nodes;
  const bool wakes = !desk_.chain().knobs().power.switches();
  for (std::uint32_t n = 0; wakes && n < desk_.machine()->nodes.size(); ++n) {
    const bool up = desk_.view().power().health(NodeId{n}) == Health::up;
    if (up && desk_.view().power().row(NodeId{n}).by_rule) nodes.push_back(NodeId{n});
  }
  return nodes;
}

std::string NodeDesk::reason(NodeId node) const {
  for (const auto* reasons : {&reasons_, &troubles_}) {
    const auto found = reasons->find(node);
    if (found != reasons->end() && !found->second.empty()) return found->second;
  }
  return {};
}

void NodeDesk::note_theirs(NodeId node, const std::string& reason) {
  if (reason.empty()) {
    troubles_.erase(node);
  } else {
    troubles_[node] = reason;
  }
}

void NodeDesk::note(NodeId node, std::string sentence, const std::string& output) {
  if (sentence.empty()) return void(troubles_.erase(node));
  desk_.log().say(fmt::format("node {}: {}", desk_.machine()->nodes[node.value].name, sentence));
  for (const std::string_view line : split(output, '\n')) {
    if (!line.empty()) desk_.log().say("  " + std::string(line));
  }
  troubles_[node] = std::move(sentence);
}

// A node that has come or gone by itself is told of again and again. One that does not wake, however often it is told
// to, is taken out of use until an operator has looked at it.
Result<void> NodeDesk::power_changed(const PowerChanged& what) {
  const bool known = what.node.value < desk_.machine()->nodes.size();
  if (known && what.key == 0 && desk_.view().power().state(what.node) == what.state) return {};
  const bool booted = known && desk_.view().power().state(what.node) == PowerState::booting;
  auto taken = desk_.controller().record(what);
  if (!taken) return taken;
  static_cast<void>(desk_.decide());
  const auto& commands = desk_.machine()->nodes[what.node.value].commands;
  const std::uint16_t failures = desk_.view().power().row(what.node).failures;
  if (!booted || what.state != PowerState::off || !commands || failures % commands->tries != 0) return {};
  const std::string why = fmt::format("taken out of use after {} that failed. {} `rota nodes resume` puts it back.",
                                      amount(failures, "boot"), troubles_[what.node]);
  desk_.log().say(fmt::format("node {}: {}", desk_.machine()->nodes[what.node.value].name, why));
  auto down = put_health(what.node, {Health::down, why, {}});
  if (down) static_cast<void>(empty_nodes({what.node}));
  return down;
}

void NodeDesk::fact_recorded(const View& before, const FactRef& fact) {
  if (const auto* launched = std::get_if<const Launched*>(&fact.what)) leave_if_down((*launched)->job);
  if (const auto* power = std::get_if<const PowerChanged*>(&fact.what)) say_if_on_for_want_of_commands(before, **power);
}

// It was asleep, or on its way, when the commands that could have said otherwise left the cluster file.
void NodeDesk::say_if_on_for_want_of_commands(const View& before, const PowerChanged& what) const {
  const Node& node = desk_.machine()->nodes[what.node.value];
  if (node.commands || what.state != PowerState::on) return;
  const PowerState was = before.power().state(what.node);
  desk_.log().say(fmt::format(
      "node {}: it was {}, and the cluster file has no `suspend_command` and `resume_command` for it any more. Such a "
      "node is always on, and jobs start there again; put the commands back if it is to be woken first.",
      node.name,
      was == PowerState::off       ? "asleep"
      : was == PowerState::booting ? "booting"
                                   : "shutting down"));
}

}  // namespace rota::serve
