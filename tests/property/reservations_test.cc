// What is reserved is left alone. Looked at from outside, in the facts of a whole rehearsal: which job started when and
// where, and what was known to be reserved by then.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <sstream>

#include "control/controller.h"
#include "engine/sim/rehearsal.h"
#include "scenario/scenario.h"
#include "scenario/two_racks.h"
#include "scenario/watching_intake.h"

namespace rota {
namespace {

using scenario::Row;

// An operator reserves something at an instant, or later if nothing happens then, and may take it back.
struct Wish {
  std::int64_t at = 0;  // seconds, as are all
  std::int64_t from = 0;
  std::int64_t until = 0;
  std::int64_t processors = 0;
  std::vector<std::uint32_t> nodes = {};
  std::int64_t taken_back = INT64_MAX;
};

std::ostream& operator<<(std::ostream& out, const Wish& w) {
  out << "\n[at " << w.at << ": " << w.from << " to " << w.until << ", " << w.processors << " processors, nodes";
  for (const std::uint32_t node : w.nodes) out << " " << node;
  return out << (w.taken_back == INT64_MAX ? "" : ", until " + std::to_string(w.taken_back)) << "]";
}

std::string text_of(const std::vector<Wish>& wishes) {
  std::ostringstream out;
  for (const Wish& w : wishes) out << w;
  return out.str();
}

// A rehearsal with an operator.
class Operated final : public WatchingIntake, private JobSink, private FactObserver {
 public:
  struct Run {
    JobId job;
    std::uint64_t sequence;  // of its start
    Instant start;
    Instant expected_end;
    Instant end = kNever;
    std::uint32_t processors;
    Placement where;
  };
  struct Known {
    Reservation what;
    std::uint64_t sequence;
    std::uint64_t taken_back = UINT64_MAX;
  };

  Operated(const std::vector<Row>& rows, const std::string& policy, const RehearseOptions& options,
           const std::vector<Wish>& wishes)
      : options_(options),
        wishes_(wishes),
        workload_(scenario::workload_of(rows)),
        chain_(scenario::chain_of(policy)),
        source_(workload_, options_),
        engine_({}, source_, loop_),
        controller_(cluster_options(), chain_, {loop_, engine_, *this}) {
    controller_.add_observer(*this);
  }

