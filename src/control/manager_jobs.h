// Jobs of a resource manager that an engine only watches: how they come to the service, with what people call them and
// what the manager says of them, of its nodes and of its users. No fact: what decides stands in the facts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace rota {

// What people call a job, and what it asks for by names.
struct ManagerJob {
  std::string name;
  std::string user;
  std::int64_t array = 0;   // number of its array; 0: it is no task of one
  std::int64_t index = -1;  // within it
  std::string account = {}, qos = {}, features = {}, required_nodes = {};
};

// What the manager says of a job that waits.
struct ManagerWait {
  std::string_view reason = {};       // in its word; empty: none
  Instant expected = kNever;          // when it expects the job to start; kNever: it does not say
  std::string_view after = {};        // for what jobs it waits: "afterok:12 any after:13_4+5", as for a submission
  std::string_view reservation = {};  // in which alone it may run
};

// Nodes that the manager keeps for some users for a time, whole.
struct ManagerReservation {
  std::string name;
  std::string users;  // and accounts, as the manager names them
  Instant from = kEpoch, until = kNever;
  std::vector<NodeId> nodes = {};
};

// What a user has used in an account, as much of it as counts by now.
struct ManagerUse {
  std::string account, user;
  Duration processor_time{0};
};

// How early it is a job's turn, in its partition: the highest goes first.
struct ManagerPlace {
  std::int64_t number = 0;   // of the job
  std::int64_t own = 0;      // as the manager has it,
  std::int64_t advised = 0;  // and in an order that is advised
};

// Whose turn it is in an order of Rota's: the least rank goes first. Jobs of equal rank are alike to that order, and
// stand as the manager has them.
struct ManagerTurn {
  std::int64_t number = 0;  // of the job
  std::int64_t rank = 0;
};

class ManagerJobs {
 public:
  virtual ~ManagerJobs() = default;
  // A new job, as Intake::submit takes it, with its names. Invalid: it was refused.
  virtual JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) = 0;
  // Whether a job with this number has left and is kept in the history.
  virtual bool has_left(std::int64_t number) const = 0;
  virtual void say(JobId job, const ManagerWait& wait) = 0;
  // So many tasks of this array run at one time.
  virtual void throttle(std::int64_t /*array*/, std::uint32_t /*most*/) {}
  // All that the manager keeps for some users, now and later.
  virtual void reserved(const std::vector<ManagerReservation>& /*all*/) {}
  // Why a node is out of use; empty: it is in use.
  virtual void node_reason(NodeId /*node*/, const std::string& /*reason*/) {}
  // What all users have used, at this instant.
  virtual void used(std::vector<ManagerUse> /*all*/) {}
  // All has been said of how things stood at that instant.
  virtual void surveyed(Instant at) = 0;
  // The jobs that wait for their turn, in that order ("sjf", "fair+fair-half-life=1d"), by rank. Fails with a sentence
  // where there is no such order. O(jobs log jobs).
  virtual Result<std::vector<ManagerTurn>> in_order(const std::string& rule) = 0;
  // All that wait for their turn, where another order is advised or followed; none: it is not.
  virtual void placed(const std::vector<ManagerPlace>& /*all*/) {}
};

}  // namespace rota
