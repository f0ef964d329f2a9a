// What faces show of a service: each question has its answer here, and no face looks into the state, the store or the
// engine for itself. What is handed out lasts until the state changes. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "serve/explain.h"
#include "serve/forecaster.h"
#include "serve/held_accelerators.h"
#include "serve/pending_counts.h"
#include "serve/planned_starts.h"
#include "serve/processor_use.h"
#include "serve/upkeep.h"

namespace rota::serve {

// A job that is known, as it stands.
struct KnownJob {
  const Job& job;
  const JobEntry& entry;
  Instant begin = kEpoch;         // not before; kEpoch: at any time
  std::uint32_t throttle = 0;     // of its array: tasks at one time; 0: it has none
  bool throttled = false;         // its array has one
  Instant suspended_at = kNever;  // of one that stands still
  std::size_t nodes = 0;          // that it runs on
};

struct NodeShown {
  NodeId id;
  const Node& node;
  Health health = Health::up;
  PowerState power = PowerState::on;
  std::int64_t free = 0;                                          // processors
  PerNode free_beside = {};                                       // and what else it has
  const Reservation* reserved = nullptr;                          // that it is or will next be kept free for
  bool left_asleep = false;                                       // only an operator can wake it
  std::vector<JobId> jobs = {};                                   // that run on it
  std::map<JobId, std::vector<std::uint32_t>> accelerators = {};  // which each of them holds
  std::string reason = {}, by = {};                               // why it is out of use, and the user who wanted that
};

struct PartitionUse {
  std::int64_t waiting = 0;  // jobs
  std::int64_t running = 0;
};

struct LicenceUseShown {
  const Licence& licence;
  std::int64_t free = 0;
  std::int64_t elsewhere = 0;  // used by others than jobs of this service
  std::int64_t used() const { return licence.count - elsewhere - free; }
};

struct ServiceStatus {
  ProcessorUse use;
  std::map<PowerState, std::int64_t> nodes;  // how many are in each, where processors are not only counted
  const LicenceWatch* licence_watch;         // nullptr: no server is asked
  std::int64_t free = 0;                     // processors, less than none where they are overdrawn
  bool plain = false;  // a plan was refused, and jobs start in order of the queue until an operator looks
  std::size_t waiting = 0, barred = 0, running = 0;  // jobs
  std::int64_t cycles = 0;
  std::uint64_t facts = 0;
  std::int64_t refusals = 0, refused_requests = 0, refused_plans = 0;  // see ServiceLog, Controller
  const std::string& last_refusal;
  Instant latest = kEpoch;  // fact
  // What the power rule saw when it looked last.
  const std::vector<LoadReading>& loads;
  Instant loads_at = kEpoch;
  std::optional<Readings> readings = {};  // of the manager that is watched; nothing: there is none
};

class Answers {
 public:
  struct Uses {
    const Desk& desk;
    const JobLookup& jobs;
    const NodeDesk& nodes;
    const ReservationDesk& reservations;
    const Upkeep& upkeep;
    const std::unique_ptr<FederationDesk>& federation;  // nullptr: the site is alone
  };
  explicit Answers(const Uses& uses)
      : use_(uses),
        reasons_(uses.desk, uses.jobs, uses.nodes, uses.reservations, uses.federation),
        explainer_(uses.desk, uses.jobs, reasons_, uses.reservations),
        planned_starts_(uses.desk, uses.jobs.book(), explainer_),
        pending_counts_(uses.desk, uses.jobs.book(), reasons_),
        forecaster_(uses.desk, uses.jobs.book(), uses.reservations) {}

  // ---- the service

  const Machine& machine() const { return *use_.desk.machine(); }
  const RealLoop& clock() const { return use_.desk.loop(); }
  Instant now() const { return use_.desk.now(); }
  std::uint64_t facts() const { return view().sequence(); }  // so many were ever recorded
  std::vector<std::string> warnings() const;
  ServiceStatus status() const;  // O(nodes)

  // ---- nodes, partitions, licences

  std::vector<NodeShown> nodes() const;           // but those that have gone
  std::vector<PartitionUse> partitions() const;   // by id. O(jobs)
  std::vector<LicenceUseShown> licences() const;  // by id

  // ---- jobs

  const JobLookup& jobs() const { return use_.jobs; }
  std::optional<KnownJob> known(JobId id) const;  // nothing: there is none
  // By number, from behind `after` on: visit(number, JobId), until that is false.
  template <class Visit>
  void each_known_after(std::int64_t after, const Visit& visit) const {
    use_.jobs.book().for_each_number_after(after, visit);
  }
  // Jobs that run, those that wait in order of the queue, and those that may not start yet, by id:
  // visit(JobId), until that is false.
  template <class Visit>
  void each_running(const Visit& visit) const {
    view().running().for_each([&](const RunningEntry& entry) { return visit(entry.job); });
  }
  template <class Visit>
  void each_waiting(const Visit& visit) const {
    for (const auto& [place, waits] : view().reservations().waiting()) {
      if (!visit(waits.job)) return;
    }
    for (const WaitingEntry* entry = view().waiting().head(); entry != nullptr && visit(entry->job);)
      entry = view().waiting().next(entry->place);
  }
  template <class Visit>
  void each_barred(const Visit& visit) const {
    std::size_t left = view().barred();
    use_.jobs.book().for_each([&](JobId id, const JobEntry&) {
      if (left == 0) return false;
      if (view().job(id).state != JobState::barred) return true;
      --left;
      return visit(id);
    });
  }
  // Sorts jobs that wait: the queued ones as they are in the queue, and behind them the others, by id.
  void put_in_order(std::vector<JobId>& jobs) const;
  const Explainer& explainer() const { return explainer_; }
  const PendingReasons& reasons() const { return reasons_; }
  store::Grace grace_of(JobId id, const Job& job, Instant until) const;
  HeldAccelerators accelerators_of(JobId job) const;
  OutputReader* output_reader() const { return use_.desk.engine().output_reader(); }  // nullptr: files are elsewhere
  PlannedStarts& planned_starts() { return planned_starts_; }
  PendingCounts& pending_counts() { return pending_counts_; }
  Forecaster& forecaster() { return forecaster_; }
  // Another policy decides, about a cluster that may be another.
  void forget();

 private:
  const View& view() const { return use_.desk.view(); }

  Uses use_;
  PendingReasons reasons_;
  Explainer explainer_;
  PlannedStarts planned_starts_;
  PendingCounts pending_counts_;
  Forecaster forecaster_;
};

}  // namespace rota::serve
