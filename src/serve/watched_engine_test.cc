// A service beside a cluster that another manager runs: its jobs are shown under their users' names, and left alone.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "serve/idle_engine_test.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr const char* kTheirs =
    "# Made elsewhere.\nname = \"theirs\"\nlicences = \"matlab:2\"\n\n[[nodes]]\nnames = \"a\"\nprocessors = "
    "4\n\n[[limits]]\n"
    "processors = 4\nreason = \"AssocGrpCpuLimit\"\n";

// Tells of two jobs as it opens, unless the state has them.
class WatchingEngine final : public IdleEngine {
 public:
  WatchingEngine(const Capabilities& can, ManagerJobs& jobs, Intake*& intake)
      : IdleEngine(can), jobs_(jobs), intake_(intake) {}
  Result<void> open(Intake& intake, const Takeover& from) override {
    intake_ = &intake;
    if (from.state().next_job() != JobId{0}) return {};
    JobSpec spec;
    spec.processors = 2;
    spec.limit = seconds(60);
    spec.user = 7;
    spec.submit = from.state().now();
    spec.number = 40;
    const JobId waits = jobs_.meet(spec, kNotOurs, {.name = "fit", .user = "ann"});
    jobs_.say(waits, {.reason = "Priority"});
    spec.number = 41;
    const JobId runs = jobs_.meet(spec, kNotOurs, {.name = "fit", .user = "ann"});
    return intake.record(Found{runs, {{{NodeId{0}, 2}}}}, kNever);
  }
  std::string instead_of(std::string_view wish) const override { return std::string(wish) + " it there."; }

 private:
  ManagerJobs& jobs_;
  Intake*& intake_;
};

class WatchedService : public testing::Test {
 protected:
  WatchedService() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-watched-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WatchedService() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void stop() {
    if (service_) service_->stop();
    service_.reset();
  }
  Result<void> serve(const std::string& system = "others") {
    Capabilities can = idle_capabilities();
    can.shared = true;
    can.submits = false;
    ServiceOptions options;
    options.engine = [this, can](const EngineSite& site) {
      manager_ = &site.jobs;
      return std::make_unique<WatchingEngine>(can, site.jobs, intake_);
    };
    options.state_folder = folder_ + "/state";
    options.socket = folder_ + "/socket";
    options.version = "test";
    options.watched = {.system = system, .description = system.empty() ? "" : kTheirs, .before = seconds(1000)};
    service_ = TRY(Service::open(io_, options));
    return {};
  }
  JobId job(std::int64_t number) {
    const auto found = service_->answers().jobs().job_of(number);
    return found && *found ? **found : JobId{};
  }

  boost::asio::io_context io_;
  std::string folder_;
  std::unique_ptr<Service> service_;
  Intake* intake_ = nullptr;
  ManagerJobs* manager_ = nullptr;
};

TEST_F(WatchedService, ShowsTheirJobsInEachOfItsLives) {
  for (int life = 0; life < 2; ++life) {
    ASSERT_TRUE(serve());
    ASSERT_TRUE(job(40).valid());
    const JobEntry* entry = service_->answers().jobs().entry(job(40));
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->about->user, "ann");
    EXPECT_EQ(service_->answers().jobs().job(job(40))->state, JobState::barred);
    EXPECT_EQ(service_->answers().jobs().job(job(41))->state, JobState::running);
    EXPECT_EQ(service_->answers().machine().name, "theirs");
    stop();
  }
}

