// Clients of two containers in this process, behind a service that says where they are.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "accel/address.h"
#include "accel/pipeline_test.h"

namespace rota::accel {
namespace {

// Answers each question with the same list of containers.
class Service {
 public:
  Service(const std::string& path, std::string json) : json_(std::move(json)) {
    std::string why;
    socket_ = listen_at(parse_address(path), why);
    thread_ = std::thread([this] { answer(); });
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  void answer() const {
    while (true) {
      pollfd asks{socket_.get(), POLLIN, 0};
      ::poll(&asks, 1, -1);
      const process::Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!caller) return;
      std::string question;
      std::array<char, 1024> piece{};
      while (!question.ends_with("\r\n\r\n")) {
        const ssize_t got = ::recv(caller.get(), piece.data(), piece.size(), 0);
        if (got <= 0) break;
        question.append(piece.data(), static_cast<std::size_t>(got));
      }
      const std::string text = "HTTP/1.1 200 OK\r\n\r\n" + json_;
      ::send(caller.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }
  }
  const std::string json_;
  process::Descriptor socket_;
  std::thread thread_;
};

// A container that passes for a CPU, with the test's backend as `change` makes it.
std::unique_ptr<Container> cpu_container(
    const std::string& at, std::uint64_t memory = std::uint64_t{1} << 30U,
    const std::function<void(rota_accel_backend&)>& change = [](rota_accel_backend&) {}) {
  static std::deque<rota_accel_backend> all;  // devices keep a pointer
  rota_accel_backend& backend = all.emplace_back(test_backend());
  backend.name = "openblas";
  change(backend);
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(*Device::open(backend, ""));
  auto container = Container::start({.memory = memory}, std::move(devices), {at});
  return container ? std::move(*container) : nullptr;
}

// Each task is done at once.
void is_fast(rota_accel_backend& backend) {
  backend.run = [](rota_accel_device*, const rota_accel_run* run, char*, std::size_t) -> int {
    std::memset(run->buffer, 'b', run->header.payload_bytes);
    return ROTA_ACCEL_DONE;
  };
}

// Each task loses the device, which goes on.
void loses_tasks(rota_accel_backend& backend) {
  backend.run = [](rota_accel_device*, const rota_accel_run*, char*, std::size_t) -> int {
    return ROTA_ACCEL_DEVICE_LOST;
  };
}

void has_nothing_but_lu(rota_accel_backend& backend) {
  static constexpr std::array<const char*, 2> kOperations{"lu", nullptr};
  backend.operations = kOperations.data();
}

// Two containers of a rack, `a` and `b`.
class LateClients : public testing::Test {
 protected:
  LateClients() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    Gate::open();
  }
  ~LateClients() override {
    Gate::open();
    client.reset();
    service_.reset();
    a.reset();
    b.reset();
    ::unlink((folder_ + "/service").c_str());
    ::rmdir(folder_.c_str());
  }
  std::string at(const char* name) const { return folder_ + "/" + name; }
  // Once both containers are there.
  void begin(int weight_of_a) {
    const auto one = [&](const char* name, int weight) {
      return R"({"address":")" + at(name) + R"(","weight":)" + std::to_string(weight) + "}";
    };
    service_.emplace(at("service"), R"({"containers":[)" + one("a", weight_of_a) + "," + one("b", 1) + "]}");
    client = test_client("late:n1@" + at("service"));
  }
  // `a` does some, so that it is known how long they take.
  void do_some_tasks() {
    for (int i = 0; i < 6; ++i) {
      submit(client, "gate", payload);
      ASSERT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
    }
  }
  void all_are_done_at_a(int count) {
    for (int i = 0; i < count; ++i) submit(client, "next", payload);
    for (int i = 0; i < count; ++i) EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
    EXPECT_TRUE(comes_true([&] { return a->counts().done == static_cast<std::uint64_t>(count); }));
    EXPECT_EQ(b->counts().done, 0U);
  }

