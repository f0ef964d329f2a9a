// A job: what its user asks for (JobSpec; View::request has what was asked first) and what has become of it (Job). Both
// change by facts only.
// How long it will really run is not here: only an engine knows that.
#pragma once

#include <cstdint>

#include "base/id.h"
#include "base/time.h"
#include "model/job_terms.h"
#include "model/licence_use.h"
#include "model/node_wish.h"
#include "model/per_node.h"

namespace rota {

// How a running job can be stopped to go on elsewhere.
enum class Restart : std::uint8_t {
  never,       // it cannot; a rule that stops jobs at their limit still puts it back into the queue
  checkpoint,  // where it was
  from_start,
  once,  // it must not begin a second time: whatever stops it ends it
};

struct JobSpec {
  std::int64_t number = 0;  // the name that people use; unique within a workload
  Instant submit = kEpoch;
  Duration limit = Duration{1};      // asked run time ("requested time", time limit); > 0
  std::int64_t memory = 0;           // bytes asked on each node; 0: none asked
  std::uint32_t processors = 1;      // asked in all; >= 1
  std::uint32_t nodes = 0;           // nodes to spread them over evenly; 0: any spread will do
  std::uint32_t user = UINT32_MAX;   // UINT32_MAX: unknown
  std::uint32_t group = UINT32_MAX;  // UINT32_MAX: unknown
  std::int32_t priority = 0;         // higher goes first
  PartitionId partition;             // invalid: the default partition
  LicenceId licence;                 // that it holds while it runs; invalid: none
  std::uint32_t licences = 0;        // so many of it; of further kinds: more_licences
  Restart restart = Restart::never;
  std::uint8_t accelerators = 0;       // asked on each node; 0: none asked
  AcceleratorTypeId accelerator_type;  // invalid: any will do
  QosId qos;                           // invalid: none, or one that the cluster does not describe
  MoreLicences more_licences = {};     // of further kinds
  Duration restart_cost{0};            // in which it does no work after it was moved
  SharedNodeWish node_wish = {};       // nullptr: any node of its partition will do

  PerNode per_node() const { return {memory, accelerators}; }
  bool may_move() const { return restart == Restart::checkpoint || restart == Restart::from_start; }
};
static_assert(sizeof(JobSpec) == 120, "there is one for each job that is alive, and it is copied at every submission");

// How a dispatch ended for good.
enum class Outcome : std::uint8_t {
  completed,
  timed_out,    // by its limit
  failed,       // by itself: exit code or signal; or it could not be launched
  node_failed,  // with its node
  out_of_memory,
  cancelled,  // because that was asked for
  unknown,    // the engine has forgotten it
};

enum class JobState : std::uint8_t {
  waiting,  // queued
  running,  // holds what it asked for: also while it starts, stops or leaves
  completed,
  timed_out,
  rejected,
  cancelled,
  barred,  // known and not queued: held or not eligible
  failed,
  node_failed,
  out_of_memory,
  unknown,  // it is over, and nothing tells how it ended
};

constexpr JobState state_after(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return JobState::completed;
    case Outcome::timed_out:
      return JobState::timed_out;
    case Outcome::failed:
      return JobState::failed;
    case Outcome::node_failed:
      return JobState::node_failed;
    case Outcome::out_of_memory:
      return JobState::out_of_memory;
    case Outcome::cancelled:
      return JobState::cancelled;
    case Outcome::unknown:
      break;
  }
  return JobState::unknown;
}

// By so much a suspended job's end lies behind what it would be if it went on.
inline constexpr Duration kStandsStill = kLongest;

// What is further away lies behind a job without a limit, or one that stands still: nothing tells when it will be.
inline constexpr Duration kForeseeable = kLongest / 2;
constexpr bool is_foreseeable(Instant at, Instant now) { return at - now < kForeseeable; }

