// What a job has used, as its supervisor tells it.
#include "engine/local/desk_test.h"
#include "engine/local/engine.h"

namespace rota::local {
namespace {

class LocalEngineUse : public testing::Test {
 protected:
  LocalEngineUse() { desk_.open(); }
  Desk desk_;
};

TEST_F(LocalEngineUse, what_a_job_has_used_is_told) {
  desk_.launch(1, desk_.shell("dd if=/dev/zero of=/dev/null bs=64M count=1; i=0; "
                              "while [ $i -lt 300000 ]; do i=$((i+1)); done"));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  const JobUse use = desk_.use_of(1);
  EXPECT_GT(use.processors, Duration{10});
  EXPECT_LE(use.processors, use.in + Duration{100}) << "one thing after the other";
  EXPECT_GE(use.memory, std::int64_t{64} << 20U);
  EXPECT_LT(use.memory, std::int64_t{128} << 20U);
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_GT(desk_.use_of(2).memory, 0);
  EXPECT_LT(desk_.use_of(2).memory, use.memory);
}

TEST_F(LocalEngineUse, what_could_not_be_launched_has_used_nothing) {
  RunRequest run = desk_.shell("");
  run.command = {"/no/such/program"};
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for<LaunchFailed>(1));
  EXPECT_EQ(desk_.use_of(1).memory, 0);
}

TEST_F(LocalEngineUse, what_a_job_used_before_it_moved_counts) {
  desk_.launch(1, desk_.shell("[ -e up ] && exit 0; dd if=/dev/zero of=/dev/null bs=64M count=1; sleep 1; "
                              "echo up > up; exec sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("up"));
  Command move = desk_.command(Command::Kind::migrate, 1);
  move.kept = false;
  desk_.engine().dispatch(move);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_GE(desk_.use_of(1).in, Duration{500});  // it slept for a second where it was first
  EXPECT_GE(desk_.use_of(1).memory, std::int64_t{64} << 20U);
}

}  // namespace
}  // namespace rota::local
