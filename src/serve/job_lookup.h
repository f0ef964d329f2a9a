// Jobs that are known and jobs that have left: which ones a number, a name or a selector means, and what is kept of
// them. A known job is in the book, one that has left in the history, which is asked only then. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/desk.h"
#include "serve/job_book.h"
#include "serve/output_pattern.h"
#include "serve/request_key.h"
#include "serve/selector.h"
#include "serve/submission.h"

namespace rota::serve {

class JobLookup {
 public:
  JobLookup(const Desk& desk, const JobBook& book) : desk_(desk), book_(book) {}

  const JobBook& book() const { return book_; }
  const Job* job(JobId job) const { return desk_.view().find_job(job); }  // nullptr: it is not known
  const JobEntry* entry(JobId job) const { return book_.find(job); }      // nor this, if others submitted it
  // What is kept of a known job or, from the history, of one that has left; nothing: there is none.
  Result<std::optional<KeptAbout>> about(JobId job) const;
  // The row of a job that has left, as long as the history goes back; nothing: there is none.
  Result<std::optional<store::HistoryRow>> history_of(JobId job) const;
  Result<std::optional<store::HistoryRow>> history_of_number(std::int64_t number) const;
  // The job with this number, known or gone.
  Result<std::optional<JobId>> job_of(std::int64_t number) const;
  std::int64_t number_of(JobId job) const;  // known or gone; 0: no longer known
  // "12" or "12_3", of a job known or gone.
  std::string shown(JobId job) const;
  // For all of them the history is asked once.
  std::vector<std::string> shown(const std::vector<JobId>& jobs) const {
    return shown_all(book_, jobs, [this](const store::HistoryQuery& query) { return history(query); });
  }
  // The number of the job or of the array that the caller has submitted last, known or gone; 0: none.
  std::int64_t number_of_last(const Caller& caller) const;
  // A task of an array, known or gone.
  std::optional<JobId> task_of(std::int64_t array, std::int64_t index) const;
  Result<std::vector<store::HistoryRow>> history(const store::HistoryQuery& query) const {
    return desk_.store().history(query);
  }
  // What it ran, as long as its row of the history is kept; nothing: there is none.
  Result<std::optional<store::Payload>> payload(JobId job) const { return desk_.store().payload(job); }
  // Tasks of an array that have left, by index, up to this one and maybe some behind it.
  std::vector<store::HistoryRow> ended_tasks(std::int64_t array, std::int64_t last = UINT32_MAX) const;

  // What the caller means by a selector: `last` is the number of what they submitted last, 0 where they never did, and
  // `me` is called by their name.
  Result<std::vector<SelectorPart>> parts_of(const Caller& caller, const std::string& selector) const;
  // Known jobs that a selector means, by id; for others see not_there(). Fails where it cannot be read.
  Result<std::vector<JobId>> select(const Caller& caller, const std::string& selector) const;
  // What a selector names one by one and is not known now. Fails where too many that have ended would have to be looked
  // at.
  Result<std::vector<Absent>> not_there(const Caller& caller, const std::string& selector) const;

  // Fails with a sentence where the caller has given the key with another request.
  Result<void> check_key(const Caller& caller, const RequestKey& key, Keyed what) const;

  // It has come to its limit and is not let go on: it was told to end.
  bool ends_at_limit(const Job& job) const;
  std::string_view state_of(const Job& job) const;  // as Slurm calls it
  bool holds_stopped(JobId job) const;              // its processes are there, after it was suspended to give way
  std::string nodes_of(JobId job) const;            // where it runs, as a host list
  // What the names of a job's files are filled in with.
  PatternWords pattern_words(JobId job, const KeptAbout& kept, const std::string& nodes, std::int32_t restarts) const;
  // The file that a stream of a job's output goes to, patterns filled in.
  std::string output_path(JobId job, const KeptAbout& kept, bool error, std::int32_t restarts,
                          const std::string& nodes) const;

 private:
  Result<std::optional<store::HistoryRow>> first_row(const store::HistoryQuery& query) const;
  std::vector<JobId> named_one_by_one(const std::vector<SelectorPart>& parts) const;
  std::size_t add_absent_tasks(const SelectorPart& part, std::vector<Absent>& absent) const;
  bool has_ended(std::int64_t number) const;

  const Desk& desk_;
  const JobBook& book_;
};

}  // namespace rota::serve
