// A desk to test the engine at: jobs by what they execute, an event loop, and all that the engine says, in order.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/local/engine.h"
#include "engine/local/supervisor.h"
#include "process/comes_true_test.h"

namespace rota::local {

// The test program is its own spawner: called so, it becomes one before anything else.
inline const bool kIsNoSpawner = [] {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.size() < 3 || words[1] != "supervise") return true;
  std::vector<char*> arguments;
  for (std::size_t at = 2; at < words.size(); ++at) arguments.push_back(words[at].data());
  ::_exit(supervise(arguments));
}();

class RealLoop final : public Loop {
 public:
  explicit RealLoop(boost::asio::io_context& io) : io_(io) {}
  Instant now() const override {
    return Instant{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())} + ahead_;
  }
  void set(Alarm& alarm, Instant at) override {
    timers_.erase(&alarm);
    if (at == kNever) return;
    auto timer = std::make_unique<boost::asio::steady_timer>(io_, at - now());
    timer->async_wait([&alarm](const boost::system::error_code& error) {
      if (!error) alarm.ring();
    });
    timers_[&alarm] = std::move(timer);
  }
  void jump(Duration by) { ahead_ += by; }

 private:
  boost::asio::io_context& io_;
  std::map<Alarm*, std::unique_ptr<boost::asio::steady_timer>> timers_;
  Duration ahead_{0};
};

