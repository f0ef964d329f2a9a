// Journals of rehearsals: where `rota simulate` keeps them, and what `rota replay` makes of them.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "rehearse/rehearse.h"
#include "store/journal_file.h"
#include "store/sqlite_reader.h"

namespace rota::cli {

// Where the journals of one rehearsal go: one file, or one for each site of the machine (nullptr: there is none).
std::vector<std::string> journal_paths(const std::string& path, const Machine* machine);

// The journals of one rehearsal: one, or one for each site ("x.journal" becomes "x-texel.journal"). What is there
// already is replaced. They can be read while they are written, and where one cannot be written none is left behind.
class RehearsalJournals {
 public:
  RehearsalJournals(RehearsalJournals&&) noexcept = default;
  RehearsalJournals& operator=(RehearsalJournals&&) noexcept = default;
  ~RehearsalJournals();

  // `cluster` is the text of the cluster file; empty: processors are counted. Errors are sentences with the path.
  static Result<RehearsalJournals> create(const std::string& path, const Chain& chain, const RehearseOptions& options,
                                          const log::Workload& workload, const std::string& cluster);
  std::vector<Store*> stores() const;
  Result<void> close();  // all that happened is in the files

 private:
  RehearsalJournals() = default;
  void remove();

  std::vector<std::unique_ptr<store::JournalFile>> files_;
};

// A journal to be read, also while another process writes it: a file, or the database of a live service.
class KeptJournal {
 public:
  static Result<KeptJournal> open(const std::string& path);

  const store::JournalHead& head() const;
  Result<void> visit(const FactVisitor& visitor);  // all facts, once; the visitor's first error ends that
  std::string note() const;  // after that: what was left out at the end, as a sentence; empty: nothing

 private:
  using Reader = std::variant<store::JournalReader, store::SqliteReader>;
  explicit KeptJournal(Reader reader) : reader_(std::move(reader)) {}

  Reader reader_;
};

// What a journal was written on.
struct JournalSetting {
  std::shared_ptr<const Machine> machine;  // of its site; nullptr: processors are counted
  Chain chain;
  sim::RehearsalOptions options;
  std::shared_ptr<const ShareTree> shares = {};  // nullptr: its cluster file has no accounts, or it knows of no users
  std::shared_ptr<const LimitNames> limit_names = {};  // nullptr, as is the next: its cluster file has no limits
  std::shared_ptr<const LimitBook> limits = {};
  std::int64_t unix_start = 0;
  bool tasks = false;  // some jobs have tasks; what becomes of each no fact reports
  bool live = false;   // by a service, whose engine confirms starts

  ClusterOptions cluster_options() const;
};
// Fails with a sentence where the head says what cannot be: an unknown policy, a cluster file that is none.
Result<JournalSetting> setting_of(const store::JournalHead& head, const std::string& shown);

// "2026-11-23 16:23:39 (UTC)" where this fact says that the journal was begun anew then, with the state as it stood:
// what was before is not in it. Empty: it says nothing of the kind.
std::string begun_anew(const Fact& fact, std::int64_t unix_start);

struct EndedJobs {
  log::Workload workload;
  std::shared_ptr<const TaskTable> tasks = {};  // nullptr: no job had any that were handed out
};
// The jobs of a journal as a workload: what each asked for when it was submitted, and how long it ran (one with tasks:
// would have run without accelerators). Jobs that had not ended are left out and named in the workload's report.
// `shown` names the journal in messages.
Result<EndedJobs> ended_jobs_of(const std::vector<Fact>& facts, const JournalSetting& setting,
                                const std::string& shown);

}  // namespace rota::cli
