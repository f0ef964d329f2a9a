#include "api/turns.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace rota::api {
namespace {

TEST(Turns, each_peer_has_its_turn) {
  boost::asio::io_context io;
  Turns turns(std::chrono::seconds(60));
  std::string order;
  for (int n = 0; n < 4; ++n) turns.enqueue(io.get_executor(), "alice", [&] { order += "a"; });
  for (int n = 0; n < 2; ++n) turns.enqueue(io.get_executor(), "bob", [&] { order += "b"; });
  EXPECT_EQ(order, "");
  io.run();
  EXPECT_EQ(order, "ababaa");
}

TEST(Turns, a_user_that_comes_while_a_long_request_is_carried_out_is_next) {
  boost::asio::io_context io;
  Turns turns(std::chrono::seconds(0));
  std::string order;
  const auto bob_comes = [&] { turns.enqueue(io.get_executor(), "bob", [&] { order += "b"; }); };
  for (int n = 0; n < 100; ++n) turns.enqueue(io.get_executor(), "alice", [&] { order += "a"; });
  boost::asio::post(io, bob_comes);
  io.run();
  EXPECT_LE(order.find('b'), 2U);
  EXPECT_EQ(order.size(), 101U);
}

TEST(Turns, nothing_is_carried_out_once_they_are_gone) {
  boost::asio::io_context io;
  bool carried_out = false;
  {
    Turns turns(std::chrono::seconds(0));
    turns.enqueue(io.get_executor(), "alice", [&] { carried_out = true; });
  }
  io.run();
  EXPECT_FALSE(carried_out);
}

}  // namespace
}  // namespace rota::api