struct Job {
  JobSpec spec;
  Duration expected =
      Duration{0};           // of the next or latest dispatch: what planning counts on; the limit, or a prediction
  Instant start = kNever;    // of the latest dispatch, or of its latest move; kNever: never started
  Instant end = kNever;      // of the latest dispatch; kNever: has not ended
  Instant promise = kNever;  // the start that the latest plan announced; kNever: none
  Instant first_promise = kNever;  // the first start ever announced; kNever: none
  Instant put_off = kNever;        // when a promise that was due was last replaced or withdrawn; kNever: never
  Duration done = Duration{0};     // run time of earlier dispatches that need not be done again
  Duration earlier = Duration{0};  // for which earlier dispatches, and the latest before a move, held what it asks for
  Duration stood = Duration{0};    // of the latest dispatch: time in which it was suspended, and kStandsStill more now
  std::uint64_t command = 0;       // number of the fact that decided the latest command about it
  std::uint32_t sequence = 0;      // place in order of arrival in the queue; anew at each requeue
  std::uint32_t dispatch = 0;      // place in the order of dispatches, of the latest one
  std::uint16_t kills = 0;         // dispatches that were killed and requeued
  std::uint16_t backfills = 0;     // dispatches that were backfilled
  std::uint16_t preemptions = 0;   // dispatches that gave way to jobs of higher priority
  std::uint16_t migrations = 0;    // moves to other nodes
  std::uint32_t passed = 0;        // processors of jobs that passed it while its start could not be foreseen
  JobState state = JobState::waiting;
  bool backfilled = false;      // the latest dispatch was backfilled
  bool leaving = false;         // still running, but told to give way
  bool starting = false;        // running, but the engine has not said so yet
  bool stopping = false;        // still running, but told to stop,
  bool cancelling = false;      // and for good
  Bars bars = kNoBars;          // of a barred job: why; kNotOurs also while it runs
  Bars suspended_by = kNoBars;  // of a running job that is to stand still: its user, an operator, or both
  bool extended = false;        // was let go on beyond what was expected, up to a set time
  bool ahead = false;           // before others of its priority in the queue, whatever the order
  std::uint8_t failed_launches = 0;
  std::uint8_t corrections = 0;  // times that the expected run time proved too short

  // For a suspended job they are as good as never: it is not known when it goes on.
  Instant expected_end() const { return start + expected + stood; }
  Instant limit_end() const { return start + (spec.limit - done) + stood; }
  // What is expected of the dispatch after one of which so much is kept.
  Duration expected_after(Duration kept) const { return expected - kept > Duration{1} ? expected - kept : Duration{1}; }
  // Once it has ended: how long it ran, not counting what was lost; and once it has started: how long it did not run.
  Duration run_time() const { return done + ran_by(end); }
  // How long the latest dispatch has run by then, if it runs; what it stands still now is not in it.
  Duration ran_by(Instant at) const { return at - start - stood; }
  Duration wait() const { return start - spec.submit - done; }
  bool suspended() const { return suspended_by != kNoBars; }
  // It holds what it asked for, and nothing is under way with it that the engine has yet to confirm.
  bool settled() const { return state == JobState::running && !starting && !stopping && !leaving; }
  // A job that another scheduler starts is counted, and left alone.
  bool ours() const { return (bars & kNotOurs) == 0; }
  // It is ours and runs: a policy may tell it something.
  bool steady() const { return settled() && !suspended() && ours(); }
  // It came to where it runs by a move, later than that.
  bool moved_after(Instant at) const { return migrations > 0 && start > at; }
  // It ran, and will not run again.
  bool ended() const {
    return state == JobState::completed || state == JobState::timed_out || state == JobState::failed ||
           state == JobState::node_failed || state == JobState::out_of_memory || state == JobState::unknown;
  }
  // How long the latest dispatch has stood still by then; `since`: when it was suspended, if it is.
  Duration stood_by(Instant now, Instant since) const {
    return suspended() ? stood - kStandsStill + (now - since) : stood;
  }
  bool gone() const { return ended() || state == JobState::cancelled || state == JobState::rejected; }
};

// The next limit of a job that ran beyond its own and is put back into the queue, where its run time is not known:
// twice what it ran for, in whole seconds. That of one that did not stays.
inline Duration limit_after(const Job& job, Instant now) {
  const Duration ran = job.done + job.ran_by(now);
  return ran > job.spec.limit ? std::min((2 * ran / seconds(1) + 1) * seconds(1), kLongest) : job.spec.limit;
}

}  // namespace rota
