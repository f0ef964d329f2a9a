// Migration on random workloads, with the referee watching: every job ends, no work is lost or done twice, licences
// balance, and no job is worse off for having moved by gain where limits are exact.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "control/controller.h"
#include "engine/sim/engine.h"
#include "scenario/scenario.h"
#include "scenario/watching_intake.h"

namespace rota {
namespace {

using scenario::Row;

Machine three_speeds() {
  Machine machine = Machine::counted(0);
  for (const std::int32_t factor : {1000, 2000, 1500, 1000}) {
    Node node;
    node.name = "n" + std::to_string(machine.nodes.size());
    node.processors = 2;
    node.cpu_factor = factor;
    machine.nodes.push_back(node);
    machine.processors += node.processors;
  }
  machine.licences = {{"solver", 3}, {"mesher", 2}};
  machine.racks = {""};
  return machine;
}

// Units of 100 s, so that moves are worth while.
std::vector<Row> any_rows(bool exact) {
  auto rows = *scenario::random_rows({.processors = 8, .overruns = !exact, .unit = 100});
  for (Row& r : rows) {
    r.restart = *rc::gen::element(Restart::never, Restart::checkpoint, Restart::from_start);
    r.restart_cost = r.restart == Restart::never ? 0 : *rc::gen::element(0, 7, 50);
    r.nodes = *rc::gen::element(0U, 0U, 0U, std::min(r.processors, 2U));
    r.licences = *rc::gen::element(0U, 0U, 0U, 1U, 3U);
    r.second_licences = *rc::gen::element(0U, 0U, 0U, 1U, 2U);
    if (exact) r.limit = r.run;
  }
  return rows;
}

std::string any_chain() {
  const auto how = *rc::gen::element<std::string>("gain", "gain+margin=0", "cpu-factor+poll=100+threshold=50");
  return fmt::format("{}+overrun=run-on+migrate={}",
                     *rc::gen::element<std::string>("fcfs", "fcfs-skip", "easy", "easy+depth=3", "conservative"), how);
}

// A rehearsal whose engine's commands are written down.
class Recorded final : public Engine, private WatchingIntake, private JobSink {
 public:
  struct Stay {
    Instant from;
    std::int32_t cpu_factor;
    Duration pause;
    bool kept;  // what was done before
  };

  Recorded(const std::vector<Row>& rows, const std::string& policy)
      : machine_(three_speeds()),
        workload_(scenario::workload_of(rows)),
        options_(scenario::on(machine_.processors)),
        chain_(scenario::chain_of(policy)),
        source_(workload_, options_),
        engine_({}, source_, loop_),
        controller_(cluster_options(), chain_, {loop_, *this, *this}) {}

  void run() {
    engine_.open(*this);
    while (loop_.step()) {
      if (!engine_.health()) throw std::runtime_error(engine_.health().error().message);
      if (!controller_.health()) throw std::runtime_error(controller_.health().error().message);
    }
    controller_.close();
  }

  void dispatch(const Command& command) override {
    const bool moves = command.kind == Command::Kind::migrate;
    if (moves || command.kind == Command::Kind::start) {
      stays[controller_.view().job(command.job).spec.number].push_back(
          {loop_.now(), command.cpu_factor, command.pause, command.kept});
    }
    engine_.dispatch(command);
  }

  std::map<std::int64_t, std::vector<Stay>> stays;  // by job number, as is
  std::map<std::int64_t, Job> jobs;

 private:
  Controller& watched() override { return controller_; }
  void decided(const View& view) override {
    for (const LicenceId kind : {LicenceId{0}, LicenceId{1}}) {
      std::int64_t held = 0;
      view.running().for_each([&](const RunningEntry& e) {
        held += licences_of(view.job(e.job).spec, kind);
        return true;
      });
      RC_ASSERT(held + view.nodes().licences_free(kind) == machine_.licences[kind.value].count);
    }
  }
  void job_gone(JobId, const Job& job) override { jobs[job.spec.number] = job; }
  ClusterOptions cluster_options() const {
    ClusterOptions cluster;
    cluster.processors = machine_.processors;
    cluster.machine = &machine_;
    chain_.ask(cluster);
    return cluster;
  }

  Machine machine_;
  log::Workload workload_;
  RehearseOptions options_;
  Chain chain_;
  WorkloadSource source_;
  sim::VirtualLoop loop_;
  sim::SimEngine engine_;
  Controller controller_;
};

RC_GTEST_PROP(Migration, NeverLosesOrDoublesWork, ()) {
  const auto rows = any_rows(false);
  const std::string policy = any_chain();
  RC_LOG() << "policy " << policy << "\n";
  Recorded rehearsal(rows, policy);
  rehearsal.run();
  RC_ASSERT(rehearsal.jobs.size() == rows.size());
  for (const Row& row : rows) {
    const Job& job = rehearsal.jobs[row.number];
    RC_LOG() << "job " << row.number << "\n";
    if (job.state == JobState::rejected) continue;
    RC_ASSERT(job.state == JobState::completed);
    const auto& stays = rehearsal.stays[row.number];
    RC_ASSERT(stays.size() == job.migrations + 1U);
    std::int64_t done = 0;  // of its work, in millionths of a second
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const Instant to = i + 1 < stays.size() ? stays[i + 1].from : job.end;
      if (!stays[i].kept) done = 0;
      done += std::max(to - stays[i].from - stays[i].pause, Duration{0}).count() * stays[i].cpu_factor;
      if (i > 0) RC_ASSERT(stays[i].cpu_factor > stays[i - 1].cpu_factor);
    }
    const std::int64_t work = row.run * 1'000'000;
    const auto slack = static_cast<std::int64_t>(stays.size()) * 2000;  // a millisecond for each stay
    for (const auto& stay : stays) {
      RC_LOG() << "from " << stay.from.time_since_epoch().count() << " at " << stay.cpu_factor
               << (stay.kept ? "" : " anew") << " after " << stay.pause.count() << "\n";
    }
    RC_LOG() << "until " << job.end.time_since_epoch().count() << ", " << done << " of " << work << "\n";
    RC_ASSERT(std::abs(done - work) <= slack);
    if (row.restart == Restart::never) RC_ASSERT(job.migrations == 0);
  }
}

RC_GTEST_PROP(Migration, ByGainIsNoLossForAJobThatMovesWhereLimitsAreExact, ()) {
  const auto rows = any_rows(true);
  Recorded rehearsal(rows, "fcfs-skip+overrun=run-on+migrate=gain");
  rehearsal.run();
  for (const Row& row : rows) {
    const auto& stays = rehearsal.stays[row.number];
    if (stays.size() != 2 || stays[0].cpu_factor != 1000) continue;  // elsewhere a limit is not the time it takes
    RC_ASSERT(rehearsal.jobs[row.number].end < stays[0].from + seconds(row.run));
  }
}

}  // namespace
}  // namespace rota
