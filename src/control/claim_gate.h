// Stands between a controller and its engine at a site of a federation: a job that several sites have, or may have, in
// their queues is started here only once it is known to be this site's. Until then its start, and whatever is ordered
// about it afterwards, is held back; no job gives way to it either. Then the commands go on in their order, or the job
// is reported to be gone. Where the answer comes at once, so does the command. One thread; no clock but the Loop's.
#pragma once

#include <map>
#include <vector>

#include "control/dispatcher.h"
#include "control/ports.h"

namespace rota {

// What a gate asks of its site, and tells it.
class GateKeeper {
 public:
  virtual ~GateKeeper() = default;
  // Whether the job may start here. pending: ClaimGate::answered() follows.
  virtual StartAnswer claim_to_start(std::int64_t job) = 0;
  // Whether others may give way to it. Likewise.
  virtual StartAnswer claim_to_make_room(std::int64_t job) = 0;
  // The engine is about to be told to start it.
  virtual void starts(JobId id, std::int64_t job) = 0;
  // The engine is about to be told that a job gives way to it.
  virtual void makes_room(JobId beneficiary) = 0;
  // A job whose start was held back gives way before it has started: it is to be Vacated, with nothing done. An engine
  // that keeps to its contract does that itself if it is told to: it may run, started by an earlier life of the site.
  virtual void not_started(const Command& give_way) = 0;
  // It is another site's: to be taken back from engine and controller, by which it may be thought to run.
  virtual void lost(JobId id) = 0;
};

class ClaimGate final : public Engine {
 public:
  ClaimGate(Engine& engine, GateKeeper& keeper, Loop& loop) : engine_(engine), keeper_(keeper), loop_(loop) {}

  // A job that is to be claimed before it starts, by the id that it has at this site, until it has left.
  void expect(JobId id, std::int64_t job) { jobs_[id] = {job}; }
  // It has gone to another site, and the engine has been told, if the controller has not.
  void revoked(JobId id);
  void job_gone(JobId id);

  // Limits and expected ends count from when the engine is told, not from when the controller decided.
  void dispatch(const Command& command) override;
  // Behind a gate jobs may go to other sites.
  Capabilities capabilities() const override {
    Capabilities can = engine_.capabilities();
    can.sites = true;
    return can;
  }
  // Where starts are not confirmed, one that is held back is as good as done: it is not to be given up, or sent again.
  Observation observe() const override;
  // The answer to what was pending.
  void answered(std::int64_t job, bool ours);

  std::int64_t held_starts() const { return held_starts_; }  // so far: starts that had to wait for an answer

 private:
  struct Held {
    Command command;
    Instant since;
  };

  struct Claimed {
    std::int64_t number = 0;
    bool gone = false;
  };

  void ask(JobId id, Claimed& job, const Command& command);
  void pass(const Command& command);
  void hold(JobId id, const Command& command);
  bool drop_start(const Command& give_way);
  void release(const Held& held);
  void refuse(JobId id, const Command& command);
  void drop_held_preempt(JobId stopped);
  const JobId* waiting_for(const Command& command) const;

  Engine& engine_;
  GateKeeper& keeper_;
  Loop& loop_;
  std::map<JobId, Claimed> jobs_;            // that are to be claimed, and have not left
  std::map<JobId, std::vector<Held>> held_;  // by the job whose claim is not answered yet
  std::int64_t held_starts_ = 0;
};

}  // namespace rota
