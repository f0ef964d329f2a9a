// The simulated cluster by itself, commanded from outside of its own events.
#include "engine/sim/engine.h"

#include <gtest/gtest.h>

#include <map>

namespace rota::sim {
namespace {

class TwoJobs final : public Source {
 public:
  bool next(Arrival& arrival) override {
    if (given_ == 2) return false;
    arrival = {};
    arrival.spec.number = ++given_;
    arrival.spec.submit = at_seconds(given_ == 1 ? 0 : 100);
    arrival.spec.limit = seconds(30);
    arrival.run_time = seconds(20);
    return true;
  }

 private:
  std::int64_t given_ = 0;
};

class Listener final : public Intake {
 public:
  explicit Listener(const Loop& loop) : loop_(loop) {}
  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return JobId{submitted_++}; }
  Result<void> record(const Observed& fact, Instant /*happened*/) override {
    if (const auto* f = std::get_if<Finished>(&fact)) ended[f->job.value] = loop_.now();
    if (const auto* o = std::get_if<Overdue>(&fact)) overdue[o->job.value] = loop_.now();
    return {};
  }
  Result<void> decide() override { return {}; }
  std::map<std::uint32_t, Instant> ended, overdue;

 private:
  const Loop& loop_;
  std::uint32_t submitted_ = 0;
};

// What a policy does that was woken by itself.
class StartsTheFirst final : public Alarm {
 public:
  explicit StartsTheFirst(SimEngine& engine) : engine_(engine) {}
  void ring() override {
    Command command;
    command.key = 1;
    command.job = JobId{0};
    command.expected_end = at_seconds(25);
    engine_.dispatch(command);
  }

 private:
  SimEngine& engine_;
};

TEST(SimEngine, ends_a_job_in_time_that_was_started_between_its_own_events) {
  VirtualLoop loop;
  TwoJobs source;
  Listener listener(loop);
  SimEngine engine({}, source, loop);
  StartsTheFirst starter(engine);
  engine.open(listener);
  loop.set(starter, at_seconds(10));
  while (loop.step()) {
  }
  EXPECT_EQ(listener.overdue[0], at_seconds(25));
  EXPECT_EQ(listener.ended[0], at_seconds(30));
}

}  // namespace
}  // namespace rota::sim
