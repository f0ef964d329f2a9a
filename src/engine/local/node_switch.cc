#include "engine/local/node_switch.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "process/site_command.h"

namespace rota::local {

using process::SiteCommand;

namespace {

constexpr Duration kFirstInterval{100};
constexpr Duration kLongestInterval = seconds(5);
constexpr Duration kLongestProbe = seconds(30);  // a node that does not answer in this time is not there
constexpr int kProbesAtOnce = 8;                 // where all are looked at

}  // namespace

NodeSwitch::NodeSwitch(boost::asio::io_context& io, const Machine& machine, Loop& loop, std::string folder,
                       Hearers hearers)
    : io_(io), machine_(&machine), loop_(loop), folder_(std::move(folder)), hearers_(std::move(hearers)) {
  for (std::uint32_t n = 0; n < machine_->nodes.size(); ++n) {
    if (machine_->nodes[n].commands) rows_.try_emplace(NodeId{n}, io_);
  }
}

void NodeSwitch::describe(const Machine& machine) {
  machine_ = &machine;
  std::vector<NodeId> without;
  for (auto& [node, row] : rows_) {
    if (machine.nodes[node.value].commands) continue;
    forget(node, row);
    without.push_back(node);
  }
  for (const NodeId node : without) {
    const std::uint64_t key = rows_.at(node).key;
    const bool owes = under_way(rows_.at(node));
    rows_.erase(node);
    if (owes) hearers_.changed(PowerChanged{node, PowerState::on, key});
  }
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (machine.nodes[n].commands && rows_.try_emplace(NodeId{n}, io_).second && opened_) look(NodeId{n});
  }
  look_next();
}

// What is asked, or done, for it comes to nothing.
void NodeSwitch::forget(NodeId node, Row& row) {
  if (!row.looked) {
    if (row.command) --looking_;
    std::erase(to_look_at_, node);  // else it would stand there twice once it is to be looked at again
  }
  row.looked = true;
  row.command.reset();
}

NodeSwitch::~NodeSwitch() { *alive_ = false; }

std::string NodeSwitch::why_not() const {
  if (machine_->nodes.empty())
    return "Processors are only counted here: describe nodes in [[nodes]] tables, each with `suspend_command` and "
           "`resume_command`.";
  std::vector<std::string> without;
  for (const Node& node : machine_->nodes) {
    if (!node.commands) without.push_back(node.name);
  }
  if (without.empty()) return {};
  return fmt::format("{}{}{} no `suspend_command` and `resume_command` in the cluster file: add them.",
                     without.size() == 1 ? "Node " : "Nodes ", format_host_list(without),
                     without.size() == 1 ? " has" : " have");
}

std::string NodeSwitch::record_of(NodeId node) const { return fmt::format("{}/switch-{}", folder_, node.value); }

void NodeSwitch::open() {
  opened_ = true;
  for (const auto& [node, row] : rows_) SiteCommand::end_left_over(record_of(node));
  for (const auto& [node, row] : rows_) look(node);
}

void NodeSwitch::look(NodeId node) {
  const auto found = rows_.find(node);
  if (found == rows_.end() || commands(node).probe.empty() || under_way(found->second) || !found->second.looked) return;
  found->second.looked = false;
  to_look_at_.push_back(node);
  look_next();
}

void NodeSwitch::look_next() {
  while (looking_ < kProbesAtOnce && !to_look_at_.empty()) {
    const NodeId node = to_look_at_.front();
    to_look_at_.pop_front();
    Row& row = rows_.at(node);
    if (row.looked || under_way(row)) continue;
    ++looking_;
    run(node, commands(node).probe, kLongestProbe, [this, node](const SiteCommand::End& end) {
      --looking_;
      Row& seen = rows_.at(node);
      seen.looked = true;
      if (end.ran) {
        seen.power = end.done ? PowerState::on : PowerState::off;
        hearers_.changed(PowerChanged{node, seen.power, 0});
      }
      look_next();
    });
  }
}

void NodeSwitch::carry_out(const Command& command, bool inherited) {
  const bool on = command.kind == Command::Kind::power_on;
  const auto found = rows_.find(command.node);
  if (found == rows_.end()) return hearers_.changed(PowerChanged{command.node, PowerState::on, command.key});
  Row& row = found->second;
  if (command.key < row.key) return;  // too old
  if (command.key == row.key) {
    if (!under_way(row)) hearers_.changed(PowerChanged{command.node, row.power, row.key});
    return;
  }
  forget(command.node, row);
  row.key = command.key;
  row.ordered = loop_.now();
  row.interval = kFirstInterval;
  row.power = on ? PowerState::booting : PowerState::shutting_down;
  const bool may_be_on = on && (inherited || row.doubtful) && !commands(command.node).probe.empty();
  look_next();
  if (!may_be_on) return switch_now(command.node);
  run(command.node, commands(command.node).probe, kLongestProbe, [this, node = command.node](const auto& end) {
    if (end.done) {
      done(node);
    } else {
      switch_now(node);
    }
  });
}

