// A running job is told to stand still, to go on, and another limit.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "engine/local/desk_test.h"

namespace rota::local {
namespace {

class LocalAdjustTest : public ::testing::Test {
 protected:
  static constexpr const char* kCounts = "i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.01; done";

  Command adjust(bool stands, std::int64_t limit = 1234) {
    Command adjust = desk_.command(Command::Kind::adjust, 1);
    adjust.stands = stands;
    adjust.limit = seconds(limit);
    adjust.limit_end = desk_.loop().now() + seconds(limit);
    adjust.expected_end = adjust.limit_end;
    return adjust;
  }
  // A shell whose child was stopped before it had become another program waits for it in the kernel: D.
  bool stopped() const {
    const std::string stat = [&] {
      std::ifstream file(fmt::format("/proc/{}/stat", std::stoi(desk_.file("pid"))));
      return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    }();
    return !stat.empty() && std::string("TtD").contains(stat[stat.rfind(')') + 2]);
  }
  void launch(const std::string& script) {
    desk_.launch(1, desk_.shell("echo $$ > pid; " + script));
    ASSERT_TRUE(desk_.wait_for<Launched>(1));
    ASSERT_TRUE(desk_.wait_for_file("pid"));
  }
  bool carried_out(std::uint64_t key) {
    return desk_.wait([&] { return desk_.seen(desk_.engine().observe(), 1)->key >= key; });
  }

  Desk desk_;
};

TEST_F(LocalAdjustTest, it_stands_still_until_it_is_told_to_go_on_and_its_limit_with_it) {
  desk_.open();
  launch("while [ ! -e go ]; do sleep 0.01; done; echo end > out");
  const Command stop = adjust(true);
  desk_.engine().dispatch(stop);
  EXPECT_TRUE(carried_out(stop.key));
  EXPECT_TRUE(desk_.wait([&] { return stopped(); }));
  std::ofstream(desk_.work() + "/go") << "go";
  desk_.engine().dispatch(stop);  // once more: nothing changes
  desk_.engine().dispatch(adjust(false));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "end\n");
}

TEST_F(LocalAdjustTest, the_next_life_of_the_service_lets_it_go_on) {
  desk_.open();
  launch("while [ ! -e go ]; do sleep 0.01; done");
  const Command stop = adjust(true);
  desk_.engine().dispatch(stop);
  EXPECT_TRUE(desk_.wait([&] { return stopped(); }));
  desk_.close();
  desk_.open();
  EXPECT_GE(desk_.seen(desk_.engine().observe(), 1)->key, stop.key) << "it need not be told again";
  EXPECT_TRUE(stopped());
  std::ofstream(desk_.work() + "/go") << "go";
  desk_.engine().dispatch(adjust(false));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalAdjustTest, another_limit_counts_and_is_asked_for_when_it_is_queued_again) {
  desk_.open();
  launch(kCounts);
  desk_.engine().dispatch(adjust(false, 77));
  desk_.kill(1, false);
  const auto* again = desk_.wait_for<Requeued>(1);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->limit, seconds(77));
}

TEST_F(LocalAdjustTest, a_shorter_limit_ends_it) {
  desk_.open();
  launch(kCounts);
  Command sooner = adjust(false, 1);
  sooner.limit_end = desk_.loop().now() + Duration{100};
  desk_.engine().dispatch(sooner);
  EXPECT_EQ(desk_.outcome(1), Outcome::timed_out);
}

TEST_F(LocalAdjustTest, a_job_that_stands_still_can_be_ended) {
  desk_.open();
  launch(kCounts);
  desk_.engine().dispatch(adjust(true));
  EXPECT_TRUE(desk_.wait([&] { return stopped(); }));
  desk_.kill(1, true);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
}

}  // namespace
}  // namespace rota::local
