// The desk of a service: the state with all that keeps it, and its turns. What comes in within one turn of the event
// loop is recorded at once, decided and made durable together (group commit), and then answered. One thread: that of
// the event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"
#include "control/journal.h"
#include "control/live_engine.h"
#include "serve/file_in_use.h"
#include "serve/real_loop.h"
#include "serve/service_log.h"
#include "site/service_file.h"
#include "store/sqlite_store.h"

namespace rota::serve {

// What no command and no answer rests on need not be synced by itself: should it be lost, the engine reports it again.
class PatientJournal final : public Journal {
 public:
  using Journal::Journal;

  Result<void> commit() override {
    open_ = false;
    return Journal::commit();
  }
  Result<void> commit_soon() override {
    open_ = true;
    return {};
  }
  bool open() const { return open_; }  // something was put off

 private:
  bool open_ = false;
};

class Desk final : public Intake {
 public:
  // What a desk calls; all of it outlives the desk's last turn. Steps of a turn's end: once all is durable, then the
  // answers, then what may wait for them.
  struct Wiring {
    LiveEngine* engine = nullptr;
    Engine* gate = nullptr;     // through which commands go to the engine; nullptr: straight
    Durable* outbox = nullptr;  // that waits for the journal and commits it; nullptr: the journal alone
    JobSink* jobs = nullptr;
    std::vector<FactObserver*> observers = {};
    std::function<Result<void>(const PowerChanged&)> power_changed = {};  // records it, and what follows from it
    std::function<void()> durable = {};
    std::function<void()> answered = {};
    std::function<void()> failed = {};  // it cannot go on, see health()
  };

  // `version`: of this program, for the journal's head. `log` must outlive the desk.
  Desk(boost::asio::io_context& io, std::unique_ptr<store::SqliteStore> store,
       std::shared_ptr<const site::Configuration> file, ServiceLog& log, std::string version);

  // ---- to open it: wired once, then decided by a chain; again for another chain or file

  void wire(Wiring wiring) { wiring_ = std::move(wiring); }
  // A controller of its own under this chain and the present file, from the facts of a snapshot. Where it cannot be,
  // the one before goes on.
  Result<void> decide_by(Chain chain, const std::vector<Fact>& facts = {});
  // The journal begins anew with the state, the chain and the file as they are.
  Result<void> compact();
  // The cluster as the configuration describes it; the one before.
  std::shared_ptr<const FileInUse> take_file(std::shared_ptr<const FileInUse> file);
  // The cluster as it stands, nodes by id.
  void stands_as(std::shared_ptr<const Machine> machine);

  // ---- what it has

  const View& view() const { return controller_->view(); }
  Controller& controller() const { return *controller_; }
  const Chain& chain() const { return *chain_; }
  LiveEngine& engine() const { return *wiring_.engine; }
  Durable& journal() { return journal_; }
  store::SqliteStore& store() const { return *store_; }
  RealLoop& loop() { return loop_; }
  const RealLoop& loop() const { return loop_; }
  ServiceLog& log() const { return log_; }
  const std::shared_ptr<const FileInUse>& file() const { return file_; }
  const std::shared_ptr<const Machine>& machine() const { return machine_; }  // in this turn: it may be another then
  Instant now() const { return std::max(loop_.now(), view().now()); }         // no fact is older

  // ---- turns

  JobId submit(const JobSpec& spec, Bars bars) override { return controller_->submit(spec, bars); }
  using Intake::record;
  Result<void> record(const Observed& fact, Instant happened) override;
  // At the end of this turn, for all that came in it.
  Result<void> decide() override;
  // Calls once all that was asked until now is durable, or with what prevents it.
  void when_durable(std::function<void(const Result<void>&)> call);
  // Whether something has happened that is not durable yet, or has yet to be decided about: when_durable().
  bool uncommitted() const { return deciding_soon_ || journal_.open(); }
  // What was decided becomes durable, with all that led to it; or the service cannot go on.
  void end_turn(Result<void> done);
  // The first that ended its work.
  const Result<void>& health() const { return health_; }
  // Takes nothing in any more.
  void stop();
  bool stopped() const { return stopped_; }

 private:
  void commit_later();
  void fail_for_good(Result<void> why);
  Durable& durable() { return wiring_.outbox ? *wiring_.outbox : journal_; }

  boost::asio::io_context& io_;
  std::string version_;
  ServiceLog& log_;
  std::unique_ptr<store::SqliteStore> store_;
  RealLoop loop_;
  PatientJournal journal_;  // commits at once where commands are to go out, else with the next commit or after a while
  std::shared_ptr<const FileInUse> file_;
  std::shared_ptr<const Machine> machine_;
  Wiring wiring_;
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<Controller> controller_;
  std::vector<std::function<void(const Result<void>&)>> waiters_;
  boost::asio::steady_timer commits_;
  bool deciding_soon_ = false, commits_soon_ = false, stopped_ = false;
  Result<void> health_;
};

// The machine of a configuration, which lives as long.
std::shared_ptr<const Machine> machine_of(const std::shared_ptr<const site::Configuration>& file);
// Options of a state under this machine: facts make of it what it is.
ClusterOptions cluster_options(const Desk& desk, const Chain& chain, const Machine& machine);
ClusterOptions cluster_options(const Desk& desk);  // of the present file, with its limits
// Fails with what users are to do instead, where the engine only watches a cluster (LiveEngine::instead_of).
Result<void> carries_out(const Desk& desk, std::string_view wish);
// The limit of a job that is queued again where its user does not say.
Duration next_limit(const Desk& desk, const Job& job);

}  // namespace rota::serve
