// A controller with its journal that can crash at any point and come back: by an exception that unwinds it, after which
// only what the store has kept is left. Between controller and link; and its clock, which can jump.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "control/controller.h"
#include "control/replay.h"
#include "swarm/kept.h"
#include "swarm/outcome.h"
#include "swarm/safety.h"

namespace rota::swarm {

// What lives and dies with a site's controller, beside it.
class Companion {
 public:
  virtual ~Companion() = default;
  virtual Engine& outlet() = 0;    // where commands go; from rises() on, until falls()
  virtual Durable& durable() = 0;  // makes facts durable by way of Site::keep()
  virtual void rises() = 0;        // the state is there, and nothing has been sent yet
  virtual void acts() = 0;         // what was decided first is durable
  virtual void falls() = 0;
  virtual void decided() = 0;                           // something was done with the controller, and it is still there
  virtual void job_gone(JobId id, const Job& job) = 0;  // perhaps not durable yet
  virtual void endured(const Fact& fact) = 0;           // perhaps before rises()
};

class Site final : public Intake,
                   private Engine,
                   private Durable,
                   private FactObserver,
                   private JobSink,
                   private Loop,
                   private Alarm {
 public:
  Site(const Case& drawn, const Chain& chain, Safety& safety, sim::VirtualLoop& loop);
  void wire(sim::FaultyLink& link, const sim::SimEngine& engine);
  void accompany(Companion& companion) { companion_ = &companion; }

  void rise();  // for the first time, or after a crash
  void fall(std::int64_t away);
  bool up() const { return controller_ != nullptr; }
  Instant back_at() const { return back_at_; }
  Controller& controller() { return *controller_; }

  // Does something with the controller, if it is up; false: it has crashed, or was away.
  template <class Doing>
  bool attempt(const Doing& doing);
  // Does something else that a crash may end, if the controller is up; within attempt() too.
  template <class Doing>
  void guard(const Doing& doing);
  // A point of a run at which it may crash, inside attempt() or guard().
  void reach(CrashPoint::Where where) { count(where); }
  Result<void> keep();  // makes all facts durable

  void jump(Duration by);
  void compact();
  void heal() { healed_ = true; }
  void take_stock();    // of what it counted in this life
  void decide_again();  // what the journal tells of since it was compacted

  // Answers of the engine.
  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return {}; }
  Result<void> record(const Observed& fact, Instant happened) override;
  Result<void> decide() override;

  Instant clock() const { return now(); }
  Instant wakes_at() const { return wanted_; }  // by that clock
  const std::optional<std::string>& failure() const { return failure_; }
  std::uint64_t hash() const { return hash_.value(); }
  const Totals& totals() const { return totals_; }

 private:
  struct Crash {
    std::int64_t away;
  };

  Instant now() const override { return std::max(kEpoch, loop_.now() + offset_); }
  void set(Alarm& alarm, Instant at) override;
  void ring() override;
  Capabilities capabilities() const override { return outlet().capabilities(); }
  void dispatch(const Command& command) override;
  Observation observe() const override { return outlet().observe(); }
  Result<void> commit() override { return companion_ ? companion_->durable().commit() : keep(); }
  void fact_recorded(const View& before, const FactRef& fact) override;
  void refused(const View& view, const Error& why) override;
  void job_gone(JobId id, const Job& job) override {
    if (companion_) companion_->job_gone(id, job);
  }

  Engine& outlet() const { return companion_ ? companion_->outlet() : *link_; }
  ClusterOptions cluster_options() const;
  void count(CrashPoint::Where where);
  void broken(const Error& error);
  void settle_pending(std::uint64_t sequence);
  void look_at_run(const View& before, const FactRef& fact);
  Result<void> replay();
  std::string difference(const std::vector<Fact>& as_it_was) const;

  const Case& drawn_;
  const Chain& chain_;
  Safety& safety_;
  sim::VirtualLoop& loop_;
  sim::FaultyLink* link_ = nullptr;
  const sim::SimEngine* engine_ = nullptr;
  Companion* companion_ = nullptr;
  Duration offset_{0};
  Alarm* alarm_ = nullptr;
  Instant wanted_ = kNever;  // by the clock of the controller
  std::unique_ptr<Kept> kept_;
  std::unique_ptr<Controller> controller_;
  std::vector<Fact> as_it_was_;  // the state at a crash that had nothing to lose; empty: it had
  Instant back_at_ = kNever;
  bool healed_ = false;
  bool commit_failed_ = false;
  std::uint64_t lives_ = 0;
  std::vector<Fact> pending_;  // recorded, and perhaps not durable
  bool guarded_ = false;       // a crash ends at an outer attempt() or guard()
  std::array<std::int64_t, 7> counted_{};
  store::FactEncoder encoder_;
  Hash hash_;
  Totals totals_;
  std::optional<std::string> failure_;
};

template <class Doing>
void Site::guard(const Doing& doing) {
  if (!controller_ || failure_) return;
  if (guarded_) return doing();
  guarded_ = true;
  try {
    doing();
  } catch (const Crash& crash) {
    fall(crash.away);
  }
  guarded_ = false;
  if (controller_ && commit_failed_) fall(60);
}

template <class Doing>
bool Site::attempt(const Doing& doing) {
  guard([&] {
    if (const Result<void> done = doing(*controller_); !done) broken(done.error());
  });
  if (companion_ && controller_ && !failure_) companion_->decided();
  return controller_ != nullptr;
}

}  // namespace rota::swarm
