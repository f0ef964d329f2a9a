// All mechanisms at once on one site: nodes in two racks with different CPU factors, memory, accelerators, partitions,
// licences and boots that may fail; jobs that give way, move and overrun while nodes sleep and wake. The referee
// watches, and what the mechanisms owe to each other is looked at here besides.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "control/controller.h"
#include "engine/sim/rehearsal.h"
#include "plan/node_room.h"
#include "scenario/scenario.h"
#include "scenario/two_racks.h"
#include "scenario/watching_intake.h"

namespace rota {
namespace {

using scenario::any_chain;
using scenario::any_rows;
using scenario::kLicences;
using scenario::kMeshers;
using scenario::Row;
using scenario::two_racks;

constexpr int kMostSteps = 20'000;

// A rehearsal whose engine's commands are looked at, and the state after each delivery.
class Watched final : public Engine, private WatchingIntake, private JobSink {
 public:
  // A dispatch, from a start or a move to the next move, preemption or end.
  struct Stay {
    Instant from;
    Instant to = kNever;
    std::int32_t cpu_factor;
    Duration pause;
    bool kept;  // what was done before
  };

  Watched(const std::vector<Row>& rows, const std::string& policy, const Machine& machine)
      : workload_(scenario::workload_of(rows)),
        options_(scenario::on(machine.processors)),
        chain_(scenario::chain_of(policy)),
        machine_(options_.machine = std::make_shared<const Machine>(machine)),
        source_(workload_, options_),
        engine_({.checkpoint = chain_.knobs().checkpoint, .metered = machine_.get()}, source_, loop_),
        controller_(cluster_options(), chain_, {loop_, *this, *this}) {}

  void run() {
    engine_.open(*this);
    for (int steps = 0; loop_.step(); ++steps) {
      if (steps > kMostSteps) throw std::runtime_error("it never ends");
      if (!engine_.health()) throw std::runtime_error(engine_.health().error().message);
      if (!controller_.health()) throw std::runtime_error(controller_.health().error().message);
      look();
      const View& view = controller_.view();
      if (!engine_.expects_jobs() && view.waiting().empty() && view.running().empty()) break;
    }
    controller_.close();
  }

  void dispatch(const Command& command) override {
    if (at_ != loop_.now()) moved_.clear(), gave_way_.clear();
    at_ = loop_.now();
    if (command.kind == Command::Kind::power_off) switched_off_.insert(command.node);
    if (command.kind == Command::Kind::start || command.kind == Command::Kind::migrate) {
      for (const Share& s : command.where.shares) RC_ASSERT(view().power().state(s.node) == PowerState::on);
      note_stay(command);
    }
    if (command.kind == Command::Kind::migrate) {
      RC_ASSERT(!gave_way_.contains(command.job));
      moved_.insert(command.job);
    }
    if (command.kind == Command::Kind::preempt) {
      RC_ASSERT(!moved_.contains(command.job));
      RC_ASSERT(view().job(command.job).spec.priority < view().job(command.beneficiary).spec.priority);
      gave_way_.insert(command.job);
      stays[view().job(command.job).spec.number].back().to = loop_.now();
      owed_[command.job] = {command.kept, command.pause};
    }
    engine_.dispatch(command);
  }

  std::uint64_t plan_hash() const { return controller_.plan_hash(); }
  std::int64_t failed_boots() const { return engine_.meter().read(loop_.now()).failed_boots; }

  std::map<std::int64_t, std::vector<Stay>> stays;  // by job number, as is
  std::map<std::int64_t, Job> jobs;
  std::function<void(const View&)> looks_too;

 private:
  const View& view() const { return controller_.view(); }
  ClusterOptions cluster_options() const {
    sim::RehearsalOptions options;
    options.processors = machine_->processors;
    options.machine = machine_.get();
    return sim::cluster_options(options, chain_);
  }

  void note_stay(const Command& command) {
    auto& all = stays[view().job(command.job).spec.number];
    Stay stay{loop_.now(), kNever, command.cpu_factor, command.pause, command.kept};
    if (command.kind == Command::Kind::migrate) {
      all.back().to = loop_.now();
    } else if (const auto owed = owed_.find(command.job); owed != owed_.end()) {
      stay.kept = owed->second.first;
      stay.pause = owed->second.second;
      owed_.erase(owed);
    }
    all.push_back(stay);
  }

  // Licences balance; a job runs on nodes that are on; what was switched off is needed for no promise before it could
  // be back.
  void look() {
    std::int64_t held = 0;
    std::int64_t meshers = 0;
    view().running().for_each([&](const RunningEntry& e) {
      held += licences_of(view().job(e.job).spec, LicenceId{0});
      meshers += licences_of(view().job(e.job).spec, LicenceId{1});
      for (const Share& s : view().placement(e.job).shares) RC_ASSERT(view().power().state(s.node) == PowerState::on);
      return true;
    });
    RC_ASSERT(held + view().nodes().licences_free(LicenceId{0}) == kLicences);
    RC_ASSERT(meshers + view().nodes().licences_free(LicenceId{1}) == kMeshers);
    for (const JobId id : view().promised()) {
      const Instant promise = view().job(id).promise;
      for (const Share& s : view().promised_place(id).shares) {
        const PowerDraw& power = machine_->nodes[s.node.value].power;
        const Instant back = loop_.now() + power.shutdown + power.boot;
        RC_ASSERT(!switched_off_.contains(s.node) || promise >= back);
      }
    }
    switched_off_.clear();
    if (looks_too) looks_too(view());
  }

