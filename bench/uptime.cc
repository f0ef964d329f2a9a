// What a controller that lives long holds in memory: 100 million jobs come and go under EASY, about a thousand of them
// alive at a time, one of them from the first day on. Referee and simulated cluster included.
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/random.h"
#include "control/controller.h"
#include "engine/sim/engine.h"

namespace rota::bench {
namespace {

constexpr std::int64_t kProcessors = 8192;

// Jobs as fast as they are done: 8 processors and 500 s each on average. The first one runs for ever.
class Jobs final : public sim::Source {
 public:
  explicit Jobs(std::int64_t jobs) : jobs_(jobs), random_(11) {}

  bool next(sim::Arrival& arrival) override {
    if (count_ == jobs_) return false;
    arrival.spec = JobSpec{};
    arrival.spec.number = ++count_;
    submit_ += Duration{random_.between(0, 1000)};
    arrival.spec.submit = submit_;
    arrival.spec.processors = static_cast<std::uint32_t>(random_.between(1, 15));
    arrival.run_time = Duration{random_.between(1, 1'000'000)};
    arrival.spec.limit = arrival.run_time * 2;
    if (count_ > 1) return true;
    arrival.spec.processors = 1;
    arrival.run_time = arrival.spec.limit = kLongest / 2;
    return true;
  }

 private:
  std::int64_t jobs_;
  Random random_;
  std::int64_t count_ = 0;
  Instant submit_ = kEpoch;
};

class NullSink final : public JobSink {
 public:
  void job_gone(JobId /*id*/, const Job& /*job*/) override {}
};

std::int64_t kilobytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  file >> all >> resident;
  return resident * 4;
}

void draw_curve(std::int64_t jobs) {
  const auto chain = Chain::parse("easy");
  CHECK(chain, "easy is a policy");
  Jobs source(jobs);
  NullSink null_sink;
  sim::VirtualLoop loop;
  sim::SimEngine engine({}, source, loop);
  ClusterOptions cluster;
  cluster.processors = kProcessors;
  chain->ask(cluster);
  Controller controller(cluster, *chain, {loop, engine, null_sink});
  engine.open(controller);
  std::printf("%14s %10s %14s\n", "jobs submitted", "alive", "resident KiB");
  for (std::int64_t next = 10'000; engine.expects_jobs() && loop.step();) {
    if (engine.arrived() < next) continue;
    const View& view = controller.view();
    std::printf("%14lld %10zu %14lld\n", static_cast<long long>(engine.arrived()),
                view.waiting().size() + view.running().size(), static_cast<long long>(kilobytes()));
    std::fflush(stdout);
    next *= 10;
  }
  CHECK(engine.health() && controller.health(), "the rehearsal goes through");
}

// What `./dev bench` and the tests say to every benchmark: a short minimal time is for seeing that it runs.
std::int64_t jobs_for(std::span<char*> arguments) {
  constexpr std::string_view kMinTime = "--benchmark_min_time=0.0";
  for (const char* argument : arguments) {
    if (std::string_view(argument).starts_with(kMinTime)) return 200'000;
  }
  return 100'000'000;
}

}  // namespace
}  // namespace rota::bench

int main(int argc, char** argv) {
  rota::bench::draw_curve(rota::bench::jobs_for({argv, static_cast<std::size_t>(argc)}));
}
