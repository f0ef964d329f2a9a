// Jobs a second through the engine of real processes, beside what the system can do at all: `true`, started and waited
// for one after another by a bare posix_spawn, in the same run. The counter `of bare` is the ratio of the two.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/local/engine.h"
#include "engine/local/supervisor.h"

namespace {

using namespace rota;

// This program is its own spawner: called so, it becomes one before anything else.
const bool kIsNoSpawner = [] {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.size() != 3 || words[1] != "supervise") return true;
  std::vector<char*> arguments{words[2].data()};
  ::_exit(local::supervise(arguments));
}();

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double bare_seconds(std::int64_t jobs) {
  const auto begin = std::chrono::steady_clock::now();
  static char name[] = "true";
  char* arguments[] = {name, nullptr};
  for (std::int64_t i = 0; i < jobs; ++i) {
    pid_t pid = 0;
    if (::posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environ) != 0) std::abort();
    ::waitpid(pid, nullptr, 0);
  }
  return seconds_since(begin);
}

// Submits nothing by itself: a window of jobs is kept running, each settled when it has ended.
class Desk final : public Intake, public RunSource, public Loop {
 public:
  explicit Desk(std::int64_t jobs) : jobs_(jobs) {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-bench-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    engine_ = std::make_unique<local::LocalEngine>(
        io_, local::LocalOptions{.folder = folder_ + "/runs", .machine = &machine_}, *this, *this);
    if (!engine_->open(*this, {})) std::abort();
  }
  ~Desk() override {
    engine_.reset();
    std::error_code error;  // the spawner may be removing what it was told to
    std::filesystem::remove_all(folder_, error);
  }

  double run() {
    const auto begin = std::chrono::steady_clock::now();
    while (ended_ < jobs_) {
      refill();
      io_.restart();
      io_.run_one();
    }
    return seconds_since(begin);
  }

  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return {}; }
  Result<void> record(const Observed& fact, Instant /*happened*/) override {
    const auto* end = std::get_if<Finished>(&fact);
    if (!end) return {};
    if (end->outcome != Outcome::completed) std::abort();
    ++ended_;
    ended_now_.push_back(end->job);
    return {};
  }
  Result<void> decide() override {
    for (const JobId job : ended_now_) engine_->settled(job, 1);
    ended_now_.clear();
    return {};
  }
  Result<RunRequest> run_of(const Command& /*start*/) override {
    return RunRequest{.command = {"/bin/true"}, .environment = {"PATH=/usr/bin:/bin"}};
  }
  void note_of_job(JobId /*job*/, std::string sentence) override { std::fprintf(stderr, "%s\n", sentence.c_str()); }
  void warn_of_job(JobId /*job*/, const std::string& sentence) override {
    std::fprintf(stderr, "%s\n", sentence.c_str());
  }
  Instant now() const override { return kEpoch; }
  void set(Alarm& /*alarm*/, Instant /*at*/) override {}

 private:
  void refill() {
    constexpr std::int64_t kWindow = 64;
    for (; started_ < jobs_ && started_ - ended_ < kWindow; ++started_) {
      Command start{.epoch = 1,
                    .key = static_cast<std::uint64_t>(started_) + 1,
                    .job = JobId{static_cast<std::uint32_t>(started_)}};
      start.dispatch = 1;
      engine_->dispatch(start);
    }
  }

  std::int64_t jobs_;
  Machine machine_ = Machine::counted(1'000'000);
  boost::asio::io_context io_;
  std::string folder_;
  std::unique_ptr<local::LocalEngine> engine_;
  std::int64_t started_ = 0;
  std::int64_t ended_ = 0;
  std::vector<JobId> ended_now_;
};

void jobs_through_the_engine(benchmark::State& state) {
  const std::int64_t jobs = state.range(0);
  double bare = 0;
  double through = 0;
  for (auto round : state) {
    static_cast<void>(round);
    bare += bare_seconds(jobs / 2);  // before and after, so that whatever else the machine does weighs on both
    Desk desk(jobs);
    through += desk.run();
    bare += bare_seconds(jobs - jobs / 2);
  }
  const auto all = static_cast<double>(jobs * static_cast<std::int64_t>(state.iterations()));
  state.counters["jobs/s"] = all / through;
  state.counters["bare/s"] = all / bare;
  state.counters["of bare"] = bare / through;
}
BENCHMARK(jobs_through_the_engine)->Arg(200)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
