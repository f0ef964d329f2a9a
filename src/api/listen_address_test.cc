#include "api/listen_address.h"

#include <gtest/gtest.h>

namespace rota::api {
namespace {

std::string peer(const std::string& address) { return peer_at(boost::asio::ip::make_address(address)); }

TEST(ListenAddress, one_machine_is_one_peer_however_many_addresses_of_its_network_it_takes) {
  EXPECT_EQ(peer("2001:db8:1:2::1"), peer("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
  EXPECT_EQ(peer("2001:db8:1:2::1"), "2001:db8:1:2::/64");
}

TEST(ListenAddress, each_address_of_the_older_kind_is_a_peer_of_its_own) {
  EXPECT_EQ(peer("192.0.2.1"), "192.0.2.1");
  EXPECT_NE(peer("::ffff:192.0.2.1"), peer("::ffff:192.0.2.2"));
}

TEST(ListenAddress, what_is_no_address_is_refused_with_a_sentence) {
  boost::asio::io_context io;
  for (const char* const text : {"", "8443", "127.0.0.1", "::1:8443", "127.0.0.1:65536", "127.0.0.1:x", ":8443"}) {
    const auto endpoints = endpoints_of(io, text);
    ASSERT_FALSE(endpoints) << text;
    EXPECT_TRUE(endpoints.error().message.ends_with('.')) << endpoints.error().message;
  }
  const auto both = endpoints_of(io, "[::1]:8443");
  ASSERT_TRUE(both && both->size() == 1);
  EXPECT_EQ(shown_endpoint(both->front()), "[::1]:8443");
}

TEST(ListenAddress, a_browser_is_given_the_name_that_the_certificate_has) {
  EXPECT_EQ(browser_address("box.example:0", "https://192.0.2.1:8443"), "https://box.example:8443");
  EXPECT_EQ(browser_address("[::1]:0", "http://[::1]:8080"), "http://[::1]:8080");
  EXPECT_EQ(browser_address("0.0.0.0:8443", "https://0.0.0.0:8443").find("0.0.0.0"), std::string::npos);
}

}  // namespace
}  // namespace rota::api
