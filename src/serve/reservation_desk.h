// Nodes, or processors where they are counted, that are kept free for a time: by date in the configuration, or by
// operators. Both are kept in the state. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/manager_jobs.h"
#include "serve/desk.h"
#include "serve/job_lookup.h"

namespace rota::serve {

class ReservationDesk {
 public:
  struct Wish {
    std::optional<Instant> from = {};  // without: now
    Instant until = kNever;
    std::optional<Duration> duration = {};  // says it in place of `until`
    std::string nodes;                      // a host list; "all"
    std::int64_t processors = 0;
    std::string name;   // for people; may be empty
    std::string users;  // that may have jobs run in it, by name, with commas between them; empty: none
  };
  struct Note {
    std::string name;
    std::string by;
    std::string users = {};
  };

  explicit ReservationDesk(Desk& desk) : desk_(desk) {}

  // Which users made those that are not the configuration's. Fails where the policy does not keep what there will be.
  Result<void> read();
  // One that is no longer in the file is taken back, one that is new there is made. What operators made stays, and the
  // file's stand around it.
  Result<void> keep_the_files();

  // Where another manager keeps nodes, exactly those are reserved from now on.
  Result<void> keep_theirs(const std::vector<ManagerReservation>& all);

  // Operators only. With a key: if the same caller has given it before, what it stood for then; fails where that is
  // over.
  Result<ReservationId> reserve(const Caller& caller, const Wish& wish, const RequestKey& key);
  Result<void> unreserve(ReservationId id);

  const std::vector<Reservation>& all() const { return desk_.view().reservations().all(); }
  bool holds_now(const Reservation& reserved) const { return reserved.holds_at(desk_.view().now()); }
  const Reservation* find(ReservationId id) const {
    return desk_.view().reservations().find(id);
  }  // nullptr: it is over
  const Reservation* find(const std::string& which) const;  // by name or id; nullptr: there is none
  // The job of this user is to run in the one of that name or id.
  Result<void> let_run_in(const std::string& which, const Caller& caller, JobSpec& job) const;
  // Whether such a job could run in it while nothing else does; a node that is down may come back.
  bool could_hold(const Reservation& reserved, const JobSpec& spec) const;
  // Which there are, and the command that lists them: half a sentence.
  std::string all_by_name() const;
  const Note* note_of(ReservationId id) const;  // nullptr: the configuration reserves it
  // Jobs that run on it and may do so, by their limits, when it has begun.
  std::vector<JobId> running_into(const Reservation& reserved) const;
  // What is reserved for a time in which the job would still run; nullptr: nothing, or something else is in its way as
  // well.
  const Reservation* before(JobId id, const Job& job) const;
  std::string text_of(const Reservation& reserved) const;
  std::string id_and_name(const Reservation& reserved) const;  // "3 (course)"
  // That a job asks to run in; nullptr: none, or it is over.
  const Reservation* of(const JobSpec& spec) const { return desk_.view().reservations().of(spec, desk_.view().now()); }

 private:
  void put_note(ReservationId id, const Note& note);
  std::vector<Reservation> dated() const;  // that the configuration asks for, and are not over
  std::vector<Reservation> beside(const Reservation& wanted, const std::vector<Reservation>& standing) const;
  Result<void> can_reserve(const Wish& wish, Instant from) const;
  Result<std::optional<ReservationId>> reserved_as(const std::string& key, std::uint32_t uid);
  Result<void> record_asked(const Observed& fact);
  void forget_notes();
  std::string in_names(std::string objection, const Reserved& to) const;
  std::int64_t most_reserved(const Reservation& during) const;

  Desk& desk_;
  std::map<ReservationId, Note> notes_;  // of those that operators made
};

}  // namespace rota::serve
