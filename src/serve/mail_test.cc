#include "serve/mail.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace rota::serve {
namespace {

// Sent once there is a file `go`: the number of its job is written.
class Mails : public testing::Test {
 protected:
  Mails() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-mail-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    room_.emplace(
        io_, fmt::format("cd {}; until [ -e go ]; do sleep 0.01; done; echo $ROTA_MAIL_JOB >> sent", folder_.string()),
        seconds(60), (folder_ / "record").string(), [this](const std::string& what) { said_.push_back(what); });
  }
  ~Mails() override {
    room_->stop();
    std::filesystem::remove_all(folder_);
  }

  void send(std::uint32_t uid, const std::string& job) {
    Mail mail;
    mail.uid = uid;
    mail.job = job;
    room_->send(std::move(mail));
  }
  std::string sent() const {
    std::ifstream file(folder_ / "sent");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What is sent, in order, by the time that so many have been.
  std::string sent_first(std::ptrdiff_t count) {
    std::ofstream(folder_ / "go") << "go";
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::ranges::count(sent(), '\n') < count && std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }
    return sent();
  }

  std::filesystem::path folder_;
  boost::asio::io_context io_;
  std::vector<std::string> said_;
  std::optional<MailRoom> room_;
};

TEST_F(Mails, UsersTakeTurns) {
  for (const char* job : {"1", "2", "3"}) send(1000, job);
  send(2000, "4");
  EXPECT_EQ(sent_first(4), "1\n4\n2\n3\n");
  EXPECT_TRUE(said_.empty());
}

TEST_F(Mails, TheUserWithTheMostMailsMakesRoom) {
  send(3000, "0");
  for (int i = 0; i < 10'000; ++i) send(1000, "flood");
  EXPECT_TRUE(said_.empty());
  send(2000, "one");
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_TRUE(sent_first(3).starts_with("0\nflood\none\n")) << sent();
}

}  // namespace
}  // namespace rota::serve