  const std::string payload = std::string(100'000, 'a');
  std::unique_ptr<Container> a, b;
  TestClient client;

 private:
  std::string folder_ = "/tmp/rota-accel-XXXXXX";
  std::optional<Service> service_;
};

TEST_F(LateClients, SendASlowTaskOfACpuToAnotherCpu) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), std::uint64_t{1} << 30U, is_fast);
  Gate::close();
  begin(1);
  const std::string right(payload.size(), 'b');
  std::vector<std::string> own(12, std::string(payload.size(), '\0'));
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool into_own = i % 3 != 0;
    const rota_accel_order order{"gate",
                                 {},
                                 payload.data(),
                                 payload.size(),
                                 into_own ? own[i].data() : nullptr,
                                 into_own ? own[i].size() : 0,
                                 0,
                                 own.data() + i};
    rota_accel_submit(client.get(), &order);
  }
  std::uint32_t again = 0;
  for (std::size_t left = own.size(); left > 0; --left) {
    rota_accel_end end{};
    ASSERT_EQ(rota_accel_next(client.get(), &end, 240'000), 1);
    ASSERT_EQ(end.outcome, ROTA_ACCEL_DONE) << end.why;
    EXPECT_EQ(end.result_bytes, right.size());
    EXPECT_EQ(std::memcmp(end.result, right.data(), right.size()), 0);
    const auto& place = *static_cast<std::string*>(end.tag);
    if (end.result != place.data()) rota_accel_free(end.result);
    again += end.runs - 1;
  }
  EXPECT_GT(again, 0U);
  EXPECT_EQ(a->counts().done, 0U);
  EXPECT_TRUE(comes_true([&] { return a->memory_used() == 0 && b->memory_used() == 0; }));
}

TEST_F(LateClients, SendASlowTaskToACpuThatHadNone) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), std::uint64_t{1} << 30U, is_fast);
  begin(10);
  do_some_tasks();
  ASSERT_EQ(b->counts().submitted, 0U);
  Gate::close();
  submit(client, "gate", payload);
  const Ended end = next_end(client);
  EXPECT_EQ(end.outcome, ROTA_ACCEL_DONE);
  EXPECT_EQ(end.result, std::string(payload.size(), 'b'));
}

TEST_F(LateClients, SeeThatATaskIsSlowWhateverEndsBehindIt) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), std::uint64_t{1} << 30U, is_fast);
  begin(10);
  for (int i = 0; i < 30; ++i) submit(client, "next", payload);
  for (int i = 0; i < 30; ++i) next_end(client);
  ASSERT_GT(b->counts().submitted, 0U) << "it is known to be a CPU";
  do_some_tasks();
  Gate::close();
  const std::uint64_t slow = submit(client, "gate", payload);
  bool done = false;
  EXPECT_TRUE(comes_true([&] {
    const std::uint64_t bad = submit(client, "room", "", std::int64_t{1} << 40U);
    const Ended first = next_end(client);
    done = first.task == slow;
    EXPECT_EQ(done ? next_end(client).task : first.task, bad);
    ::poll(nullptr, 0, 50);
    return done;
  }));
}

TEST_F(LateClients, LeaveARunAloneWhoseSecondOneFails) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), 10'000);
  begin(10);
  do_some_tasks();
  Gate::close();
  submit(client, "gate", payload);
  EXPECT_TRUE(comes_true([&] { return b->counts().failed > 0 || a->counts().cancelled > 0; }));
  Gate::open();
  EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
  EXPECT_EQ(a->counts().cancelled, 0U);
}

TEST_F(LateClients, SendATaskThatIsTooLargeForAContainerToAnother) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), 10'000);
  begin(1);
  all_are_done_at_a(20);
  submit(client, "room", "", std::int64_t{1} << 30U);
  EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_NO_MEMORY) << "none is large enough";
}

TEST_F(LateClients, SendATaskThatAContainerDoesNotKnowToAnother) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), std::uint64_t{1} << 30U, has_nothing_but_lu);
  begin(1);
  all_are_done_at_a(20);
  submit(client, "nothing", "");
  EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_UNSUPPORTED) << "none knows it";
}

TEST_F(LateClients, SendATaskThatWasLostElsewhereAndNotForEver) {
  a = cpu_container(at("a"));
  b = cpu_container(at("b"), std::uint64_t{1} << 30U, loses_tasks);
  begin(1);
  all_are_done_at_a(20);
  submit(client, "lose", payload);
  const Ended end = next_end(client);
  EXPECT_EQ(end.outcome, ROTA_ACCEL_DEVICE_LOST);
  EXPECT_EQ(end.runs, 3U);
}

TEST_F(LateClients, LetALostTaskWaitForAContainerThatHasNotLostIt) {
  a = cpu_container(at("a"), std::uint64_t{1} << 30U, loses_tasks);
  b = cpu_container(at("b"));
  Gate::close();
  begin(10);
  for (int i = 0; i < 10; ++i) submit(client, "gate", payload);
  Gate::wait_until_entered(1);
  ::poll(nullptr, 0, 3'000);  // `b` has as many as it takes; `a` gets tasks again after a second
  Gate::open();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
}

}  // namespace
}  // namespace rota::accel