TEST_F(WatchedService, TellsWhichJobsAreAlikeToAnOrder) {
  ASSERT_TRUE(serve());
  JobSpec spec;
  spec.processors = 1;
  spec.user = 7;
  const auto waits = [&](std::int64_t number, Duration limit) {
    spec.number = number;
    spec.limit = limit;
    manager_->say(manager_->meet(spec, kNotOurs, {.name = "fit", .user = "ann"}), {.reason = "Priority"});
  };
  waits(42, seconds(60));
  waits(43, seconds(30));
  const auto ranks = [&](const std::string& rule) {
    std::map<std::int64_t, std::int64_t> by_number;
    const auto turns = manager_->in_order(rule).value();
    for (const ManagerTurn& turn : turns) by_number[turn.number] = turn.rank;
    return by_number;
  };
  auto sjf = ranks("sjf");
  ASSERT_EQ(sjf.size(), 3U);
  EXPECT_LT(sjf[43], sjf[40]);
  EXPECT_EQ(sjf[40], sjf[42]);
  auto by_arrival = ranks("fcfs");
  EXPECT_LT(by_arrival[40], by_arrival[42]);
  EXPECT_LT(by_arrival[42], by_arrival[43]);
  auto by_licences = ranks("licences");
  EXPECT_EQ(by_licences[40], by_licences[43]);
}

TEST_F(WatchedService, GivesTheReasonOfTheOther) {
  ASSERT_TRUE(serve());
  const PendingReason reason = service_->answers().reasons().reason_of(job(40), Telling::sentence);
  EXPECT_EQ(reason.word, "Priority");
  EXPECT_NE(reason.sentence.find("Its resource manager starts it"), std::string::npos);
}

TEST_F(WatchedService, RefusesWhatIsForTheOther) {
  ASSERT_TRUE(serve());
  const Caller root{0, 0, "root", true};
  JobChange change;
  change.kind = JobChange::Kind::cancel;
  const ActionResult result = service_->jobs().change(root, job(40), change);
  EXPECT_FALSE(result.done);
  EXPECT_EQ(result.detail, "cancel it there.");
  EXPECT_EQ(service_->answers().jobs().job(job(40))->state, JobState::barred);
  const auto submitted = service_->jobs().submit(root, {JobRequest{}}, {});
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().message, "submit it there.");
  const auto drained = service_->nodes().set_health("a", {.health = Health::draining, .reason = {}, .by = {}});
  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().message, "nodes it there.");
}

TEST_F(WatchedService, ForetellsAStartAndScoresItWhenItHasCome) {
  ASSERT_TRUE(serve());
  ManagerBook& watched = service_->jobs().watched();
  watched.surveyed(service_->answers().now());
  const auto report = [&] { return watched.shadow().report(kEpoch); };
  while (report().waiting == 0) ASSERT_GT(io_.run_one(), 0U);
  EXPECT_EQ(report().ours.starts, 0);
  EXPECT_TRUE(report().not_forecast.empty());
  ASSERT_TRUE(intake_->record(Found{job(40), {{{NodeId{0}, 2}}}}, service_->answers().now()));
  watched.surveyed(service_->answers().now());
  EXPECT_EQ(report().waiting, 0);
  EXPECT_EQ(report().ours.starts, 1);
  EXPECT_EQ(report().theirs.starts, 0) << "the other has said nothing";
  stop();
  ASSERT_TRUE(serve());
  EXPECT_EQ(service_->jobs().watched().shadow().report(kEpoch).ours.starts, 1) << "it is kept";
}

TEST_F(WatchedService, KeepsToTheKindOfClusterThatTheStateIsOf) {
  ASSERT_TRUE(serve());
  stop();
  const auto other = serve("");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("watches another manager's cluster"), std::string::npos);
}

