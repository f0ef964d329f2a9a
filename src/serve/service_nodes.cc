// What operators do to nodes, and what becomes of nodes that are switched off and on.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "serve/service.h"

namespace rota::serve {

// Each once, however often it is named.
Result<std::vector<NodeId>> Service::nodes_named(const std::string& list) const {
  if (desk_.machine()->nodes.empty()) return fail("here processors are only counted, and there are no nodes to name.");
  if (list == "all" && std::ranges::find(desk_.machine()->nodes, list, &Node::name) == desk_.machine()->nodes.end()) {
    std::vector<NodeId> all;
    all.reserve(desk_.machine()->nodes.size());
    for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
      if (!desk_.machine()->nodes[n].has_gone()) all.push_back(NodeId{n});
    }
    return all;
  }
  const auto names = TRY(parse_host_list(list));
  std::vector<NodeId> ids;
  std::vector<bool> named(desk_.machine()->nodes.size());
  for (const std::string& name : names) {
    const auto found = std::ranges::find(desk_.machine()->nodes, name, &Node::name);
    if (found == desk_.machine()->nodes.end() || found->has_gone())
      return fail("there is no node {}; nothing was changed.", rota::quoted(name));
    const NodeId id{static_cast<std::uint32_t>(found - desk_.machine()->nodes.begin())};
    if (!named[id.value]) ids.push_back(id);
    named[id.value] = true;
  }
  return ids;
}

Result<Service::Emptied> Service::set_health(const std::string& nodes, const NodeWish& wish) {
  const auto ids = TRY(nodes_named(nodes));
  for (const NodeId id : ids) {
    TRY(put_health(id, wish));
    NodeProbe* probe = desk_.engine().node_probe();
    if (probe && wish.health == Health::up) probe->look(id);  // it may have come back meanwhile
  }
  Emptied emptied = wish.health == Health::down ? empty_nodes(ids) : Emptied{};
  static_cast<void>(desk_.decide());
  return emptied;
}

Result<void> Service::put_health(NodeId id, const NodeWish& wish) {
  if (desk_.view().power().health(id) != wish.health) {
    if (auto done = desk_.record(HealthChanged{id, wish.health}); !done) return done;
  }
  const bool up = wish.health == Health::up;
  if (up) node_troubles_.erase(id);
  const auto keep_of = [&](std::map<NodeId, std::string>& texts, const char* what, const std::string& text) {
    if (up) {
      texts.erase(id);
    } else {
      texts[id] = text;
    }
    desk_.store().put_setting(what + desk_.machine()->nodes[id.value].name, up ? "" : text);
  };
  keep_of(node_reasons_, kNodeReason, wish.reason);
  keep_of(node_by_, kNodeBy, wish.by);
  return {};
}

std::string Service::node_by(NodeId node) const {
  const auto found = node_by_.find(node);
  return found == node_by_.end() ? std::string() : found->second;
}

// Which user took it down, and why.
std::string Service::sentence_of_down(NodeId node) const {
  const std::string by = node_by(node);
  const std::string reason = node_reason(node);
  return fmt::format("Node {} was taken down{}{}{}", desk_.machine()->nodes[node.value].name,
                     by.empty() ? "" : " by " + by, reason.empty() ? "" : ": " + reason,
                     reason.ends_with('.') ? "" : ".");
}

// What runs or starts there is done again elsewhere where it may be, else ended. What is leaving already leaves as it
// was told to.
Service::Emptied Service::empty_nodes(const std::vector<NodeId>& nodes) {
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
      note_of_job(id, sentence_of_down(node));
      if (desk_.record(CancelAsked{id})) told.ended.push_back(id);
    } else if (!job.stopping && !job.leaving && desk_.controller().requeue(id)) {
      told.again.push_back(id);
    }
  }
  return told;
}

