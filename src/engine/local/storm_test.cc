// The service, its spawner and supervisors are killed at random moments while jobs come and go, beside a small
// controller of the test's own that starts again what was lost. The jobs' own words count: each dispatch ran once at
// most, and each job has come to its end.
#include <fmt/core.h>

#include <fcntl.h>

#include <csignal>
#include <map>
#include <set>
#include <sstream>

#include "base/random.h"
#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::Descriptor;
using process::look_at;

namespace {

class Storm : public Desk {
 public:
  explicit Storm(std::uint64_t seed) : chance_(seed) { open(); }

  void begin(std::uint32_t jobs) {
    for (std::uint32_t job = 0; job < jobs; ++job) send(job, 1);
  }

  // Until all have completed.
  bool run(std::size_t jobs) {
    return wait([&] {
      follow();
      if (chance_.chance(0.15)) strike();
      return completed_.size() == jobs;
    });
  }

  const std::map<std::uint32_t, std::uint32_t>& completed() const { return completed_; }

 private:
  // Works for a while and says so at both ends, with a child that ignores what it is told.
  RunRequest work_of(std::uint32_t job) const {
    const std::string out = " >> out" + std::to_string(job);
    return shell(fmt::format(
        "echo begin ${{ROTA_RUN##*/}}{}; (trap '' TERM; exec setsid sleep 0.0{}) & wait; echo end ${{ROTA_RUN##*/}}{}",
        out, 1 + job % 9, out));
  }

  void send(std::uint32_t job, std::uint32_t dispatch) {
    sent_[job] = start(job, work_of(job), dispatch);
    engine().dispatch(sent_[job]);
  }

  // What was heard since the last time is durable at once.
  void follow() {
    const std::vector<Observed> news(all().begin() + static_cast<std::ptrdiff_t>(followed_), all().end());
    followed_ = all().size();
    for (const Observed& what : news) {
      if (const auto* end = std::get_if<Finished>(&what)) over(end->job, end->dispatch, end->outcome);
      if (const auto* failed = std::get_if<LaunchFailed>(&what)) over(failed->job, failed->dispatch, Outcome::failed);
    }
  }

  void over(JobId job, std::uint32_t dispatch, Outcome outcome) {
    if (completed_.contains(job.value) || sent_[job.value].dispatch != dispatch) return;
    if (outcome == Outcome::completed) {
      completed_[job.value] = dispatch;
      engine().settled(job, dispatch);
    } else {
      send(job.value, dispatch + 1);
    }
  }

  void strike() {
    const bool service = chance_.chance(0.5);
    if (service) {
      close();
      followed_ = 0;
    }
    if (chance_.chance(0.6)) kill_supervisors();
    if (!service && chance_.chance(0.3) && engine().spawner() > 0) ::kill(engine().spawner(), SIGKILL);
    if (service) come_back();
  }

  void kill_supervisors() {
    const Descriptor folder(::open(runs().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (const auto& [job, start] : sent_) {
      if (completed_.contains(job) || chance_.chance(0.8)) continue;
      const auto record = read_record(folder.get(), fmt::format("{}.{}", job, start.dispatch));
      const auto process = record && !record->over() && record->pid > 0 ? look_at(record->pid) : std::nullopt;
      if (process && process->began == record->began && process->parent > 1) ::kill(process->parent, SIGKILL);
    }
  }

  void come_back() {
    const Observation seen = open().observe();
    for (const auto& row : seen.jobs) {
      if (row.runs) continue;
      const auto* end = std::get_if<Finished>(&row.end);
      over(row.job, row.dispatch, end ? end->outcome : Outcome::failed);
    }
    for (const auto& [job, start] : sent_) {  // what nothing is known of, and what may not have come
      if (!completed_.contains(job)) engine().dispatch(start);
    }
  }

  Random chance_;
  std::map<std::uint32_t, Command> sent_;
  std::map<std::uint32_t, std::uint32_t> completed_;  // jobs, with the dispatch that did it
  std::size_t followed_ = 0;
};

class LocalStormTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LocalStormTest, no_dispatch_runs_twice_and_every_job_ends) {
  constexpr std::uint32_t kJobs = 40;
  Storm storm(GetParam());
  storm.begin(kJobs);
  ASSERT_TRUE(storm.run(kJobs)) << storm.completed().size() << " jobs have completed";
  for (const auto& [job, dispatch] : storm.completed()) {
    std::istringstream words(storm.file("out" + std::to_string(job)));
    std::set<std::string> said;
    for (std::string line; std::getline(words, line);) EXPECT_TRUE(said.insert(line).second) << line << " twice";
    EXPECT_TRUE(said.contains(fmt::format("end {}.{}", job, dispatch)));
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, LocalStormTest, testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace rota::local
