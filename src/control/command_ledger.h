// Which commands an engine has carried out: of each job and node the latest key, and the latest epoch of all, so that
// commands may come late, twice and out of order (the contract of Engine). Not thread-safe; O(log of the jobs that are
// remembered) a call.
#pragma once

#include <cstdint>
#include <map>

#include "control/ports.h"

namespace rota {

class CommandLedger {
 public:
  enum class Verdict : std::uint8_t { carry_out, answer_again, ignore };
  // Commands that were not carried out, and why.
  struct Counts {
    std::int64_t of_old_epochs = 0;
    std::int64_t doubled = 0;
    std::int64_t out_of_order = 0;
  };

  // What is to be done with a command; if it is carried out, it is now the latest.
  Verdict judge(const Command& command);

  // The key of the latest command that was carried out; 0: there was none, or it is forgotten.
  std::uint64_t key_of(JobId job) const { return key_in(jobs_, job); }
  std::uint64_t key_of(NodeId node) const { return key_in(nodes_, node); }
  // No command about it comes any more.
  void forget(JobId job) { jobs_.erase(job); }
  const Counts& counts() const { return counts_; }

 private:
  template <class Id>
  static std::uint64_t key_in(const std::map<Id, std::uint64_t>& keys, Id id) {
    const auto found = keys.find(id);
    return found == keys.end() ? 0 : found->second;
  }

  std::map<JobId, std::uint64_t> jobs_;
  std::map<NodeId, std::uint64_t> nodes_;
  std::uint32_t epoch_ = 0;
  Counts counts_;
};

}  // namespace rota
