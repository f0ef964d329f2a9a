// What the service does not take in because its engine could not carry it out.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "serve/idle_engine_test.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

class EngineLacks : public testing::Test {
 protected:
  EngineLacks() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-lacks-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    submission_.command = {"true"};
    submission_.folder = "/";
  }
  ~EngineLacks() override {
    if (service_) service_->stop();
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  void serve(const Capabilities& can) {
    ServiceOptions options;
    options.engine = idle_engine(can);
    options.state_folder = folder_ + "/state";
    options.socket = folder_ + "/socket";
    options.version = "test";
    auto service = Service::open(io_, options);
    ASSERT_TRUE(service) << service.error().message;
    service_ = std::move(*service);
  }
  std::string refusal() {
    const auto trial = service_->jobs().try_out({0, 0, "root", true}, submission_);
    return trial ? "" : trial.error().message;
  }

  boost::asio::io_context io_;
  std::string folder_;
  std::unique_ptr<Service> service_;
  JobRequest submission_;
};

TEST_F(EngineLacks, a_job_at_a_terminal_is_taken_only_where_there_are_terminals) {
  Capabilities can = idle_capabilities();
  can.terminals = true;
  serve(can);
  submission_.attach.socket = "somewhere";
  EXPECT_EQ(refusal(), "");
  service_->stop();
  service_.reset();
  can.terminals = false;
  serve(can);
  EXPECT_EQ(refusal(), "jobs of this cluster cannot run at a terminal; submit it without `attach`.");
  submission_.attach = {};
  EXPECT_EQ(refusal(), "");
}

TEST_F(EngineLacks, nothing_is_submitted_where_jobs_come_from_the_engine_alone) {
  Capabilities can = idle_capabilities();
  can.submits = false;
  serve(can);
  EXPECT_EQ(refusal(), "jobs of this cluster are submitted to its own resource manager, and not here.");
}

TEST_F(EngineLacks, an_engine_without_faces_is_asked_nothing) {
  serve(idle_capabilities());
  EXPECT_EQ(service_->answers().output_reader(), nullptr);
  EXPECT_TRUE(service_->answers().accelerators_of(JobId{1}).empty());
  EXPECT_TRUE(service_->nodes().set_health("all", {.health = Health::up, .reason = {}, .by = {}}));
  EXPECT_TRUE(service_->health());
}

}  // namespace
}  // namespace rota::serve
