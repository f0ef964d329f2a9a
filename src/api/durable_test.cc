// When a request is answered that comes while something is not durable yet.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/page_door.h"
#include "api/rehearser.h"
#include "api/routes.h"
#include "api/tokens.h"
#include "api/turns.h"
#include "process/worker.h"
#include "serve/idle_engine_test.h"

namespace rota::api {
namespace {

// A service over a fresh state, whose engine starts no jobs; and its answers in the order in which they come.
class Durable : public testing::Test {
 protected:
  Durable() : worker_(io_), rehearser_(io_) {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-durable-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    tokens_.emplace(*Tokens::open(folder_));
    auto service = serve::Service::open(io_, {.engine = serve::idle_engine(),
                                              .state_folder = folder_ + "/state",
                                              .configuration = {},
                                              .policy = {},
                                              .socket = folder_ + "/socket",
                                              .version = "test"});
    EXPECT_TRUE(service) << service.error().message;
    service_ = std::move(*service);
    handler_ = routes({*service_, *tokens_, worker_, rehearser_, door_});
    work_until([&] { return !service_->uncommitted(); });
  }
  ~Durable() override {
    service_->stop();
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  void ask(const std::string& method, const std::string& path, const std::string& body = {}, std::uint32_t uid = 0) {
    Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.caller = {uid, uid, "user" + std::to_string(uid), uid == 0};
    handler_(request, std::make_shared<Answer>(*this, uid));
  }
  void submit_held() { ask("POST", "/v1/jobs", R"({"command": ["true"], "folder": "/", "held": true})"); }
  // Lets the service work until it is so; a minute without is a failure of the test.
  void work_until(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_so()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }
  }
  void work_until_answered(std::size_t times) {
    work_until([&] { return answers_.size() >= times; });
    ASSERT_EQ(answers_.size(), times);
  }

  std::vector<Response> answers_;
  std::vector<std::uint32_t> answered_;  // the users, in the same order
  boost::asio::io_context io_;
  std::unique_ptr<serve::Service> service_;
  std::string folder_;

 private:
  class Answer final : public Reply {
   public:
    Answer(Durable& test, std::uint32_t uid) : test_(test), uid_(uid) {}
    void send(Response response) override {
      EXPECT_FALSE(test_.service_->uncommitted());
      test_.answers_.push_back(std::move(response));
      test_.answered_.push_back(uid_);
    }
    void stream(const std::string& /*type*/, std::function<void()> gone) override { gone(); }
    bool write(std::string /*text*/) override { return false; }
    bool lags() const override { return false; }
    void when_out(std::function<void()> /*call*/) override {}
    void again(std::function<void()> call) override {
      test_.turns_.enqueue(test_.io_.get_executor(), std::to_string(uid_), std::move(call));
    }
    bool gone() const override { return false; }

   private:
    Durable& test_;
    std::uint32_t uid_;
  };

  process::Worker worker_;
  Rehearser rehearser_;
  Turns turns_{std::chrono::milliseconds(2)};
  std::optional<Tokens> tokens_;
  PageDoor door_{[] { return fail("this test has no port."); }};
  Handler handler_;
};

TEST_F(Durable, no_answer_names_a_job_before_its_submission_is_answered) {
  submit_held();
  ask("GET", "/v1/jobs");
  ask("GET", "/v1/jobs/1");
  EXPECT_TRUE(answers_.empty()) << answers_[0].body;
  work_until_answered(3);
  EXPECT_EQ(answers_[0].status, 201);
  EXPECT_NE(answers_[1].body.find(R"("id":"1")"), std::string::npos) << answers_[1].body;
  EXPECT_EQ(answers_[2].status, 200);
}

TEST_F(Durable, a_user_that_asks_much_while_something_is_not_durable_leaves_others_their_turns) {
  constexpr std::uint32_t kAnn = 1, kBen = 2;
  constexpr std::size_t kMany = 30;
  ask("POST", "/v1/jobs", R"({"command": ["true"], "folder": "/", "held": true, "array": "1-10000"})");
  work_until_answered(1);
  submit_held();
  for (std::size_t n = 0; n < kMany; ++n) ask("GET", "/v1/jobs", {}, kAnn);
  ask("GET", "/v1/policy", {}, kBen);
  work_until_answered(kMany + 3);
  const auto bens = std::ranges::find(answered_, kBen) - answered_.begin();
  EXPECT_LT(bens, 6) << "each page of jobs takes longer than what is answered at once";
}

TEST_F(Durable, no_answer_names_what_could_not_be_made_durable) {
  submit_held();
  work_until_answered(1);
  const auto size = std::filesystem::file_size(folder_ + "/state/rota.db-wal");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{size, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  ask("POST", "/v1/jobs/release", R"({"ids": "1"})");
  ask("GET", "/v1/jobs/1");
  work_until_answered(3);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(answers_[1].status, 503) << answers_[1].body;
  EXPECT_EQ(answers_[2].status, 503) << answers_[2].body;
  EXPECT_EQ(answers_[2].body, answers_[1].body);
}

// What is found good is never refused; where it is all the same, that is a defect, and still none of it stays.
TEST_F(Durable, of_a_request_that_is_refused_half_way_nothing_stays) {
  const serve::Caller ann{1, 1, "ann", false};
  JobRequest good;
  good.command = {"true"};
  good.folder = "/";
  JobRequest odd = good;
  odd.limit = kLongest + Duration{1};  // which no request can say
  const serve::RequestKey key{"again", "digest"};
  JobRequest array = good;
  array.array = "1-3";
  const auto refused = service_->jobs().submit(ann, {good, array, odd}, key);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with("was refused. Nothing was submitted.")) << refused.error().message;
  work_until([&] { return !service_->uncommitted(); });
  EXPECT_EQ(service_->answers().status().waiting + service_->answers().status().running, 0U);
  const auto taken = service_->jobs().submit(ann, {good, good}, key);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*service_->jobs().submit(ann, {good, good}, key), *taken);
}

TEST_F(Durable, a_request_while_all_is_durable_is_answered_at_once) {
  submit_held();
  work_until_answered(1);
  ask("GET", "/v1/status");
  EXPECT_EQ(answers_.size(), 2U);
}

}  // namespace
}  // namespace rota::api
