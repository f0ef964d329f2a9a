// The log of what was written, and taking it back: a Slurm that is played here says what the factors are.
#include "engine/slurm/take_back.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/text.h"

namespace rota::slurm {
namespace {

class TakeBackTest : public testing::Test {
 protected:
  TakeBackTest() : folder_(drawn()) {
    std::filesystem::create_directory(folder_.path());
    EXPECT_TRUE(folder_.put_modes({act_}));
    folder_.beat();
  }
  ~TakeBackTest() override { std::filesystem::remove_all(folder_.path()); }

  static std::string drawn() {
    std::string pattern = "/tmp/rota-take-back-XXXXXX";
    return std::string(::mkdtemp(pattern.data())) + "/mandates";
  }

  void write(std::int64_t job, std::int64_t from, std::int64_t to, const std::string& grant = "1f") {
    const LogLine line{.at = 1,
                       .event = LogEvent::write,
                       .mechanism = "order",
                       .partition = "main",
                       .grant = grant,
                       .job = job,
                       .from = from,
                       .to = to,
                       .why = "sjf: place 1 of 2, was 2"};
    ASSERT_TRUE(folder_.add(std::span(&line, 1)));
    slurm_[job] = to;
  }

  // It was taken back a while ago.
  void undone(std::int64_t job, std::int64_t to) {
    const LogLine line{.at = 2, .event = LogEvent::undone, .grant = "1f", .job = job, .to = to};
    ASSERT_TRUE(folder_.add(std::span(&line, 1)));
  }

  // Jobs by their factors; what is hidden is held, and sprio does not list it.
  RunCommand slurm() {
    return [this](const std::string& command) -> Ran {
      commands_ += command.substr(0, 15) + ";";
      if (!answers_) return {.code = 1, .output = "slurm_load_jobs error: Unable to contact slurm controller\n"};
      std::string out;
      if (command.starts_with("sprio")) {
        for (const auto& [job, factor] : slurm_)
          if (job == by_hand_)
            out += fmt::format("{}|main|424242|0|0|0|0|0|0|0|0|\n", job);
          else if (job != hidden_)
            out += fmt::format("{}|main|{}|{}|1|0|0|0|0|0|0|\n", job, std::max<std::int64_t>(factor + 1, 1), factor);
        return {0, out};
      }
      if (command.starts_with("squeue")) {
        for (const auto& [job, factor] : slurm_) out += fmt::format("{:20}{:20}\n", job, job);
        return {0, out};
      }
      const auto equals = command.find("JobId=") + 6;
      const std::string ids = command.substr(equals, command.find(' ', equals) - equals);
      int code = 0;
      for (const std::string_view id : split(ids, ',')) {
        const auto found = slurm_.find(*parse_integer(id));
        if (found == slurm_.end() || found->first == ended_) {
          out += fmt::format("Invalid job id specified for job {}\n", id);
          code = 1;
        } else if (!updated_.empty()) {
          out += fmt::format("{0}_1: {1}\n{0}_2: Job has already finished\n", id, updated_);
          code = 1;
          if (updated_ == "No error") found->second = *parse_integer(command.substr(command.rfind('=') + 1));
        } else {
          found->second = *parse_integer(command.substr(command.rfind('=') + 1));
        }
      }
      return {code, out};
    };
  }
  TakenBack undo(bool all = true) {
    const auto done = take_back(folder_, {.all = all, .by = 7}, slurm());
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(TakenBack{});
  }
  Mandate mode() const { return folder_.modes()->front(); }

