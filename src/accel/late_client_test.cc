// A client of two containers in this process, behind a service that says where they are.
#include <gtest/gtest.h>
#include <sys/socket.h>

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

// Containers that pass for CPUs: `gate` waits at the first one, and is done at once at the second.
std::unique_ptr<Container> cpu_container(const std::string& at, bool waits) {
  static const rota_accel_backend slow = [] {
    rota_accel_backend backend = test_backend();
    backend.name = "openblas";
    return backend;
  }();
  static const rota_accel_backend fast = [] {
    rota_accel_backend backend = slow;
    backend.run = [](rota_accel_device*, const rota_accel_run* run, char*, std::size_t) -> int {
      std::memset(run->buffer, 'b', run->header.payload_bytes);
      return ROTA_ACCEL_DONE;
    };
    return backend;
  }();
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(*Device::open(waits ? slow : fast, ""));
  auto container = Container::start({}, std::move(devices), {at});
  return container ? std::move(*container) : nullptr;
}

TEST(LateClient, SendsASlowTaskOfACpuToAnotherCpu) {
  std::string folder = "/tmp/rota-accel-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Gate::close();
  auto slow = cpu_container(folder + "/slow", true), fast = cpu_container(folder + "/fast", false);
  {
    const Service service(folder + "/service", R"({"containers":[{"address":")" + folder +
                                                   R"(/slow","weight":1},{"address":")" + folder +
                                                   R"(/fast","weight":1}]})");
    const auto client = test_client("late:n1@" + folder + "/service");
    const std::string payload(100'000, 'a'), right(payload.size(), 'b');
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
    EXPECT_EQ(slow->counts().done, 0U);
    EXPECT_TRUE(comes_true([&] { return slow->memory_used() == 0 && fast->memory_used() == 0; }));
  }
  Gate::open();
  slow.reset();
  fast.reset();
  ::unlink((folder + "/service").c_str());
  ::rmdir(folder.c_str());
}

}  // namespace
}  // namespace rota::accel
