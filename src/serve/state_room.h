// Room for the service's state on its disk. What is left is kept in steps for what has yet to be written down of the
// jobs that are here, since a service that cannot write ends; and one user's jobs never take more than is left for the
// others.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "serve/job_book.h"
#include "store/sqlite_store.h"

namespace rota::serve {

// Not thread-safe. The store outlives it. Cost of a question: a system call; where there is little, a look into the
// database. Where there is no room the answer is a sentence.
class StateRoom final : public FactObserver {
 public:
  StateRoom(std::string folder, store::SqliteStore& store, const JobBook& book)
      : folder_(std::move(folder)), store_(store), book_(book) {}

  // For so many bytes of new jobs. 64 MiB, or a fiftieth of a small disk, are kept from operators, and twice that from
  // users; what is free inside of the database counts as left. No user may have more than would be left for the others.
  // On the disk alone there has to be what takes_script() leaves, without which they could not start. What ended jobs
  // of the user ran makes room first.
  Result<void> takes_jobs(const Caller& caller, std::uint64_t bytes);
  // For what is put on the disk of a job that starts: its script once more. Operators' jobs may have half of what is
  // kept from them; users' none of it, and what is there of one user no more than is left for the others. It counts
  // until the dispatch is over, and for ten seconds, or until it runs, as what the disk does not show yet.
  struct Script {
    JobId job;
    std::uint32_t uid;
    std::uint64_t bytes;
  };
  Result<void> takes_script(const Script& script, bool of_operator);
  // For a change by a user, not by an operator: half of what is kept from operators is kept from it.
  Result<void> takes_change() const;
  // For a snapshot of the journal, which takes as much of the disk until it has replaced the one before.
  bool takes_snapshot() const;

  // A file that takes room on the disk, and gives it up when the service starts and finds none: then it starts, and
  // jobs can be cancelled. Made again once there is much.
  static void use_spare(const std::string& folder);
  void keep_spare() const;

  // A job of a user has ended: what it ran may be let go of.
  void ended(std::uint32_t uid) { ended_.insert(uid); }
  // Users whose jobs take more than half of the most that one may have, of those whose jobs have ended since it was
  // asked before: what these ran had better go, with lets_go_some(). Once a minute at most.
  std::vector<std::uint32_t> begin_to_let_go();
  // Lets a part of that go, while it is so, of jobs that ended before an instant; behind which job to go on. Nothing:
  // there is no more to let go of.
  using Place = std::optional<JobId>;
  Place lets_go_some(std::uint32_t uid, Place behind, Instant until);

  std::uint64_t wants() const override;
  void fact_recorded(const View& before, const FactRef& fact) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Disk {
    std::uint64_t left = UINT64_MAX / 4, kept = 0;          // bytes
    std::string sentence(std::uint64_t to_come = 0) const;  // its first half
  };
  struct Write {
    Clock::time_point at;
    std::uint64_t bytes;
  };
  Result<void> fits(const Caller& caller, std::uint64_t bytes) const;
  Place makes_room(std::uint32_t uid, Place behind);
  void script_is_gone(JobId job);
  std::uint64_t to_come() const;
  static Disk disk(const std::string& folder);
  static std::uint64_t left_by_scripts(const Disk& disk, bool of_operator);
  std::uint64_t stored(std::uint32_t uid) const;
  std::uint64_t left_for(const Disk& disk, std::uint64_t kept, std::uint64_t enough) const;
  std::uint64_t left_alone(const Disk& disk, std::uint64_t leave, std::uint64_t enough) const;
  bool is_tight_for(std::uint32_t uid) const;

  std::string folder_;
  store::SqliteStore& store_;
  const JobBook& book_;
  std::set<std::uint32_t> ended_;
  std::map<JobId, Write> coming_;                     // scripts that are just being put there
  std::map<JobId, Script> scripts_;                   // of users' jobs that have started
  std::map<std::uint32_t, std::uint64_t> copies_;     // bytes of these, by user
  std::map<std::uint32_t, Clock::time_point> began_;  // to let go of what a user's jobs ran, within the last minute
};

}  // namespace rota::serve
