// Where each job ran last, why it started when it did, and when it ran before: an observer of facts, for files and
// pictures of single jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "control/ports.h"
#include "model/start_note.h"

namespace rota {

// What a start tells, in the state in which it was decided.
StartNote note_of_start(const View& before, const Started& fact);

// Keeps a note for each job: one for a rehearsal that keeps its jobs, none for a service.
class StartLog final : public FactObserver {
 public:
  std::uint64_t wants() const override { return FactKinds::bit<Started>() | FactKinds::bit<Migrated>(); }
  void fact_recorded(const View& before, const FactRef& fact) override;

  const std::vector<std::int64_t>& numbers() const { return numbers_; }  // of the jobs that the notes are about
  // By job id; jobs behind the last one that started are not there.
  std::vector<StartNote> take_all() { return std::move(notes_); }

 private:
  StartNote& note_of(JobId job);

  std::vector<StartNote> notes_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace rota
