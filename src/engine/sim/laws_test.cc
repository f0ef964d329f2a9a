// The simulated cluster under the laws of engines, behind its link: one that loses nothing, and one on which every
// message comes twice.
#include "control/engine_laws_test.h"
#include "engine/sim/engine.h"
#include "engine/sim/faulty_link.h"

namespace rota {
namespace {

class SimRig final : public EngineRig {
 public:
  explicit SimRig(const sim::LinkFaults& faults)
      : engine_({.faults = sim::EngineFaults{}}, no_jobs_, loop_), link_(engine_, loop_, faults, 1) {}

  Engine& engine() override { return link_; }
  Loop& loop() override { return loop_; }
  const Machine& machine() const override { return machine_; }
  void open(Intake& intake, std::function<const View&()> /*state*/) override {
    link_.connect(&intake);
    engine_.open(link_);
  }
  JobId submit(Controller& controller, const JobSpec& spec, Work work) override {
    engine_.will_run(controller.view().next_job(), work == Work::brief ? seconds(10) : seconds(90'000));
    const JobId id = controller.submit(spec);
    EXPECT_TRUE(controller.decide());
    return id;
  }
  std::int64_t begun() const override { return engine_.ledger()->counts().begun; }
  std::int64_t running(JobId job) const override { return engine_.ledger()->runs(job) ? 1 : 0; }
  bool wait(const std::function<bool()>& is_so) override {
    const Instant end = loop_.now() + seconds(5'000);
    while (!is_so()) {
      if (loop_.now() > end || !loop_.step()) return is_so();
    }
    return true;
  }

 private:
  class NoJobs final : public sim::Source {
   public:
    bool next(sim::Arrival& /*arrival*/) override { return false; }
  };

  Machine machine_ = Machine::counted(8);
  sim::VirtualLoop loop_;
  NoJobs no_jobs_;
  sim::SimEngine engine_;
  sim::FaultyLink link_;
};

INSTANTIATE_TEST_SUITE_P(Sim, EngineLaws, testing::Values(+[]() -> std::unique_ptr<EngineRig> {
                           return std::make_unique<SimRig>(sim::LinkFaults{});
                         }));
INSTANTIATE_TEST_SUITE_P(SimBehindALinkThatDoubles, EngineLaws, testing::Values(+[]() -> std::unique_ptr<EngineRig> {
                           return std::make_unique<SimRig>(sim::LinkFaults{.doubles = 1});
                         }));

}  // namespace
}  // namespace rota
