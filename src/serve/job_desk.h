// What users ask of jobs: new ones, and changes. Each changes the state at once; it is durable, and may be answered, in
// Desk::when_durable(). One thread.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "serve/explain.h"
#include "serve/job_change.h"
#include "serve/job_lookup.h"
#include "serve/manager_book.h"
#include "serve/state_room.h"
#include "store/payload.h"

namespace rota::serve {

class FederationDesk;
class Namesakes;

// What became of one job to which a caller wanted to do something.
struct ActionResult {
  std::string id;
  bool done = true;
  std::string detail = {};  // why not
};

class JobDesk {
 public:
  struct Uses {
    Desk& desk;
    JobBook& book;
    const JobLookup& jobs;
    StateRoom& room;
    const PendingReasons& reasons;
    const Explainer& explainer;
    const site::ServiceSettings& settings;
    const std::unique_ptr<FederationDesk>& federation;  // nullptr: the site is alone
    NodeDesk& nodes;
    ReservationDesk& reservations;
    Forecaster& forecaster;
  };
  explicit JobDesk(const Uses& uses)
      : desk_(uses.desk),
        book_(uses.book),
        jobs_(uses.jobs),
        room_(uses.room),
        reasons_(uses.reasons),
        explainer_(uses.explainer),
        settings_(uses.settings),
        federation_(uses.federation),
        reservations_(uses.reservations),
        watched_({uses.desk, uses.book, uses.jobs, uses.nodes, uses.reservations, uses.forecaster}) {}

  // New jobs, all or none. Each is known by its id from then on; of an array one id per task. With a key: if the same
  // caller has given it before, the jobs that it stood for.
  std::expected<std::vector<JobId>, NotTaken> submit(const Caller& caller, const std::vector<JobRequest>& submissions,
                                                     const RequestKey& key);
  // Whether a caller may ask for that at all.
  Result<void> allowed(const Caller& caller, const JobRequest& submission) const;
  // What would become of a submission if it came now; of an array of its first task. Fails where it would not be taken.
  Result<Trial> try_out(const Caller& caller, const JobRequest& submission) const;
  ActionResult change(const Caller& caller, JobId job, const JobChange& change);

  // A job of another site, or such a task of an array, that this one has won, under the number that was given to it.
  // ahead: it goes before others of its priority.
  Result<JobId> submit_guest(const Caller& caller, const JobRequest& request, const std::optional<ArrayTask>& task,
                             std::int64_t number, bool ahead);
  void reword(JobId job, const About& about);  // what is kept of it

  // Jobs that come from another resource manager.
  ManagerBook& watched() { return watched_; }

 private:
  // What all tasks of an array share, made once.
  struct Kept {
    std::shared_ptr<const About> about;
    std::string text;  // the same, without an index
    store::Payload payload;
    JobId first = {};  // that has it; invalid: none yet
  };
  // One task of an array, or a whole job.
  struct Task {
    std::int64_t index = -1;
    const JobTerms* terms = nullptr;  // of its own; nullptr: none
    Bars holds = kNoBars;
    std::uint32_t awaits = 0;
    std::int64_t number = 0;  // 0: the next one
    bool ahead = false;
  };
  // What a change of its size makes of a job that waits.
  struct Sized {
    JobSpec spec;  // with its new partition, processors, nodes and memory
    About about;
  };

  Result<JobId> submit_one(Kept& kept, JobSpec spec, const Task& task);
  Result<void> find_room(const JobRequest& submission, Prepared& prepared) const;
  Result<Prepared> prepared_of(const Caller& caller, const JobRequest& submission) const;
  Result<void> submit_all_of(const Caller& caller, const JobRequest& submission, Prepared prepared,
                             Namesakes& namesakes, std::vector<JobId>& jobs);
  Result<std::vector<JobId>> submitted_as(JobId first, const std::string& key, std::uint32_t uid);
  Result<void> find_awaited(const JobRequest& submission, Prepared& prepared) const;

  Result<void> changed(const Caller& caller, JobId job, const JobChange& change);
  Result<void> cancel(JobId job);
  Result<void> release(const Caller& caller, JobId job);
  Result<void> can_be_told(JobId job) const;
  Result<void> control(const Caller& caller, JobId job, const JobChange& change);
  Result<void> has_time_left(JobId job) const;
  Result<void> suspend(const Caller& caller, JobId job, bool stops);
  Result<void> change_limit(const Caller& caller, JobId job, const JobChange& change);
  Result<void> change_running(const Caller& caller, JobId job, const JobChange& change);
  Result<void> change_throttle(JobId job, std::uint32_t most);
  Result<void> has_throttle(JobId job) const;
  Result<Sized> sized(JobId job, const JobChange& change) const;
  Result<void> amend(const Caller& caller, JobId job, const JobChange& change);
  Result<void> change_terms(const Caller& caller, JobId job, const JobChange& change, const JobSpec& wanted);
  Result<void> change_licences(JobId job, const LicencesAsked& asked);
  Result<void> change_facts(const Caller& caller, JobId job, const JobChange& change, const JobSpec& wanted);

  Desk& desk_;
  JobBook& book_;
  const JobLookup& jobs_;
  StateRoom& room_;
  const PendingReasons& reasons_;
  const Explainer& explainer_;
  const site::ServiceSettings& settings_;
  const std::unique_ptr<FederationDesk>& federation_;
  const ReservationDesk& reservations_;
  ManagerBook watched_;
};

}  // namespace rota::serve
