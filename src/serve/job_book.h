// What people call the jobs that are known: names, users, arrays, beside the state that knows only numbers. Kept in
// step with it: a job is put in as it is submitted and taken out as it leaves. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "serve/selector.h"
#include "serve/submission.h"
#include "store/job_history.h"

namespace rota::serve {

std::string shown_task(std::int64_t array, std::int64_t index);  // "12_3"

// How a process ended, of what waitpid says.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;
};
ProcessEnd end_of(std::int32_t status);

// How often a job was started again.
inline int restarts_of(const Job& job) { return job.kills + job.preemptions + job.migrations; }

// There may be a million that wait: what most do not have that have not run stands apart.
struct JobEntry {
  // Why the latest dispatch may run beyond its limit.
  struct Grace {
    std::string rule;  // that was in force when its time was up; empty: it is not up
    std::string why;   // as half a sentence; empty: it follows from the state
  };
  struct Heard {
    std::string nodes;          // where the latest dispatch ran, as a host list, once it is over
    std::string message;        // what the engine said last
    Instant released = kEpoch;  // when it was let go that was held; kEpoch: it was not
    JobUse used = {};           // by the latest dispatch, once it is over, as its engine saw it
    Grace grace = {};
    std::string waits = {};   // why it waits, in the word of the manager whose job it is; empty: it does not say
    Instant starts = kNever;  // when that expects it to start; kNever: it does not say
    std::string after = {}, reservation = {};  // as ManagerWait has them
  };

  std::shared_ptr<const About> about;
  std::int64_t number = 0;      // by which people name it: JobSpec::number
  std::int64_t index = -1;      // within its array
  std::int32_t status = 0;      // of the latest dispatch that is over, as waitpid gives it
  bool never_again = false;     // it was taken back while it waited
  bool kept_where = false;      // the store knows where its latest dispatch ran, too
  std::uint32_t throttle = 0;   // of its array, when it last started
  std::uint32_t awaits = 0;     // so many jobs, when it was submitted or found
  Instant not_before = kEpoch;  // its begin time then, or when it was released, whichever was later
  std::unique_ptr<Heard> told = {};

  const Heard& heard() const;
  Heard& hear();  // to be changed
};

class JobBook {
 public:
  void put(JobId job, JobEntry entry);
  void forget(JobId job);
  // As if the latest that was put had never been.
  void take_back(JobId job);
  JobEntry* find(JobId job);
  const JobEntry* find(JobId job) const;
  std::size_t size() const { return entries_.size(); }
  // So many of a user are known.
  std::size_t count_of(std::uint32_t uid) const;
  // By all of them, each for so many.
  std::uint64_t awaited_by(std::uint32_t uid) const;
  // The job with this number that is known; invalid: there is none.
  JobId numbered(std::int64_t number) const;
  // A task of an array that is known; invalid: there is none.
  JobId task(std::int64_t array, std::int64_t index) const;

  // "12", or "12_3".
  static std::string shown(const JobEntry& entry);
  std::string shown(JobId job) const;  // which is known

  // visit(JobId, const JobEntry&), by id, until that is false.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [job, entry] : entries_) {
      if (!visit(job, entry)) return;
    }
  }
  // visit(number, JobId), by number, from behind `after` on, until that is false.
  template <class Visit>
  void for_each_number_after(std::int64_t after, const Visit& visit) const {
    for (auto at = numbers_.upper_bound(after); at != numbers_.end(); ++at) {
      if (!visit(at->first, at->second)) return;
    }
  }
  // The tasks of an array that are known, by index: visit(index, JobId).
  template <class Visit>
  void for_each_task(std::int64_t array, const Visit& visit) const {
    for (auto at = tasks_.lower_bound({array, 0}); at != tasks_.end() && at->first.first == array; ++at) {
      visit(at->first.second, at->second);
    }
  }
  // Whether another task of an array than this one is known.
  bool has_other_task(std::int64_t array, JobId than) const {
    for (auto at = tasks_.lower_bound({array, 0}); at != tasks_.end() && at->first.first == array; ++at) {
      if (at->second != than) return true;
    }
    return false;
  }
  // Those of all arrays with these numbers: visit(JobId).
  template <class Visit>
  void for_each_task_of(std::int64_t from, std::int64_t to, const Visit& visit) const {
    for (auto at = tasks_.lower_bound({from, 0}); at != tasks_.end() && at->first.first <= to; ++at) visit(at->second);
  }
  // The latest job of a user that was ever put in here, known or gone; invalid: there was none.
  JobId latest_of(std::uint32_t uid) const;

 private:
  std::map<JobId, JobEntry> entries_;
  std::map<std::int64_t, JobId> numbers_;
  std::map<std::uint32_t, JobId> latest_;       // by user
  std::map<std::uint32_t, std::size_t> count_;  // of those that are known, by user
  std::map<std::uint32_t, std::uint64_t> awaited_;
  std::shared_ptr<const About> shared_;  // that of the latest job: a user who submits many jobs often says the same
  std::map<std::pair<std::int64_t, std::int64_t>, JobId> tasks_;  // by array and index
};

// As people call jobs that may have left, given by id: for these the history is asked once.
using AskHistory = std::function<Result<std::vector<store::HistoryRow>>(const store::HistoryQuery&)>;
std::vector<std::string> shown_all(const JobBook& book, const std::vector<JobId>& jobs, const AskHistory& history);

// As people call it: PENDING, RUNNING, ...
std::string_view state_word(const Job& job);

}  // namespace rota::serve
