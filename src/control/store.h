// The port to where facts are kept: a controller's journal. On disk it is store/journal_file.h; store/memory_store.h is
// the twin for tests, with faults. One thread at a time.
//
//   append(fact), append(fact), ..., commit()   a batch: after a crash all of it is there, or nothing
//   replay(visit)                               all committed facts, in order, from the latest snapshot on
//   compact(snapshot)                           the snapshot's facts in place of all that is there, at once or not at
//   all
#pragma once

#include <functional>

#include "base/result.h"
#include "model/fact.h"

namespace rota {

// Gets a fact of the journal; an error ends the replay.
using FactVisitor = std::function<Result<void>(const Fact&)>;
// Takes a fact into the journal; what it points to is not looked at afterwards.
using FactTaker = std::function<void(const FactRef&)>;
// Hands over the fewest facts whose fold is the present state.
using FactSource = std::function<void(const FactTaker&)>;

class Store {
 public:
  virtual ~Store() = default;

  // Puts a fact at the end of the open batch. It is encoded at once (some tens of nanoseconds, no allocation once there
  // is room): nothing that it points to needs to live on. Cannot fail; what goes wrong is told by commit().
  virtual void append(const FactRef& fact) = 0;

  // Ends the batch; nothing to do where it is empty. On return it is durable, where the store was made to be: commands
  // that rest on it may go out. After an error it is not known whether the batch is there, whole or not at all, and the
  // store takes nothing more: every further commit gives the same error. Open it anew and replay.
  virtual Result<void> commit() = 0;

  // Visits every committed fact. The first error of the visitor is handed on as it is; one of the store's own says
  // where the journal is damaged, and what was visited until then is right. Not while a batch is open, nor from the
  // visitor.
  virtual Result<void> replay(const FactVisitor& visit) = 0;

  // Replaces the journal. On return the new one is durable, where the store was made to be; after an error or a crash
  // it is the old or the new one, whole. After an error as in commit(). Not while a batch is open.
  virtual Result<void> compact(const FactSource& snapshot) = 0;
};

}  // namespace rota
