// What is kept of jobs beside their facts: the book of those that are known, what was last said of each and how its
// latest dispatch ended, and the rows of the history of those that leave. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "serve/job_lookup.h"

namespace rota::serve {

class JobRecords final : public JobSink, public FactObserver {
 public:
  // A job leaves for good; its row is written next. nullptr: the book does not have it.
  using Leaving = std::function<void(const store::HistoryRow&, const JobEntry*)>;

  JobRecords(const Desk& desk, JobBook& book, const JobLookup& jobs, Leaving leaving)
      : desk_(desk), book_(book), jobs_(jobs), leaving_(std::move(leaving)) {}

  // The book, and what is kept beside it, of the jobs of the state. Once, before facts are recorded.
  Result<void> read();
  // Jobs that were suspended under an older version, which kept that beside the journal: a fact from now on.
  Result<void> suspend_as_before();
  // What was said of the job last: why a launch failed, or what went wrong.
  void note(JobId job, std::string sentence);
  // The engine has something of a job that is not known.
  void let_nothing_remain_of(JobId job) { left_.push_back(job); }
  // How dispatches ended is durable: the engine may forget them.
  void settle();

  void job_gone(JobId id, const Job& job) override;
  std::uint64_t wants() const override;
  void fact_recorded(const View& before, const FactRef& fact) override;

 private:
  struct Ended {
    JobId job;
    std::uint32_t dispatch;
  };
  using Take = std::function<bool(JobId, JobEntry&, std::string&)>;

  Result<void> read_book();
  Result<void> read_of_jobs(const char* what, const Take& take);
  void keep(const char* what, JobId job, const std::string& text);
  template <class Kind>
  void saw_kind(const View& before, const Kind& what);
  template <class Kind>
  void saw_end(const View& before, const Kind& what);
  static void note_terms(const View& before, JobId job, JobEntry& entry);
  void note_grace(JobId id, std::string why);
  void forget_grace(JobId id, JobEntry& entry);
  std::string why_extended(const Extended& fact) const;
  void note_stop(const View& before, const Stopped& fact);
  store::RareRequest rarely_asked(const JobSpec& spec, const JobEntry* entry) const;
  store::HistoryRow history_row(JobId id, const Job& job, const JobEntry* entry) const;

  const Desk& desk_;
  JobBook& book_;
  const JobLookup& jobs_;
  Leaving leaving_;
  std::vector<Ended> ended_;  // since the last commit
  std::vector<JobId> left_;   // likewise, for good
};

}  // namespace rota::serve
