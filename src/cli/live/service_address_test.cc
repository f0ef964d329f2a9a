#include "cli/live/service_address.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace rota::cli {
namespace {

class Address : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"ROTA_URL", "ROTA_SOCKET", "ROTA_TOKEN_FILE", "ROTA_CA_FILE"}) ::unsetenv(name);
    ::setenv("ROTA_TOKEN", "rota_1", 1);
  }
  void TearDown() override { ::unsetenv("ROTA_TOKEN"); }

  static Result<ServiceAddress> of(const std::string& url) { return service_address({{}, url, {}, {}}); }
};

TEST_F(Address, urls_are_taken_apart) {
  struct Case {
    const char *url, *host, *port, *shown;
  };
  for (const Case& c : {Case{"https://box", "box", "443", "https://box:443"},
                        Case{"https://box.example:8443/", "box.example", "8443", "https://box.example:8443"},
                        Case{"https://[2001:db8::1]:8443", "2001:db8::1", "8443", "https://[2001:db8::1]:8443"},
                        Case{"http://127.0.0.1:80", "127.0.0.1", "80", "http://127.0.0.1:80"},
                        Case{"http://[::1]:81", "::1", "81", "http://[::1]:81"}}) {
    const auto address = of(c.url);
    ASSERT_TRUE(address) << c.url;
    EXPECT_EQ(address->host, c.host);
    EXPECT_EQ(address->port, c.port);
    EXPECT_EQ(address->shown(), c.shown);
    EXPECT_EQ(address->token, "rota_1");
  }
}

TEST_F(Address, what_is_no_url_is_told_so) {
  for (const char* url : {"box", "ftp://box", "https://", "https://:80", "https://box:x", "https://box:0",
                          "https://a/b", "https://me@box", "https://a b", "https://box:70000", "https://[::1"})
    EXPECT_FALSE(of(url)) << url;
  EXPECT_NE(of("http://box:80").error().message.find("write https://box:80."), std::string::npos);
}

TEST_F(Address, a_token_is_needed_and_is_one_word) {
  ::unsetenv("ROTA_TOKEN");
  EXPECT_NE(of("https://box").error().message.find("ROTA_TOKEN"), std::string::npos);
  ::setenv("ROTA_TOKEN", "a\r\nX: y", 1);
  EXPECT_NE(of("https://box").error().message.find("ROTA_TOKEN is none"), std::string::npos);
}

TEST_F(Address, a_url_goes_before_the_socket_of_the_environment_only) {
  ::setenv("ROTA_URL", "https://box", 1);
  ::setenv("ROTA_SOCKET", "/s", 1);
  EXPECT_TRUE(service_address({})->remote());
  EXPECT_EQ(service_address({"/t", {}, {}, {}})->socket, "/t");
  EXPECT_FALSE(service_address({"/t", "https://box", {}, {}}));
  ::unsetenv("ROTA_URL");
  EXPECT_EQ(service_address({})->socket, "/s");
}

TEST_F(Address, what_is_secret_is_no_jobs_business) {
  EXPECT_TRUE(is_of_address("ROTA_TOKEN=x"));
  EXPECT_TRUE(is_of_address("ROTA_URL=https://box"));
  EXPECT_FALSE(is_of_address("ROTA_SOCKET=/s"));
  EXPECT_FALSE(is_of_address("ROTA_TOKENS=x"));
}

}  // namespace
}  // namespace rota::cli
