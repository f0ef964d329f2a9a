// Room for the service's state on its disk. What is left is kept in steps for what has yet to be written down of the
// jobs that are here, since a service that cannot write ends; and one user's jobs never take more than is left for the
// others.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "serve/submission.h"
#include "store/sqlite_store.h"

namespace rota::serve {

// Not thread-safe. The store outlives it. Cost of a question: a system call; where there is little, a look into the
// database. Where there is no room the answer is a sentence.
class StateRoom {
 public:
  StateRoom(std::string folder, store::SqliteStore& store) : folder_(std::move(folder)), store_(store) {}

  // For so many bytes of new jobs. Of the disk, with what is free inside of the database, 64 MiB, or a fiftieth of a
  // small one, are kept from operators, and twice that from users; of these nobody may have more than would be left for
  // the others. Half of what is kept has to be left of the disk alone.
  Result<void> takes_jobs(const Caller& caller, std::uint64_t bytes) const;
  // So many jobs are there that will be written to the history.
  void set_jobs(std::size_t jobs) { jobs_ = jobs; }
  // For a script of a job that starts: it is put on the disk once more. Half of what is kept may be used for operators'
  // jobs; for others' as little as by what they submit. What began within ten seconds counts, as the disk may not tell
  // of it yet.
  Result<void> takes_script(std::uint64_t bytes, bool of_operator);
  // For what a user, who is no operator, wants changed: half as well.
  Result<void> takes_change() const;

  // A file that takes room on the disk, and gives it up when the service starts and finds none: then it starts, and
  // jobs can be cancelled. Made again once there is much.
  static void use_spare(const std::string& folder);
  void keep_spare() const;

  // A job of a user has ended: what it ran may be let go of.
  void ended(std::uint32_t uid) { ended_.insert(uid); }
  // Users whose jobs take more than half of the most that one may have, of those whose jobs have ended since it was
  // asked before: what these ran had better go, with lets_go_some(). Not where that is under way.
  std::vector<std::uint32_t> begin_to_let_go();
  // Lets a part of that go, while it is so; behind which job to go on. Nothing: there is no more to let go of.
  using Place = std::optional<JobId>;
  Place lets_go_some(std::uint32_t uid, Place behind);
  // It is under way no more; or it is, where it was not: true.
  void is_over(std::uint32_t uid) { under_way_.erase(uid); }
  bool begins(std::uint32_t uid) { return under_way_.insert(uid).second; }

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
  static Disk disk(const std::string& folder);
  std::uint64_t left_for(const Disk& disk, std::uint64_t kept, std::uint64_t enough) const;
  bool is_tight_for(std::uint32_t uid) const;

  std::string folder_;
  store::SqliteStore& store_;
  std::size_t jobs_ = 0;
  std::set<std::uint32_t> ended_;
  std::deque<Write> scripts_;          // that are just being put there
  std::set<std::uint32_t> under_way_;  // of whom something is let go of
};

}  // namespace rota::serve