void Service::leave_if_down(JobId job) {
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
Result<Service::Switched> Service::set_power(const std::string& nodes, bool on) {
  const auto ids = TRY(nodes_named(nodes));
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

bool Service::left_asleep(NodeId node) const {
  const PowerState state = desk_.view().power().state(node);
  return !desk_.chain().knobs().power.switches() && desk_.view().power().health(node) == Health::up &&
         (state == PowerState::off || state == PowerState::shutting_down) && !desk_.view().power().row(node).by_rule;
}

std::vector<NodeId> Service::left_asleep() const {
  std::vector<NodeId> nodes;
  for (std::uint32_t n = 0; !desk_.view().power().all_on() && n < desk_.machine()->nodes.size(); ++n) {
    if (left_asleep(NodeId{n})) nodes.push_back(NodeId{n});
  }
  return nodes;
}

std::vector<NodeId> Service::woken_after_policy() const {
  std::vector<NodeId> nodes;
  const bool wakes = !desk_.chain().knobs().power.switches();
  for (std::uint32_t n = 0; wakes && n < desk_.machine()->nodes.size(); ++n) {
    const bool up = desk_.view().power().health(NodeId{n}) == Health::up;
    if (up && desk_.view().power().row(NodeId{n}).by_rule) nodes.push_back(NodeId{n});
  }
  return nodes;
}

std::string Service::node_reason(NodeId node) const {
  for (const auto* reasons : {&node_reasons_, &node_troubles_}) {
    const auto found = reasons->find(node);
    if (found != reasons->end() && !found->second.empty()) return found->second;
  }
  return {};
}

void Service::warn_of_job(JobId job, const std::string& sentence) {
  log_.say(fmt::format("warning: job {}: {}", book_.shown(job), sentence));
}

void Service::note_of_node(NodeId node, std::string sentence, const std::string& output) {
  if (sentence.empty()) return void(node_troubles_.erase(node));
  log_.say(fmt::format("node {}: {}", desk_.machine()->nodes[node.value].name, sentence));
  for (const std::string_view line : split(output, '\n')) {
    if (!line.empty()) log_.say("  " + std::string(line));
  }
  node_troubles_[node] = std::move(sentence);
}

// A node that has come or gone by itself is told of again and again. One that does not wake, however often it is told
// to, is taken out of use until an operator has looked at it.
Result<void> Service::power_changed(const PowerChanged& what) {
  const bool known = what.node.value < desk_.machine()->nodes.size();
  if (known && what.key == 0 && desk_.view().power().state(what.node) == what.state) return {};
  const bool booted = known && desk_.view().power().state(what.node) == PowerState::booting;
  auto taken = desk_.controller().record(what);
  if (!taken) return taken;
  static_cast<void>(desk_.decide());
  const auto& commands = desk_.machine()->nodes[what.node.value].commands;
  const std::uint16_t failures = desk_.view().power().row(what.node).failures;
  if (!booted || what.state != PowerState::off || !commands || failures % commands->tries != 0) return {};
  const std::string reason = fmt::format("taken out of use after {} that failed. {} `rota nodes resume` puts it back.",
                                         amount(failures, "boot"), node_troubles_[what.node]);
  log_.say(fmt::format("node {}: {}", desk_.machine()->nodes[what.node.value].name, reason));
  auto down = put_health(what.node, {Health::down, reason, {}});
  if (down) static_cast<void>(empty_nodes({what.node}));
  return down;
}

// It was asleep, or on its way, when the commands that could have said otherwise left the cluster file.
void Service::say_if_on_for_want_of_commands(const View& before, const PowerChanged& what) const {
  const Node& node = desk_.machine()->nodes[what.node.value];
  if (node.commands || what.state != PowerState::on) return;
  const PowerState was = before.power().state(what.node);
  log_.say(fmt::format(
      "node {}: it was {}, and the cluster file has no `suspend_command` and `resume_command` for it any more. Such a "
      "node is always on, and jobs start there again; put the commands back if it is to be woken first.",
      node.name,
      was == PowerState::off       ? "asleep"
      : was == PowerState::booting ? "booting"
                                   : "shutting down"));
}

}  // namespace rota::serve