TEST_F(WatchedService, ForetellsWhatWaitsForOtherJobsAndForLimitsItKnows) {
  ASSERT_TRUE(serve());
  ManagerBook& watched = service_->jobs().watched();
  const auto why = [&](const ManagerWait& wait) {
    watched.say(job(40), wait);
    return service_->answers().forecaster().not_foretold(job(40));
  };
  for (const char* room : {"", "None", "Priority", "Resources", "BeginTime", "ReqNodeNotAvail, May be reserved"})
    EXPECT_EQ(why({.reason = room}), "") << room;
  EXPECT_EQ(why({.reason = "Dependency", .after = "afterok:41"}), "");
  EXPECT_EQ(why({.reason = "AssocGrpCpuLimit"}), "") << "the description has that limit";
  EXPECT_NE(why({.reason = "AssocGrpCPUMinutesLimit"}), "");
  EXPECT_NE(why({.reason = "JobHeldUser"}), "");
  EXPECT_NE(why({.reason = "Dependency"}), "");
  EXPECT_EQ(why({.reason = "Dependency", .after = "singleton"}), "");
  EXPECT_NE(why({.reason = "Dependency", .after = "afterok:99"}), "") << "no such job";
  EXPECT_NE(why({.reason = "JobArrayTaskLimit"}), "") << "nothing tells how many may run";
  EXPECT_NE(why({.reason = "Priority", .reservation = "course"}), "");
}

// A singleton waits for the other as well: it has the same name and user.
TEST_F(WatchedService, AJobThatWaitsForAnotherIsForetoldToStartAfterIt) {
  ASSERT_TRUE(serve());
  ManagerBook& watched = service_->jobs().watched();
  for (const char* after : {"afterany:41", "singleton"}) {
    watched.say(job(40), {.reason = "Dependency", .after = after});
    const Instant now = service_->answers().now();
    std::optional<Forecasted> told;
    service_->answers().forecaster().ask({.jobs = {job(40)}, .futures = 20, .operates = true},
                                         [&](const Result<Forecasted>& answer) { told = *answer; });
    while (!told) ASSERT_GT(io_.run_one(), 0U);
    ASSERT_EQ(told->starts.size(), 1U) << after;
    static_assert(forecast::Misses::kElsewhere[1] == 0, "this quarter is as drawn");
    EXPECT_GT(told->starts[0].by[1], now) << after << ": there is room for it at once";
    EXPECT_LE(told->starts[0].by[1], now + seconds(62)) << after;
  }
}

TEST_F(WatchedService, AnOrderByWhichAJobStartsAtAllHelpsIt) {
  ASSERT_TRUE(serve());
  ManagerBook& watched = service_->jobs().watched();
  JobSpec spec;
  spec.number = 50;
  spec.submit = service_->answers().now();
  spec.limit = seconds(2000 * 86'400LL);
  spec.processors = 4;
  spec.user = 7;
  const auto meet = [&] {
    watched.say(watched.meet(spec, kNotOurs, {.name = "all", .user = "ann"}), {.reason = "Priority"});
  };
  meet();
  spec.number = 51;
  spec.limit = seconds(60);
  meet();
  watched.placed({{50, 2, 1}, {51, 1, 2}});
  while (watched.advice().sum().jobs == 0) ASSERT_GT(io_.run_one(), 0U);
  const OrderAdvice::Sum sum = watched.advice().sum();
  EXPECT_EQ(sum.jobs, 2);
  EXPECT_EQ(sum.sooner, 1) << "behind the other it would not start for years";
  EXPECT_EQ(sum.later, 1);
  EXPECT_LT(sum.mean_advised, sum.mean_own);
}

TEST_F(WatchedService, KeepsTheReservationsOfTheOtherAndGivesThemBack) {
  ASSERT_TRUE(serve());
  ManagerBook& watched = service_->jobs().watched();
  const Instant now = service_->answers().now();
  const std::vector<ManagerReservation> all{{"upkeep", "root", now + seconds(100), now + seconds(200), {NodeId{0}}}};
  watched.reserved(all);
  watched.reserved(all);
  ASSERT_EQ(service_->reservations().all().size(), 1U);
  EXPECT_EQ(service_->reservations().note_of(service_->reservations().all()[0].id)->name, "upkeep");
  watched.reserved({});
  EXPECT_TRUE(service_->reservations().all().empty());
}

}  // namespace
}  // namespace rota::serve
