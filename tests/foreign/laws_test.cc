// The engine of a cluster that is not ours under the laws of engines.
#include <algorithm>
#include <memory>

#include "control/engine_laws_test.h"
#include "foreign/foreign_engine.h"

namespace rota::foreign {
namespace {

class ForeignRig final : public LiveEngineRig {
 public:
  ForeignRig() { make(); }

  LiveEngine& engine() override { return *engine_; }
  Loop& loop() override { return loop_; }
  const Machine& machine() const override { return machine_; }
  void open(Intake& intake, std::function<const View&()> state) override {
    EXPECT_TRUE(engine_->open(intake, {.state = std::move(state)}));
  }
  void open_again(Intake& intake, const Takeover& from) override {
    engine_.reset();
    make();
    EXPECT_TRUE(engine_->open(intake, from));
  }
  // Its users submit it there; it is heard of at the next look.
  JobId submit(Controller& controller, const JobSpec& spec, Work work) override {
    Wish wish;
    wish.processors = spec.processors;
    wish.limit = spec.limit;
    wish.run_time = work == Work::brief ? seconds(10) : seconds(90'000);
    wish.priority = spec.priority;
    wish.gated = wish.requeue = true;
    cluster_.run_to(loop_.now());
    const Number number = cluster_.submit(wish);
    JobId id;
    wait([&] {
      controller.view().for_each_job([&](JobId each, const Job& job) {
        if (job.spec.number == number) id = each;
      });
      return id.valid();
    });
    numbers_[id] = number;
    return id;
  }
  std::int64_t begun() const override {
    std::int64_t all = 0;
    for (const auto* jobs : {&cluster_.jobs(), &cluster_.forgotten()}) {
      for (const auto& [number, row] : *jobs) all += row.starts;
    }
    return all;
  }
  std::int64_t running(JobId job) const override {
    const JobRow* row = cluster_.find(numbers_.at(job));
    return row && row->state == State::running ? 1 : 0;
  }
  bool wait(const std::function<bool()>& is_so) override {
    const Instant end = loop_.now() + seconds(2'000);
    while (!is_so()) {
      if (loop_.now() > end || !loop_.step()) return is_so();
      cluster_.run_to(loop_.now());
    }
    return true;
  }

 private:
  void make() { engine_ = std::make_unique<ForeignEngine>(line_, loop_, seconds(5)); }

  sim::VirtualLoop loop_;
  OtherCluster cluster_{{{"n1", 4, 0, NodeState::up}, {"n2", 4, 0, NodeState::up}}};
  Machine machine_ = machine_of(cluster_.listing());
  Line line_{cluster_, loop_, {}, 1};
  std::map<JobId, Number> numbers_;
  std::unique_ptr<ForeignEngine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Foreign, EngineLaws, testing::Values(+[]() -> std::unique_ptr<EngineRig> {
                           return std::make_unique<ForeignRig>();
                         }));
INSTANTIATE_TEST_SUITE_P(Foreign, LiveEngineLaws, testing::Values(+[]() -> std::unique_ptr<LiveEngineRig> {
                           return std::make_unique<ForeignRig>();
                         }));

}  // namespace
}  // namespace rota::foreign
