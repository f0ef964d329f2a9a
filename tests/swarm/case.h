// One run of the swarm, as drawn from a seed: the cluster, the policy, the jobs, what users do, and all that goes
// wrong. Plain lists, so that a case that fails can be made smaller. Times in seconds from the beginning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/answer_watch.h"
#include "engine/sim/engine.h"
#include "engine/sim/faulty_link.h"
#include "model/machine.h"
#include "store/memory_store.h"

namespace rota::swarm {

struct CaseJob {
  JobSpec spec;
  Duration run_time{0};
  bool has_terms = false;
  std::int64_t begin = 0;
  std::vector<std::pair<std::int64_t, Dependency::When>> after = {};  // by number
  std::int64_t array = 0;
  std::uint32_t throttle = 0;
  Bars holds = kNoBars;
};

struct UserAct {
  enum class Kind : std::uint8_t { hold, release, amend, cancel, suspend, resume, limit };
  Kind kind = Kind::hold;
  std::int64_t at = 0;
  std::int64_t job = 0;  // its number
  std::int64_t limit = 0;
  std::int32_t priority = 0;
  std::int64_t begin = 0;
  std::uint32_t throttle = 0;  // of the job's array; 0: as it is
};

struct NodeTrouble {
  enum class Kind : std::uint8_t { dies, drains, recovers };
  Kind kind = Kind::dies;
  std::int64_t at = 0;
  NodeId node;
};

struct ClockJump {
  std::int64_t at = 0;
  std::int64_t by = 0;
};

// So many licences of the first kind are used by others than the cluster's jobs, from then on.
struct LicenceCount {
  std::int64_t at = 0;
  std::int64_t elsewhere = 0;
};

// An operator wants processors, or nodes, kept free for a time.
struct CaseReservation {
  std::int64_t at = 0;     // when it is asked for,
  std::int64_t ahead = 0;  // so long before it begins; negative: it has begun already
  std::int64_t length = 0;
  std::int64_t processors = 0;
  std::vector<NodeId> nodes = {};
  std::int64_t kept = 0;  // so long after it was made it is taken back; 0: it is not
};

// From then on, for a while, the policy starts whatever waits: plans that the referee must refuse.
struct BadPolicy {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// The controller crashes at the n-th of these since the beginning, and is back after a while.
struct CrashPoint {
  // before_request, request: to the exchange of a federation, which is about to leave, and which has left.
  enum class Where : std::uint8_t { record, before_commit, after_commit, dispatch, compact, request, before_request };
  Where where = Where::record;
  std::int64_t count = 1;
  std::int64_t away = 0;
};

struct Case {
  std::uint64_t seed = 0;
  Machine machine;
  bool counted = true;
  std::string policy;
  std::vector<CaseJob> jobs;
  std::vector<UserAct> acts;
  std::vector<NodeTrouble> troubles;
  std::vector<ClockJump> jumps;
  std::vector<CrashPoint> crashes;
  std::vector<std::int64_t> compactions;  // when the journal is compacted
  std::vector<LicenceCount> licences;
  std::vector<CaseReservation> reservations;
  std::vector<BadPolicy> bad_policies;  // if there are any, a refused plan leads to the plain mode
  std::vector<std::int64_t> looks;      // when an operator lets the policy decide again
  bool confirms_starts = true;
  sim::Ties ties = sim::Ties::batch;
  sim::LinkFaults link;
  sim::EngineFaults engine;
  store::StoreFaults store;
  AnswerRules answers;
  std::int64_t heals_at = 0;
  bool sqlite = false;  // the journal is in the database of a live service
  bool tells = false;   // every fact is printed
};

Case draw_case(std::uint64_t seed);

// Whether the policy is bad then, by the clock of the controller.
bool is_bad_at(const Case& drawn, Instant now);

// For people: everything in a few lines.
std::string told(const Case& drawn);

}  // namespace rota::swarm
