#include "api/rehearser.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace rota::api {
namespace {

constexpr std::uint32_t kRoot = 0;

serve::Caller caller(std::uint32_t uid) { return {uid, uid, "user" + std::to_string(uid), uid == kRoot}; }

class Rehearsers : public testing::Test {
 protected:
  // Nothing is called before the loop runs.
  void begin(std::uint32_t uid, int times) {
    for (int n = 0; n < times; ++n) rehearser_.run(uid, [this] { return [this] { ++done_; }; });
  }
  bool takes(std::uint32_t uid) const { return rehearser_.full_for(caller(uid)).empty(); }

  int done_ = 0;
  boost::asio::io_context io_;
  Rehearser rehearser_{io_};
};

TEST_F(Rehearsers, no_caller_has_all_of_it) {
  begin(1, 3);
  EXPECT_TRUE(takes(1));
  begin(1, 1);
  EXPECT_EQ(rehearser_.full_for(caller(1)).substr(0, 5), "four ");
  EXPECT_TRUE(takes(2));
}

TEST_F(Rehearsers, operators_have_a_place_however_many_others_ask) {
  for (std::uint32_t uid = 1; uid <= 4; ++uid) begin(uid, 4);
  EXPECT_EQ(rehearser_.full_for(caller(5)).substr(0, 5), "many ");
  EXPECT_TRUE(takes(kRoot));
  begin(kRoot, 4);
  EXPECT_FALSE(takes(kRoot));
}

TEST_F(Rehearsers, a_caller_that_has_been_answered_can_ask_again) {
  begin(1, 4);
  while (done_ < 4) {
    io_.restart();
    io_.run_one_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(takes(1));
}

}  // namespace
}  // namespace rota::api