  Controller& watched() override { return controller_; }
  void job_gone(JobId, const Job& job) override { jobs[job.spec.number] = job; }

  log::Workload workload_;
  RehearseOptions options_;
  Chain chain_;
  std::shared_ptr<const Machine> machine_;
  WorkloadSource source_;
  sim::VirtualLoop loop_;
  sim::SimEngine engine_;
  Controller controller_;
  Instant at_ = kNever;
  std::set<NodeId> switched_off_;  // since the last look
  std::set<JobId> moved_;          // at this instant, as is
  std::set<JobId> gave_way_;
  std::map<JobId, std::pair<bool, Duration>> owed_;  // to a job that gave way: whether its work is kept, and its cost
};

// What a job did in all its stays is what it had to do, up to a millisecond a stay.
void expect_work_done(const Row& row, const std::vector<Watched::Stay>& stays, Instant end) {
  std::int64_t done = 0;  // in millionths of a second
  for (const auto& stay : stays) {
    if (!stay.kept) done = 0;
    const Instant to = stay.to == kNever ? end : stay.to;
    RC_LOG() << "from " << stay.from.time_since_epoch().count() << " to " << to.time_since_epoch().count() << " at "
             << stay.cpu_factor << " after " << stay.pause.count() << (stay.kept ? "\n" : ", anew\n");
    done += std::max(to - stay.from - stay.pause, Duration{0}).count() * stay.cpu_factor;
  }
  RC_ASSERT(std::abs(done - row.run * 1'000'000) <= static_cast<std::int64_t>(stays.size()) * 2000);
}

RC_GTEST_PROP(Together, EveryJobRunsAndNoMechanismBreaksAnother, ()) {
  const auto rows = any_rows();
  const std::string policy = any_chain();
  const Machine machine = two_racks(*rc::gen::element(0, 0, 300), *rc::gen::inRange(0, 100));
  RC_LOG() << "policy " << policy << ", " << machine.nodes[0].power.boot_fails << " per mille of boots fail\n";
  Watched rehearsal(rows, policy, machine);
  rehearsal.run();
  RC_ASSERT(rehearsal.jobs.size() == rows.size());
  for (const Row& row : rows) {
    const Job& job = rehearsal.jobs[row.number];
    RC_LOG() << "job " << row.number << "\n";
    RC_ASSERT(job.ended() || job.state == JobState::rejected);
    if (job.state != JobState::completed || job.kills > 0) continue;
    expect_work_done(row, rehearsal.stays[row.number], job.end);
  }
}

RC_GTEST_PROP(Together, TheSameRehearsalTwiceGivesTheSamePlans, ()) {
  const auto rows = any_rows();
  const std::string policy = any_chain();
  const Machine machine = two_racks(200, *rc::gen::inRange(0, 100));
  Watched once(rows, policy, machine);
  once.run();
  Watched again(rows, policy, machine);
  again.run();
  RC_ASSERT(once.plan_hash() == again.plan_hash());
  RC_ASSERT(once.failed_boots() == again.failed_boots());
}

// With jobs of lower priority gone, no job that waits would have room: else they would have given way. Unless there is
// room within `lag`, in which a checkpoint is written, at others' limits: then jobs behind it wait for it.
void expect_no_inversion(const View& view, Duration lag) {
  if (!view.leaving().empty()) return;
  Placement where;
  view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const Job& job = view.job(e.job);
    NodeRoom soon(view.nodes());
    view.running().for_each([&](const RunningEntry& r) {
      const Instant end = view.job(r.job).limit_end();
      if (end > view.now() && end <= view.now() + lag) soon.give(view.placement(r.job));
      return true;
    });
    if (lag > Duration{0} && soon.find(job.spec, where)) return false;
    NodeRoom room(view.nodes());
    view.running().for_each([&](const RunningEntry& r) {
      if (view.job(r.job).spec.priority < job.spec.priority) room.give(view.placement(r.job));
      return true;
    });
    RC_LOG() << "at " << view.now().time_since_epoch().count() << " job " << job.spec.number << "\n";
    RC_ASSERT(!room.find(job.spec, where));
    return true;
  });
}

RC_GTEST_PROP(Together, NoJobWaitsForRoomOnNodesThatLowerPrioritiesHold, ()) {
  const std::string mode = *rc::gen::element<std::string>("suspend", "requeue", "checkpoint+checkpoint=150");
  const std::string policy = "fcfs-skip+overrun=run-on+preempt=" + mode;
  RC_LOG() << policy << "\n";
  Watched rehearsal(any_rows(), policy, two_racks(0, 1));
  const Duration lag = mode.starts_with("checkpoint") ? seconds(150) : Duration{0};
  rehearsal.looks_too = [lag](const View& view) { expect_no_inversion(view, lag); };
  rehearsal.run();
}

}  // namespace
}  // namespace rota
