// Switches the nodes that this machine plays off and on, by the site's own commands (SwitchCommands): runs the command,
// asks the probe until the node is what it should be, and tells what came of it. Every order is answered: on, or off,
// under its key. An order that failed is not tried again here: a boot that failed is the controller's to repeat, after
// the time for which it leaves the node alone. A node without commands is always on, whatever it was while it still had
// some. Nothing here waits. One thread: that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/live_engine.h"
#include "model/machine.h"
#include "process/site_command.h"

namespace rota::local {

class NodeSwitch final : public NodeProbe {
 public:
  struct Hearers {
    std::function<void(const PowerChanged&)> changed;
    // What went wrong with a node, as a sentence, and what its command wrote; no sentence: it went well.
    std::function<void(NodeId, const std::string& sentence, const std::string& output)> note;
  };

  // `folder`: where commands that run are written down. The loop must outlive it, and the machine until there is
  // another.
  NodeSwitch(boost::asio::io_context& io, const Machine& machine, Loop& loop, std::string folder, Hearers hearers);
  NodeSwitch(const NodeSwitch&) = delete;
  NodeSwitch& operator=(const NodeSwitch&) = delete;
  ~NodeSwitch() override;

  // Other nodes, or with other commands. What runs for a node without commands is ended, and it counts as on.
  void describe(const Machine& machine);

  // Why not all nodes can be switched, as a sentence; empty: they can.
  std::string why_not() const;

  // Once, before anything else: commands of an earlier life of the service are ended; which are to be carried out will
  // come again. Then asks all probes what is so.
  void open();
  // Asks its probe, if there is one and nothing is under way; tells the answer, with no key.
  void look(NodeId node) override;

  // power_on or power_off. `inherited`: it was decided in an earlier life of the service, which may have begun it.
  void carry_out(const Command& command, bool inherited);

  // All nodes. One that can be switched and of which nothing is known yet is on its way, under no key.
  void observe(std::vector<Observation::NodeSeen>& into) const;

 private:
  struct Row {
    explicit Row(boost::asio::io_context& io) : pause(io) {}
    PowerState power = PowerState::booting;
    std::uint64_t key = 0;  // of the latest order
    Instant ordered = kEpoch;
    bool doubtful = false;                               // its latest boot failed: it may be on all the same
    bool looked = true;                                  // false: its probe is to be asked, once it is its turn
    Duration interval{0};                                // between two questions
    std::unique_ptr<process::SiteCommand> command = {};  // that runs for it
    boost::asio::steady_timer pause;
    std::uint64_t pauses = 0;  // which is the latest
  };

  const SwitchCommands& commands(NodeId node) const { return *machine_->nodes[node.value].commands; }
  const PowerDraw& times(NodeId node) const { return machine_->nodes[node.value].power; }
  static bool under_way(const Row& row) {
    return row.key != 0 && row.power != PowerState::on && row.power != PowerState::off;
  }
  std::string record_of(NodeId node) const;
  void forget(NodeId node, Row& row);
  void run(NodeId node, const std::string& text, Duration timeout, process::SiteCommand::OnEnd on_end);
  void switch_now(NodeId node);
  void ask(NodeId node);
  void answered(NodeId node, const process::SiteCommand::End& end);
  void wait_out(NodeId node);
  void after(NodeId node, Duration pause, const std::function<void()>& call);
  void done(NodeId node);
  void failed(NodeId node, const std::string& why, const std::string& output);
  void look_next();

  boost::asio::io_context& io_;
  const Machine* machine_;
  Loop& loop_;
  std::string folder_;
  Hearers hearers_;
  std::map<NodeId, Row> rows_;
  bool opened_ = false;
  std::deque<NodeId> to_look_at_;
  int looking_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for timers
};

}  // namespace rota::local
