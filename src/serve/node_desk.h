// What operators do to nodes, and what becomes of nodes that are switched off and on. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "serve/desk.h"
#include "serve/job_records.h"

namespace rota::serve {

class NodeDesk final : public FactObserver {
 public:
  struct Wish {
    Health health = Health::up;
    std::string reason;
    std::string by;  // the user who wants it; empty: the service itself
  };
  struct Emptied {
    std::vector<JobId> again, ended;  // what ran on nodes that are taken down starts over, or may not and is ended
  };
  struct Switched {
    std::vector<NodeId> ordered;
    std::vector<NodeId> already;  // so, or on their way
  };

  NodeDesk(Desk& desk, JobRecords& records) : desk_(desk), records_(records) {}

  // Why nodes are out of use, as it is kept.
  void read();
  // Nodes by host list; "all". Operators only.
  Result<Emptied> set_health(const std::string& nodes, const Wish& wish);
  // The same of one node, and nothing is emptied.
  Result<void> put_health(NodeId node, const Wish& wish);
  // Fails if one of them cannot be, and if all are so already: then nothing is changed.
  Result<Switched> set_power(const std::string& nodes, bool on);
  // Records it. A node that does not wake, however often it is ordered to, is taken out of use.
  Result<void> power_changed(const PowerChanged& what);
  // What went wrong with a node that is switched, and what its command wrote; no sentence: nothing is wrong any more.
  void note(NodeId node, std::string sentence, const std::string& output);
  // Why the manager of a cluster that is only watched has a node out of use; empty: it is in use.
  void note_theirs(NodeId node, const std::string& reason);

  // Fit for use, but asleep, and the policy wakes no node: only an operator can.
  std::vector<NodeId> left_asleep() const;
  bool left_asleep(NodeId node) const;
  // Sent to sleep by a former policy, which the present one wakes.
  std::vector<NodeId> woken_after_policy() const;
  std::string reason(NodeId node) const;
  std::string by(NodeId node) const;  // the user who took it out of use; empty: it is in use, or the service did

  std::uint64_t wants() const override { return FactKinds::bit<Launched>() | FactKinds::bit<PowerChanged>(); }
  void fact_recorded(const View& before, const FactRef& fact) override;

 private:
  Emptied empty_nodes(const std::vector<NodeId>& nodes);
  std::string sentence_of_down(NodeId node) const;
  void leave_if_down(JobId job);
  void say_if_on_for_want_of_commands(const View& before, const PowerChanged& what) const;

  Desk& desk_;
  JobRecords& records_;
  std::map<NodeId, std::string> reasons_;
  std::map<NodeId, std::string> by_;
  std::map<NodeId, std::string> troubles_;  // what went wrong when they were switched last
};

}  // namespace rota::serve