  void run() {
    engine_.open(*this);
    for (int steps = 0; loop_.step(); ++steps) {
      if (steps > 100'000) throw std::runtime_error("it never ends");
      if (!engine_.health()) throw std::runtime_error(engine_.health().error().message);
      if (!controller_.health()) throw std::runtime_error(controller_.health().error().message);
    }
  }

  Result<void> decide() override {
    const View& view = controller_.view();
    for (Wish& w : wishes_) {
      if (at_seconds(w.at) <= loop_.now() && !asked_.contains(&w)) {
        std::vector<NodeId> nodes;
        for (const std::uint32_t node : w.nodes) nodes.push_back(NodeId{node});
        const ReservationId id = view.reservations().next_id();
        const bool made =
            record(Reserved{id, at_seconds(w.from), at_seconds(w.until), nodes, w.processors}).has_value();
        asked_[&w] = made ? id : ReservationId{};
      }
      if (w.taken_back == INT64_MAX || at_seconds(w.taken_back) > loop_.now() || !asked_.contains(&w)) continue;
      if (asked_[&w].valid()) (void)record(Unreserved{asked_[&w]});  // refused where it is over
      w.taken_back = INT64_MAX;
    }
    return WatchingIntake::decide();
  }

  std::vector<Run> runs;
  std::vector<Known> known;
  std::map<std::int64_t, Job> ended;  // by number; the rejected too

 private:
  ClusterOptions cluster_options() const {
    sim::RehearsalOptions options;
    options.processors = options_.processors;
    options.machine = options_.machine.get();
    return sim::cluster_options(options, chain_);
  }
  Controller& watched() override { return controller_; }
  void job_gone(JobId, const Job& job) override { ended[job.spec.number] = job; }
  void fact_recorded(const View& before, const FactRef& fact) override {
    if (const auto* started = std::get_if<const Started*>(&fact.what)) {
      const Job& job = before.job((*started)->job);
      runs.push_back({(*started)->job, fact.sequence, fact.at, fact.at + job.expected, kNever, job.spec.processors,
                      (*started)->where});
    } else if (const auto* over = std::get_if<const Finished*>(&fact.what)) {
      for (Run& run : runs) run.end = run.job == (*over)->job ? fact.at : run.end;
    } else if (const auto* reserved = std::get_if<const Reserved*>(&fact.what)) {
      const Reserved& r = **reserved;
      known.push_back({{r.id, r.from, r.until, r.nodes, r.processors}, fact.sequence});
    } else if (const auto* back = std::get_if<const Unreserved*>(&fact.what)) {
      for (Known& k : known) k.taken_back = k.what.id == (*back)->id ? fact.sequence : k.taken_back;
    }
  }

  RehearseOptions options_;
  std::vector<Wish> wishes_;
  std::map<const Wish*, ReservationId> asked_;
  log::Workload workload_;
  Chain chain_;
  WorkloadSource source_;
  sim::VirtualLoop loop_;
  sim::SimEngine engine_;
  Controller controller_;
};

bool applies(const Operated::Known& k, const Operated::Run& run) {
  return k.sequence < run.sequence && run.sequence < k.taken_back && k.what.overlaps(run.start, run.expected_end);
}

// Processors that are held and reserved at an instant, as far as was known when this one started.
std::int64_t needed_at(const Operated& all, const Operated::Run& run, Instant at) {
  std::int64_t needed = 0;
  for (const Operated::Run& other : all.runs) {
    const bool there = other.start <= run.start && other.end > run.start;
    if (there && (other.expected_end > at || at == run.start)) needed += other.processors;
  }
  for (const Operated::Known& k : all.known) {
    if (k.sequence < run.sequence && run.sequence < k.taken_back && k.what.holds_at(at)) needed += k.what.processors;
  }
  return needed;
}

// The job that takes what was known to be reserved; 0: none does. An overrunning job is there longer than was expected.
std::int64_t intruder(const Operated& all, std::int64_t processors, const std::vector<Row>& rows) {
  for (const Operated::Run& run : all.runs) {
    for (const Operated::Known& k : all.known) {
      if (!applies(k, run)) continue;
      const bool on_its_nodes = std::ranges::any_of(run.where.shares, [&](const Share& s) {
        return std::ranges::find(k.what.nodes, s.node) != k.what.nodes.end();
      });
      const bool too_many =
          run.where.shares.empty() && needed_at(all, run, std::max(k.what.from, run.start)) > processors;
      if (on_its_nodes || too_many) return rows[run.job.value].number;
    }
  }
  return 0;
}

const std::vector<std::string> kPolicies{"fcfs",
                                         "fcfs-skip",
                                         "fcfs-skip+candidates=largest",
                                         "easy",
                                         "easy-sjbf",
                                         "easy++",
                                         "easy+beside=no",
                                         "easy+stretch=1.5",
                                         "easy+depth=2",
                                         "easy+order=sjf",
                                         "easy+candidates=largest",
                                         "easy+order=largest+candidates=fcfs",
                                         "easy+order=wfp3",
                                         "easy+overrun=run-on",
                                         "easy+overrun=7s",
                                         "easy+depth=3+order=smallest",
                                         "conservative",
                                         "conservative+overrun=run-on",
                                         "conservative+predict=tsafrir",
                                         "conservative+order=sjf",
                                         "slurm+bf-interval=5s+bf-resolution=1s",
                                         "slurm+bf-interval=no"};

Wish any_wish(std::int64_t unit) {
  Wish w;
  w.at = *rc::gen::inRange(0, 30) * unit;
  w.from = std::max<std::int64_t>(0, w.at + (*rc::gen::inRange(-3, 60)) * unit);
  w.until = w.from + (*rc::gen::inRange(1, 40)) * unit;
  if (*rc::gen::inRange(0, 4) == 0) w.taken_back = w.at + (*rc::gen::inRange(1, 60)) * unit;
  return w;
}

RC_GTEST_PROP(Reservations, AreLeftAloneWhereProcessorsAreCounted, ()) {
  const auto rows = *scenario::random_rows({.processors = 8, .overruns = true, .priorities = true});
  const std::string policy = *rc::gen::elementOf(kPolicies);
  std::vector<Wish> wishes(*rc::gen::inRange<std::size_t>(1, 4));
  for (Wish& w : wishes) {
    w = any_wish(1);
    w.processors = *rc::gen::inRange(1, 9);
  }
  RC_LOG() << policy << text_of(wishes) << "\n";
  Operated all(rows, policy, scenario::on(8), wishes);
  all.run();
  RC_ASSERT(all.ended.size() == rows.size());
  RC_ASSERT(intruder(all, 8, rows) == 0);
  RC_CLASSIFY(!all.known.empty());
}

RC_GTEST_PROP(Reservations, AreLeftAloneOnNodes, ()) {
  const auto rows = scenario::any_rows();
  const std::string policy = *rc::gen::elementOf(kPolicies);
  const Machine machine = scenario::two_racks(0, 1);
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  std::vector<Wish> wishes(*rc::gen::inRange<std::size_t>(1, 4));
  for (Wish& w : wishes) {
    w = any_wish(100);
    for (std::uint32_t node = 0; node < machine.nodes.size(); ++node) {
      if (*rc::gen::arbitrary<bool>()) w.nodes.push_back(node);
    }
  }
  RC_LOG() << policy << text_of(wishes) << "\n";
  Operated all(rows, policy, options, wishes);
  all.run();
  RC_ASSERT(all.ended.size() == rows.size());
  RC_ASSERT(intruder(all, machine.processors, rows) == 0);
}

// No job overruns and all is known from the beginning: then a promise is kept.
RC_GTEST_PROP(Reservations, DoNotBreakPromisesThatWereMadeAroundThem, ()) {
  const bool described = *rc::gen::arbitrary<bool>();
  auto rows = described ? scenario::any_rows() : *scenario::random_rows({.processors = 12});
  for (Row& r : rows) {
    r.limit = std::max(r.limit, r.run);
    r.priority = 0;
  }
  const std::string policy = *rc::gen::element<std::string>("easy", "easy+candidates=largest", "easy+depth=2",
                                                            "easy+depth=4", "easy+stretch=1.5", "conservative");
  Machine machine = described ? scenario::two_racks(0, 1) : Machine::counted(12);
  Wish w = any_wish(described ? 100 : 1);
  w.at = 0;
  w.taken_back = INT64_MAX;
  if (described) {
    w.nodes = {1, 2, 3, 5};
  } else {
    w.processors = 7;
  }
  RC_LOG() << policy << w << "\n";
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  Operated all(rows, policy, options, {w});
  all.run();
  for (const auto& [number, job] : all.ended) {
    RC_LOG() << "job " << number << "\n";
    if (job.state == JobState::rejected || job.first_promise == kNever) continue;
    RC_ASSERT(job.start <= job.first_promise);
  }
}

// Those that begin when everything is over change nothing.
RC_GTEST_PROP(Reservations, OutOfReachChangeNothing, ()) {
  const bool described = *rc::gen::arbitrary<bool>();
  const auto rows = described ? scenario::any_rows()
                              : *scenario::random_rows({.processors = 12, .overruns = true, .priorities = true});
  const std::string policy = *rc::gen::elementOf(kPolicies);
  RC_LOG() << policy << "\n";
  Machine machine = described ? scenario::two_racks(0, 1) : Machine::counted(12);
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  const report::Outcome without = scenario::outcome_of(rows, policy, options);
  Reservation& r = machine.reservations.emplace_back();
  r.id = ReservationId{0};
  r.from = at_seconds(100'000'000);
  r.until = r.from + seconds(1000);
  if (described) {
    r.nodes = {NodeId{0}, NodeId{4}};
  } else {
    r.processors = 12;
  }
  options.machine = std::make_shared<const Machine>(machine);
  const report::Outcome with = scenario::outcome_of(rows, policy, options);
  RC_ASSERT(with.plan_hash == without.plan_hash);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(with.jobs[i].start == without.jobs[i].start);
    RC_ASSERT(with.jobs[i].end == without.jobs[i].end);
    RC_ASSERT(with.jobs[i].first_promise == without.jobs[i].first_promise);
  }
}

}  // namespace
}  // namespace rota