  MandateFolder folder_;
  Mandate act_{.mechanism = "order", .partition = "main", .mode = Mode::act, .rule = "sjf", .grant = "1f"};
  std::map<std::int64_t, std::int64_t> slurm_;
  std::int64_t hidden_ = 0, by_hand_ = 0, ended_ = 0;
  bool answers_ = true;
  std::string commands_, updated_;  // updated_: a line about tasks, beside one that has ended
};

TEST_F(TakeBackTest, AllIsAsItWasAndTheModeOnlyObserves) {
  write(1, 0, 500);
  write(2, 0, -300);
  write(2, -300, 40);
  const TakenBack done = undo();
  EXPECT_EQ(done.mandates, 1);
  EXPECT_EQ(done.undone, 2);
  EXPECT_EQ(slurm_, (std::map<std::int64_t, std::int64_t>{{1, 0}, {2, 0}}));
  EXPECT_EQ(mode().mode, Mode::observe);
  EXPECT_TRUE(mode().grant.empty());
  commands_.clear();
  EXPECT_EQ(undo().undone, 0);
  EXPECT_EQ(commands_, "");
}

TEST_F(TakeBackTest, WhatOthersHaveChangedIsLeft) {
  write(1, 0, 500);
  slurm_[1] = 9;
  EXPECT_EQ(undo().others, 1);
  EXPECT_EQ(slurm_[1], 9);
}

TEST_F(TakeBackTest, AWriteThatDidNotArriveIsNoneAndAJobThatHasLeftIsGone) {
  write(1, 0, 500);
  write(2, 0, 500);
  write(3, 0, 500);
  slurm_[1] = 0;
  slurm_.erase(2);
  ended_ = 3;
  const TakenBack done = undo();
  EXPECT_EQ(done.undone, 1);
  EXPECT_EQ(done.gone, 2);
  const auto log = folder_.read_log();
  ASSERT_TRUE(log);
  for (const LogLine& line : log->lines) EXPECT_NE(line.event, LogEvent::gone) << "it may come back";
  EXPECT_EQ(commands_.find("scontrol"), commands_.rfind("scontrol"));
}

TEST_F(TakeBackTest, WhatIsHeldOrHasAPriorityByHandIsTakenBackUnseen) {
  write(1, 0, 500);
  write(2, 0, 500);
  hidden_ = 1;
  by_hand_ = 2;
  EXPECT_EQ(undo().undone, 2);
  EXPECT_EQ(slurm_, (std::map<std::int64_t, std::int64_t>{{1, 0}, {2, 0}}));
}

TEST_F(TakeBackTest, WhatComesBackWithASlurmctldThatHadNotSavedItIsTakenBackAgain) {
  for (const std::int64_t job : {1, 2, 3}) {
    write(job, 0, 500);
    undone(job, 0);
  }
  slurm_[2] = 0;
  slurm_[3] = 77;  // an operator's
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(slurm_, (std::map<std::int64_t, std::int64_t>{{1, 0}, {2, 0}, {3, 77}}));
  EXPECT_EQ(mode().mode, Mode::act);
  commands_.clear();
  EXPECT_EQ(undo(false).undone, 0);
  EXPECT_EQ(commands_, "") << "jobs 2 and 3 have settled, and job 1 was taken back just now";
}

TEST_F(TakeBackTest, AJobThatWasGoneAndComesBackWithSlurmctldIsTakenBack) {
  write(1, 0, 500);
  const LogLine line{.at = 2, .event = LogEvent::undone, .grant = "1f", .job = 1, .why = "it waits no longer"};
  ASSERT_TRUE(folder_.add(std::span(&line, 1)));
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(slurm_[1], 0);
}

TEST_F(TakeBackTest, AnArrayOfWhichATaskHasEndedIsTakenBackAndLookedAtAgain) {
  write(1, 0, 500);
  updated_ = "No error";
  EXPECT_EQ(undo().undone, 1);
  EXPECT_EQ(slurm_[1], 0);
  const LogLine last = folder_.read_log()->lines.back();
  EXPECT_EQ(last.event, LogEvent::undone);
}

TEST_F(TakeBackTest, AnArrayOfWhichATaskCouldNotBeUpdatedIsLeft) {
  write(1, 0, 500);
  updated_ = "Access/permission denied";
  const TakenBack done = undo();
  EXPECT_EQ(done.left, 1);
  EXPECT_NE(done.trouble.find("1_1: Access/permission denied"), std::string::npos) << done.trouble;
  updated_ = "No error";
  EXPECT_EQ(undo(false).undone, 1);
}

TEST_F(TakeBackTest, WhatIsHeldIsTakenBackOnceMoreUnseen) {
  write(1, 0, 500);
  undone(1, 0);
  hidden_ = 1;
  EXPECT_EQ(undo(false).undone, 0);
  EXPECT_EQ(slurm_[1], 0);
  commands_.clear();
  undo(false);
  EXPECT_EQ(commands_, "");
}

TEST_F(TakeBackTest, WhereSlurmDoesNotAnswerNothingMoreIsWrittenAndTheNextTimeItIsTakenBack) {
  write(1, 0, 500);
  answers_ = false;
  EXPECT_FALSE(take_back(folder_, {.all = true}, slurm()));
  EXPECT_EQ(mode().mode, Mode::observe);
  answers_ = true;
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(slurm_[1], 0);
}

TEST_F(TakeBackTest, OfAServiceThatLivesOnlyWhatIsPastItsDateOrUncovered) {
  write(1, 0, 500);
  write(2, 0, 500, "2e");
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(slurm_, (std::map<std::int64_t, std::int64_t>{{1, 500}, {2, 0}}));
  EXPECT_EQ(mode().mode, Mode::act);
  act_.until = 1000;
  ASSERT_TRUE(folder_.put_modes({act_}));
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(mode().fell, "Its time was over.");
}

TEST_F(TakeBackTest, AServiceWithoutASignOfLifeHasEnded) {
  write(1, 0, 500);
  std::filesystem::last_write_time(folder_.file("heartbeat"),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(11));
  EXPECT_EQ(undo(false).undone, 1);
  EXPECT_EQ(mode().mode, Mode::observe);
}

TEST_F(TakeBackTest, ALineThatWasCutOffIsPassedOverAndTheNextOneIsWhole) {
  write(1, 0, 500);
  std::ofstream(folder_.file("log"), std::ios::app)
      << "at=2 event=write mechanism=order partition=main grant=1f job=8 to=5";
  write(2, 0, 600);
  const auto log = folder_.read_log();
  ASSERT_TRUE(log);
  ASSERT_EQ(log->lines.size(), 2U);
  EXPECT_EQ(log->lines[1].job, 2);
  EXPECT_EQ(log->lines[1].why, "sjf: place 1 of 2, was 2");
  EXPECT_TRUE(folder_.read_log(log->end)->lines.empty());
}

TEST_F(TakeBackTest, ACommandRunsOnlyWhereItsGrantStands) {
  const RunCommand run = run_here();
  EXPECT_EQ(run(under_grant(folder_, "1f", "echo done")).output, "done\n");
  EXPECT_EQ(run(under_grant(folder_, "f", "echo done")).code, kNoGrant);
  ASSERT_TRUE(undo().mandates == 1);
  EXPECT_EQ(run(under_grant(folder_, "1f", "echo done")).code, kNoGrant);
}

TEST_F(TakeBackTest, TheLockIsHeldByOneAtATime) {
  auto lock = folder_.lock(Duration{0});
  ASSERT_TRUE(lock);
  EXPECT_FALSE(folder_.lock(Duration{0}));
  lock->reset();
  EXPECT_TRUE(folder_.lock(Duration{0}));
}

}  // namespace
}  // namespace rota::slurm