void NodeSwitch::run(NodeId node, const std::string& text, Duration timeout, SiteCommand::OnEnd on_end) {
  const std::string& name = machine_->nodes[node.value].name;
  const SiteCommand::Options options{.text = text,
                                     .variables = {"ROTA_NODE=" + name, "ROTA_CLUSTER_NAME=" + machine_->name},
                                     .timeout = timeout,
                                     .record = record_of(node)};
  rows_.at(node).command =
      std::make_unique<SiteCommand>(io_, options, [this, node, on_end](const SiteCommand::End& end) {
        const auto over = std::move(rows_.at(node).command);
        on_end(end);
      });
}

void NodeSwitch::switch_now(NodeId node) {
  const SwitchCommands& how = commands(node);
  const bool on = rows_.at(node).power == PowerState::booting;
  run(node, on ? how.resume : how.suspend, how.timeout, [this, node, on](const SiteCommand::End& end) {
    const bool silent = commands(node).probe.empty();
    if (end.done) return silent ? wait_out(node) : ask(node);
    const std::string why = fmt::format("its `{}` {}", on ? "resume_command" : "suspend_command", end.why);
    if (silent) return failed(node, why, end.output);
    // Perhaps because it is so already.
    run(node, commands(node).probe, kLongestProbe, [this, node, on, why, output = end.output](const auto& seen) {
      if (seen.ran && seen.done == on) {
        done(node);
      } else {
        failed(node, why, output);
      }
    });
  });
}

// There is no probe to ask: the time that is described is taken at its word.
void NodeSwitch::wait_out(NodeId node) {
  const Row& row = rows_.at(node);
  const Duration takes = row.power == PowerState::booting ? times(node).boot : times(node).shutdown;
  after(node, std::max(row.ordered + takes - loop_.now(), Duration{0}), [this, node] { done(node); });
}

void NodeSwitch::ask(NodeId node) {
  const Duration left = rows_.at(node).ordered + commands(node).timeout - loop_.now();
  run(node, commands(node).probe, std::clamp(left, kFirstInterval, kLongestProbe),
      [this, node](const SiteCommand::End& end) { answered(node, end); });
}

void NodeSwitch::answered(NodeId node, const SiteCommand::End& end) {
  Row& row = rows_.at(node);
  const bool boots = row.power == PowerState::booting;
  if (end.ran && end.done == boots) return done(node);
  const Duration timeout = commands(node).timeout;
  if (loop_.now() >= row.ordered + timeout) {
    const std::string after = fmt::format(", {} after it was told to ", format_duration(timeout));
    return failed(node,
                  boots ? fmt::format("its `probe_command` {}{}wake", end.why, after)
                        : fmt::format("its `probe_command` says that jobs can start there{}sleep", after),
                  end.output);
  }
  after(node, row.interval, [this, node] { ask(node); });
  row.interval = std::min(row.interval * 3 / 2, kLongestInterval);
}

void NodeSwitch::after(NodeId node, Duration pause, const std::function<void()>& call) {
  Row& row = rows_.at(node);
  row.pause.expires_after(std::chrono::milliseconds(pause.count()));
  row.pause.async_wait([this, alive = alive_, node, call, mine = ++row.pauses](const boost::system::error_code& error) {
    if (error || !*alive) return;
    const auto found = rows_.find(node);
    if (found != rows_.end() && found->second.pauses == mine) call();
  });
}

void NodeSwitch::done(NodeId node) {
  Row& row = rows_.at(node);
  row.power = row.power == PowerState::booting ? PowerState::on : PowerState::off;
  row.doubtful = false;
  hearers_.note(node, {}, {});
  hearers_.changed(PowerChanged{node, row.power, row.key});
}

// A node that could not be put to sleep is still on; one that could not be woken counts as off.
void NodeSwitch::failed(NodeId node, const std::string& why, const std::string& output) {
  Row& row = rows_.at(node);
  const bool boots = row.power == PowerState::booting;
  row.power = boots ? PowerState::off : PowerState::on;
  row.doubtful = boots;
  hearers_.note(node, fmt::format("{}{}.", boots ? "It could not be woken: " : "It could not be put to sleep: ", why),
                output);
  hearers_.changed(PowerChanged{node, row.power, row.key});
}

void NodeSwitch::observe(std::vector<Observation::NodeSeen>& into) const {
  constexpr std::uint64_t kAny = UINT64_MAX;  // whatever was ordered: no command carries it out any more
  for (std::uint32_t n = 0; n < machine_->nodes.size(); ++n) {
    const auto found = rows_.find(NodeId{n});
    into.push_back(
        found == rows_.end()
            ? Observation::NodeSeen{.node = NodeId{n}, .key = kAny}
            : Observation::NodeSeen{.node = NodeId{n}, .power = found->second.power, .key = found->second.key});
  }
}

}  // namespace rota::local
