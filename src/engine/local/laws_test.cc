// Real processes under the laws of engines.
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include "control/engine_laws_test.h"
#include "engine/local/desk_test.h"
#include "process/process_table.h"

namespace rota::local {
namespace {

class LocalRig final : public LiveEngineRig, public RunSource {
 public:
  LocalRig() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-laws-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    make();
  }
  ~LocalRig() override {
    for (const auto& row : engine_->observe().jobs) engine_->settled(row.job, kAnyDispatch);
    EXPECT_TRUE(wait([&] { return engine_->observe().jobs.empty(); }));
    engine_.reset();
    std::error_code error;
    do {  // beside the spawner, which may be removing what it was told to
      std::filesystem::remove_all(folder_, error);
    } while (error);
  }

  LiveEngine& engine() override { return *engine_; }
  Loop& loop() override { return loop_; }
  const Machine& machine() const override { return machine_; }
  void open(Intake& intake, std::function<const View&()> state) override {
    const auto opened = engine_->open(intake, {.state = std::move(state)});
    EXPECT_TRUE(opened) << opened.error().message;
  }
  void open_again(Intake& intake, const Takeover& from) override {
    engine_.reset();
    io_.restart();
    io_.poll();
    make();
    const auto opened = engine_->open(intake, from);
    EXPECT_TRUE(opened) << opened.error().message;
  }
  JobId submit(Controller& controller, const JobSpec& spec, Work work) override {
    works_[controller.view().next_job()] = work;
    const JobId id = controller.submit(spec);
    EXPECT_TRUE(controller.decide());
    return id;
  }
  // Each writes its process down when it begins.
  std::int64_t begun() const override {
    std::int64_t all = 0;
    for (const auto& [job, work] : works_) all += static_cast<std::int64_t>(processes_of(job).size());
    return all;
  }
  std::int64_t running(JobId job) const override {
    return std::ranges::count_if(processes_of(job), [](pid_t pid) {
      const auto found = process::look_at(pid);
      return found && !found->zombie;
    });
  }
  bool wait(const std::function<bool()>& is_so) override { return comes_true(io_, is_so); }

 private:
  void make() {
    LocalOptions options;
    options.folder = folder_ + "/runs";
    options.machine = &machine_;
    options.cgroups = false;
    engine_ = std::make_unique<LocalEngine>(io_, options, loop_, *this);
  }
  std::vector<pid_t> processes_of(JobId job) const {
    std::ifstream file(fmt::format("{}/{}", folder_, job.value));
    return {std::istream_iterator<pid_t>(file), {}};
  }

  Result<RunRequest> run_of(const Command& start) override {
    RunRequest run;
    const bool brief = works_.at(start.job) == Work::brief;
    run.command = {"/bin/sh", "-c",
                   fmt::format("echo $$ >> {}; {}", start.job.value, brief ? "true" : "while :; do sleep 0.05; done")};
    run.environment = {"PATH=/usr/bin:/bin"};
    run.folder = folder_;
    run.kill_wait = Duration{100};
    run.limit = seconds(100'000);
    return run;
  }
  void note_of_job(JobId /*job*/, std::string /*sentence*/) override {}
  void warn_of_job(JobId /*job*/, const std::string& sentence) override { ADD_FAILURE() << sentence; }

  std::string folder_;
  boost::asio::io_context io_;
  RealLoop loop_{io_};
  Machine machine_ = Machine::counted(8);
  std::map<JobId, Work> works_;
  std::unique_ptr<LocalEngine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Local, EngineLaws,
                         testing::Values(+[]() -> std::unique_ptr<EngineRig> { return std::make_unique<LocalRig>(); }));
INSTANTIATE_TEST_SUITE_P(Local, LiveEngineLaws, testing::Values(+[]() -> std::unique_ptr<LiveEngineRig> {
                           return std::make_unique<LocalRig>();
                         }));

}  // namespace
}  // namespace rota::local
