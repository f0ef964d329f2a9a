// What one event costs under EASY while N jobs wait, N from 1,000 to 1,000,000: each time a job ends another arrives,
// so that the queue stays as deep. The whole controller runs, referee and simulated cluster included; beside it a loop
// that scans the queue. Both must start the same jobs at the same instants. Filling the queue is not counted.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/plain_easy.h"
#include "control/controller.h"

namespace rota::bench {
namespace {

constexpr std::int64_t kProcessors = 4096;

enum class Mix : std::uint8_t {
  any,       // sizes and limits of all kinds
  apart,     // long jobs on few processors and short ones on many: what is free lets no job overtake
  together,  // the same, but few and many lie in one class of sizes, so that the index cannot tell them apart at a
             // glance
};

struct Scenario {
  Mix mix;
  const char* title;
};
constexpr Scenario kScenarios[] = {
    {Mix::any, "sizes from 1 to 1024 processors, limits from 10 minutes to a day"},
    {Mix::apart, "long jobs on 4..7 processors and short jobs on 2048; nobody can overtake"},
    {Mix::together, "long jobs on 1100 processors and short jobs on 1950, one class of sizes; nobody can overtake"},
};

// Jobs without end, so far apart that only the queue floor brings them in. The first fills the cluster for a second,
// and the queue meanwhile.
class Jobs final : public sim::Source {
 public:
  explicit Jobs(Mix mix) : mix_(mix), random_(7) {}

  bool next(sim::Arrival& arrival) override {
    const bool first = count_ == 0;
    arrival.spec = JobSpec{};
    arrival.spec.number = ++count_;
    arrival.spec.submit = kEpoch + count_ * seconds(1'000'000);
    arrival.spec.processors = first ? static_cast<std::uint32_t>(kProcessors) : size();
    arrival.spec.limit = first ? seconds(1) : limit(arrival.spec.processors);
    arrival.run_time =
        first ? seconds(1)
              : Duration{1 + random_.between(arrival.spec.limit.count() / 10, arrival.spec.limit.count() - 1)};
    return true;
  }

 private:
  std::uint32_t size() {
    if (mix_ == Mix::any)
      return static_cast<std::uint32_t>(random_.between(1, std::int64_t{1} << random_.between(0, 10)));
    const bool small = random_.chance(0.5);
    if (mix_ == Mix::together) return small ? 1100 : 1950;
    return small ? static_cast<std::uint32_t>(random_.between(4, 7)) : 2048;
  }
  Duration limit(std::uint32_t processors) {
    if (mix_ == Mix::any) return Duration{random_.between(600'000, 86'400'000)};
    const bool is_short = processors >= 1500;
    return is_short ? Duration{random_.between(600'000, 700'000)} : Duration{random_.between(80'000'000, 86'400'000)};
  }

  Mix mix_;
  Random random_;
  std::int64_t count_ = 0;
};

// When jobs started, in order of submission.
class Starts final : public JobSink {
 public:
  void job_gone(JobId id, const Job& job) override {
    if (starts_.size() <= id.value) starts_.resize(id.value + std::size_t{1}, kNever);
    starts_[id.value] = job.start;
  }
  const std::vector<Instant>& starts() const { return starts_; }

 private:
  std::vector<Instant> starts_;
};

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Cost {
  double ns = 0;  // for each event
  std::int64_t events = 0;
  std::vector<Instant> starts;
};

Cost cost_of_rota(Mix mix, std::int64_t depth, std::int64_t events) {
  const auto chain = Chain::parse("easy");
  CHECK(chain, "easy is a policy");
  Jobs jobs(mix);
  Starts starts;
  sim::VirtualLoop loop;
  sim::EngineOptions how;
  how.ties = sim::Ties::submit_first;
  how.queue_floor = depth;
  sim::SimEngine engine(how, jobs, loop);
  ClusterOptions cluster;
  cluster.processors = kProcessors;
  chain->ask(cluster);
  cluster.presume_ended = true;
  Controller controller(cluster, *chain, {loop, engine, starts});
  engine.open(controller);
  while (engine.arrived() <= depth) loop.step();
  for (int warm = 0; warm < 200; ++warm) loop.step();
  const std::int64_t before = controller.cycles();
  const double begin = cpu_ns();
  while (controller.cycles() - before < events) CHECK(loop.step(), "jobs never run out");
  const double ns = cpu_ns() - begin;
  CHECK(engine.health() && controller.health(), "the rehearsal goes through");
  const std::int64_t counted = controller.cycles() - before;
  return {ns / static_cast<double>(counted), counted, starts.starts()};
}

// Gives up after about a second: one event may take milliseconds here.
Cost cost_of_loop(Mix mix, std::int64_t depth, std::int64_t events) {
  Jobs jobs(mix);
  PlainEasy easy(kProcessors, depth, jobs);
  for (int warm = 0; warm < 20; ++warm) easy.step();
  const std::int64_t before = easy.events();
  const double begin = cpu_ns();
  double ns = 0;
  while (easy.events() - before < events && ns < 1e9) {
    easy.step();
    ns = cpu_ns() - begin;
  }
  const std::int64_t counted = easy.events() - before;
  return {ns / static_cast<double>(counted), counted, easy.starts()};
}

// Compares the jobs that have left in the one and started in the other.
bool same_starts(const Cost& rota, const Cost& loop) {
  const std::size_t both = std::min(rota.starts.size(), loop.starts.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < both; ++i) {
    if (rota.starts[i] == kNever || loop.starts[i] == kNever) continue;
    if (rota.starts[i] != loop.starts[i]) return false;
    ++compared;
  }
  return compared > 10;
}

struct Length {
  std::int64_t deepest = 1'000'000;
  std::int64_t events = 20'000;
};

bool draw_curve(const Scenario& scenario, const Length& length) {
  std::printf("%s\n%10s %14s %9s %14s\n", scenario.title, "waiting", "rota ns/event", "x 1,000's", "loop ns/event");
  double shallow = 0;
  for (std::int64_t decade = 1000; decade <= length.deepest; decade *= 10) {
    for (const std::int64_t depth : {decade, decade * 3}) {
      if (depth > length.deepest) continue;
      const Cost rota = cost_of_rota(scenario.mix, depth, length.events);
      const Cost loop = cost_of_loop(scenario.mix, depth, length.events);
      if (shallow == 0) shallow = rota.ns;
      std::printf("%10lld %14.0f %9.2f %14.0f\n", static_cast<long long>(depth), rota.ns, rota.ns / shallow, loop.ns);
      std::fflush(stdout);
      if (!same_starts(rota, loop)) {
        std::puts("the loop and Rota start other jobs, or at other times: one of them is wrong");
        return false;
      }
    }
  }
  return true;
}

// What `./dev bench` and the tests say to every benchmark: a short minimal time is for seeing that it runs.
Length length_for(std::span<char*> arguments) {
  constexpr std::string_view kMinTime = "--benchmark_min_time=0.0";
  for (const char* argument : arguments) {
    if (std::string_view(argument).starts_with(kMinTime)) return {10'000, 2'000};
  }
  return {};
}

}  // namespace
}  // namespace rota::bench

int main(int argc, char** argv) {
  const auto length = rota::bench::length_for({argv, static_cast<std::size_t>(argc)});
  for (const auto& scenario : rota::bench::kScenarios) {
    if (!rota::bench::draw_curve(scenario, length)) return 1;
  }
}
