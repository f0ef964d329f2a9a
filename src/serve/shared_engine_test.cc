// A service over a cluster that others use too: what its engine says of nodes holds, whatever the configuration says.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "serve/idle_engine_test.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr const char* kOneNode = "name = \"theirs\"\n[[nodes]]\nnames = \"a\"\nprocessors = 4\n";

// Has seen a node that no file names, and says so while it opens.
class SharedEngine final : public IdleEngine {
 public:
  explicit SharedEngine(Capabilities can) : IdleEngine(std::move(can)) {}
  Result<void> open(Intake& intake, const Takeover& from) override {
    if (from.state().nodes().size() > 1) return {};
    Node more;
    more.name = "b";
    more.processors = 8;
    return intake.record(Described{NodeId{1}, more}, from.state().now());
  }
  void describe(const Machine& /*machine*/) override { FAIL() << "its nodes are its own"; }
};

class SharedService : public testing::Test {
 protected:
  SharedService() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-shared-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write(kOneNode);
  }
  ~SharedService() override {
    stop();
    std::filesystem::remove_all(folder_);
  }

  void write(const std::string& configuration) { std::ofstream(folder_ + "/rota.toml") << configuration; }
  void stop() {
    if (service_) service_->stop();
    service_.reset();
  }
  void serve() {
    Capabilities can = idle_capabilities();
    can.shared = true;
    ServiceOptions options;
    options.engine = [can](const EngineSite&) { return std::make_unique<SharedEngine>(can); };
    options.state_folder = folder_ + "/state";
    options.configuration = folder_ + "/rota.toml";
    options.socket = folder_ + "/socket";
    options.version = "test";
    auto service = Service::open(io_, options);
    ASSERT_TRUE(service) << service.error().message;
    service_ = std::move(*service);
  }
  void expect_both_nodes() {
    ASSERT_EQ(service_->answers().machine().nodes.size(), 2U);
    EXPECT_EQ(service_->answers().machine().nodes[1].name, "b");
    EXPECT_EQ(service_->answers().machine().processors, 12);
    EXPECT_EQ(service_->answers().nodes().size(), 2U);
    EXPECT_TRUE(service_->nodes().set_health("b", {.health = Health::down, .reason = "disk", .by = {}}));
    EXPECT_TRUE(service_->nodes().set_health("b", {.health = Health::up, .reason = {}, .by = {}}));
  }

  boost::asio::io_context io_;
  std::string folder_;
  std::unique_ptr<Service> service_;
};

TEST_F(SharedService, HasTheNodesThatItsEngineDescribes) {
  serve();
  expect_both_nodes();
}

TEST_F(SharedService, StartsAgainWithThem) {
  for (int life = 0; life < 3; ++life) {
    serve();
    expect_both_nodes();
    stop();
  }
  write(std::string("licences = \"solver:2\"\n") + kOneNode);
  serve();
  expect_both_nodes();
  EXPECT_EQ(service_->answers().machine().licences.size(), 1U) << "what is not about nodes is the file's";
}

TEST_F(SharedService, ReloadsItsFileWithoutThem) {
  serve();
  auto reloaded = service_->reload();
  ASSERT_TRUE(reloaded) << reloaded.error().message;
  EXPECT_EQ(reloaded->taken, "");
  expect_both_nodes();
}

}  // namespace
}  // namespace rota::serve