class Desk : public Intake, public RunSource {
 public:
  Desk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-local-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    std::filesystem::create_directory(folder_ / "work");
    std::filesystem::permissions(folder_ / "work", std::filesystem::perms(0777));
    machine_ = Machine::counted(1000);
    options_.folder = (folder_ / "runs").string();
    options_.machine = &machine_;
    options_.cgroups = false;
  }
  ~Desk() override {
    if (engine_) end_all();
    engine_.reset();
    std::error_code error;
    do {  // beside the spawner, which may be removing what it was told to
      std::filesystem::remove_all(folder_, error);
    } while (error);
  }

  LocalEngine& open() {
    engine_ = std::make_unique<LocalEngine>(io_, options_, loop_, *this);
    const auto opened = engine_->open(*this, takeover_);
    EXPECT_TRUE(opened) << opened.error().message;
    return *engine_;
  }
  // The sentence with which it cannot be opened.
  std::string refusal() {
    LocalEngine engine(io_, options_, loop_, *this);
    const auto opened = engine.open(*this, takeover_);
    return opened ? "" : opened.error().message;
  }
  // The service goes away, and jobs go on; what it was about to say is not said.
  void close() {
    engine_.reset();
    io_.restart();
    io_.poll();
    io_.restart();
    heard_.clear();
  }

  // Nothing of the test may run on.
  void end_all() {
    for (const auto& row : engine_->observe().jobs) engine_->settled(row.job, kAnyDispatch);
    EXPECT_TRUE(wait([&] { return engine_->observe().jobs.empty(); }));
  }

  // What a shell is to do; the working directory is work().
  RunRequest shell(const std::string& script) const {
    RunRequest run;
    run.command = {"/bin/sh", "-c", script};
    run.environment = {"PATH=/usr/bin:/bin"};
    run.folder = work();
    run.kill_wait = Duration{100};
    run.limit = seconds(1234);
    return run;
  }
  Command start(std::uint32_t job, const RunRequest& run, std::uint32_t dispatch = 1) {
    runs_[JobId{job}] = run;
    return command(Command::Kind::start, job, dispatch);
  }
  // It gives way, to go on as its next dispatch. False: it did not.
  bool suspend(std::uint32_t job) {
    Command leave = command(Command::Kind::preempt, job);
    leave.how = Preemption::suspend;
    engine().dispatch(leave);
    return wait_for<Vacated>(job);
  }
  Command command(Command::Kind kind, std::uint32_t job, std::uint32_t dispatch = 1) {
    Command command{.kind = kind, .epoch = 1, .key = ++key_, .job = JobId{job}};
    command.dispatch = dispatch;
    return command;
  }
  void launch(std::uint32_t job, const RunRequest& run, std::uint32_t dispatch = 1) {
    engine_->dispatch(start(job, run, dispatch));
  }
  // Gives one that runs a limit that is over so soon, and expects its end then; the key of that order. One that had
  // such a limit from its start on might be ended before it has begun.
  std::uint64_t ends_in(std::uint32_t job, Duration soon) {
    EXPECT_NE(wait_for<Launched>(job), nullptr);
    Command sooner = command(Command::Kind::adjust, job);
    sooner.limit = seconds(1233);  // another than shell(): only then is it passed on
    sooner.expected_end = sooner.limit_end = loop_.now() + soon;
    engine_->dispatch(sooner);
    return sooner.key;
  }
  void kill(std::uint32_t job, bool for_good, std::uint32_t dispatch = 1) {
    Command kill = command(Command::Kind::kill, job, dispatch);
    kill.for_good = for_good;
    engine_->dispatch(kill);
  }

  bool wait(const std::function<bool()>& is_so) { return comes_true(io_, is_so); }
  template <class Kind>
  const Kind* heard(std::uint32_t job, std::uint32_t dispatch = 1) const {
    for (const Observed& what : heard_) {
      const auto* kind = std::get_if<Kind>(&what);
      if (kind && kind->job == JobId{job} && kind->dispatch == dispatch) return kind;
    }
    return nullptr;
  }
  template <class Kind>
  const Kind* wait_for(std::uint32_t job, std::uint32_t dispatch = 1) {
    wait([&] { return heard<Kind>(job, dispatch) != nullptr; });
    return heard<Kind>(job, dispatch);
  }
  Outcome outcome(std::uint32_t job, std::uint32_t dispatch = 1) {
    const auto* end = wait_for<Finished>(job, dispatch);
    EXPECT_NE(end, nullptr) << "job " << job << " has not finished; " << sentences_[JobId{job}];
    return end ? end->outcome : Outcome::node_failed;
  }
  // A file in work(), which the job writes; "": it is not there.
  std::string file(const std::string& name) const {
    std::ifstream file(std::filesystem::path(work()) / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  bool wait_for_file(const std::string& name) {
    return wait([&] { return !file(name).empty(); });
  }
  const Observation::JobSeen* seen(const Observation& all, std::uint32_t job) const {
    for (const auto& row : all.jobs) {
      if (row.job == JobId{job}) return &row;
    }
    return nullptr;
  }

  std::string work() const { return (folder_ / "work").string(); }
  std::filesystem::path runs() const { return options_.folder; }
  LocalEngine& engine() { return *engine_; }
  LocalOptions& options() { return options_; }
  Takeover& takeover() { return takeover_; }
  Machine& machine() { return machine_; }
  RealLoop& loop() { return loop_; }
  const JobUse& use_of(std::uint32_t job) { return uses_[JobId{job}]; }  // as it was told last
  const std::string& told_of(std::uint32_t job) { return sentences_[JobId{job}]; }
  const std::string& warned_of(std::uint32_t job) { return warnings_[JobId{job}]; }
  const std::vector<Observed>& all() const { return heard_; }

  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return {}; }
  Result<void> record(const Observed& fact, Instant /*happened*/) override {
    heard_.push_back(fact);
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.use; }) uses_[what.job] = what.use;
        },
        fact);
    return {};
  }
  Result<void> decide() override { return {}; }
  Result<RunRequest> run_of(const Command& start) override {
    const auto found = runs_.find(start.job);
    if (found == runs_.end()) return fail("Nobody knows what this job is.");
    return found->second;
  }
  void note_of_job(JobId job, std::string sentence) override { sentences_[job] = std::move(sentence); }
  void warn_of_job(JobId job, const std::string& sentence) override { warnings_[job] = sentence; }

 private:
  std::filesystem::path folder_;
  boost::asio::io_context io_;
  RealLoop loop_{io_};
  Machine machine_;
  LocalOptions options_;
  Takeover takeover_;
  std::unique_ptr<LocalEngine> engine_;
  std::map<JobId, RunRequest> runs_;
  std::map<JobId, std::string> sentences_;
  std::map<JobId, std::string> warnings_;
  std::map<JobId, JobUse> uses_;
  std::vector<Observed> heard_;
  std::uint64_t key_ = 0;
};

}  // namespace rota::local
