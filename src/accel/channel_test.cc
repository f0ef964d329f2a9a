// What crosses the wire between a container and clients that have its token, or have not.
#include "accel/channel.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "accel/address.h"
#include "accel/pipeline_test.h"
#include "base/random.h"

namespace rota::accel {
namespace {

const std::string kToken = "0123456789abcdef";
const std::string kLocal = "127.0.0.1:0";

process::Descriptor connected(const std::string& address) {
  std::string why;
  process::Descriptor socket = begin_connecting(parse_address(address), why);
  pollfd waits{socket.get(), POLLOUT, 0};
  ::poll(&waits, 1, -1);
  return socket;
}

// Passes on the bytes of one connection, and keeps them.
class Tap {
 public:
  explicit Tap(std::string to) : to_(std::move(to)) {
    std::string why;
    listener_ = listen_at(parse_address(kLocal), why);
    thread_ = std::thread([this] { pass_on(); });
  }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  ~Tap() { thread_.join(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_of(listener_.get())); }
  std::string seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void pass_on() {
    pollfd waits{listener_.get(), POLLIN, 0};
    ::poll(&waits, 1, -1);
    const process::Descriptor near(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const process::Descriptor far = connected(to_);
    std::array<pollfd, 2> ends{{{near.get(), POLLIN, 0}, {far.get(), POLLIN, 0}}};
    std::string piece(65536, '\0');
    while (::poll(ends.data(), ends.size(), -1) > 0) {
      for (std::size_t from = 0; from < 2; ++from) {
        if (ends[from].revents == 0) continue;
        const ssize_t got = ::recv(ends[from].fd, piece.data(), piece.size(), MSG_DONTWAIT);
        if (got <= 0) return;
        {
          const std::lock_guard lock(mutex_);
          seen_.append(piece, 0, static_cast<std::size_t>(got));
        }
        for (ssize_t at = 0; at < got;) {
          pollfd writes{ends[1 - from].fd, POLLOUT, 0};
          ::poll(&writes, 1, -1);
          const ssize_t sent = ::send(writes.fd, piece.data() + at, static_cast<std::size_t>(got - at), MSG_NOSIGNAL);
          if (sent <= 0) return;
          at += sent;
        }
      }
    }
  }

  const std::string to_;
  process::Descriptor listener_;
  mutable std::mutex mutex_;
  std::string seen_;
  std::thread thread_;
};

Ended only_end(const std::string& address, const char* token, const std::string& payload = "x") {
  const auto client = test_client(address, token, 300);
  submit(client, "next", payload);
  return next_end(client);
}

TEST(Channels, ShowNeitherTheTokenNorWhatTheyCarry) {
  const auto container = test_container(kLocal, {.token = kToken});
  const std::string payload = "a payload that none but the container is to see";
  const auto seen = [&](const std::string& address, const char* token) {
    const Tap tap(address);
    EXPECT_EQ(only_end(tap.address(), token, payload).outcome, ROTA_ACCEL_DONE);
    return tap.seen();
  };
  const std::string secret = seen(container->addresses().front(), kToken.c_str());
  EXPECT_GT(secret.size(), 2 * payload.size());
  EXPECT_EQ(secret.find(payload), std::string::npos);
  EXPECT_EQ(secret.find(kToken), std::string::npos);
  const auto open = test_container(kLocal);
  EXPECT_NE(seen(open->addresses().front(), nullptr).find(payload), std::string::npos) << "the tap sees everything";
}

TEST(Channels, AreForThoseThatHaveTheToken) {
  const auto container = test_container(kLocal, {.token = kToken});
  const std::string address = container->addresses().front();
  EXPECT_EQ(only_end(address, "0123456789abcdee").outcome, ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(only_end(address, nullptr).outcome, ROTA_ACCEL_BAD_TASK) << "in clear";
  EXPECT_EQ(only_end(address, kToken.c_str()).result, "y");
  const auto open = test_container(kLocal);
  EXPECT_EQ(only_end(open->addresses().front(), kToken.c_str()).outcome, ROTA_ACCEL_LEAVING)
      << "a client that has a token says nothing in clear";
  EXPECT_FALSE(Container::start({}, {}, {"0.0.0.0:0"})) << "other computers reach it, and there is no token";
}

TEST(Channels, CarryFramesOfAnySizeBothWaysAtOnce) {
  const auto container = test_container(kLocal, {.memory = 64U << 20U, .token = kToken});
  const auto client = test_client(container->addresses().front(), kToken.c_str());
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < 600; ++i) payloads.emplace_back(i % 50 == 0 ? 3'000'000 + i : i % 7 * i, 'a');
  for (const std::string& payload : payloads) submit(client, "next", payload);
  for (std::size_t left = payloads.size(); left > 0; --left) {
    const Ended end = next_end(client);
    ASSERT_EQ(end.outcome, ROTA_ACCEL_DONE);
    ASSERT_EQ(end.result, std::string(payloads.at(end.task - 1).size(), 'b'));
  }
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; }));
}

TEST(Channels, AreNotHeldUpByHandshakesThatNeverEnd) {
  const auto container = test_container(kLocal, {.clients = 8, .token = kToken});
  const std::string address = container->addresses().front();
  const auto first = test_client(address, kToken.c_str());
  submit(first, "next", "a");
  EXPECT_EQ(next_end(first).result, "b");
  std::vector<process::Descriptor> silent;
  constexpr std::array<unsigned char, 9> kBegin{0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc};  // of a handshake
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connected(address));
    if (i % 2 == 0) ::send(silent.back().get(), kBegin.data(), kBegin.size(), MSG_NOSIGNAL);
  }
  EXPECT_EQ(only_end(address, kToken.c_str()).result, "y");
  submit(first, "next", "b");
  EXPECT_EQ(next_end(first).result, "c") << "those that have greeted keep their place";
}

// The first bytes of a client that has the token.
std::string first_bytes(const std::string& token) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  process::Descriptor own(ends[0]);
  const process::Descriptor other(ends[1]);
  Channel channel(std::move(own), std::make_shared<const TlsKey>(token, Side::client));
  std::size_t count = 0;
  const auto bytes = bytes_of("hello");
  EXPECT_EQ(channel.send(bytes, {}, count), Channel::Flow::waits);
  EXPECT_TRUE(channel.must_receive_first());
  std::string got(4096, '\0');
  got.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(ends[1], got.data(), got.size(), 0))));
  return got;
}

TEST(Channels, OutliveHandshakesThatAreCutOrChanged) {
  const auto container = test_container(kLocal, {.token = kToken});
  const std::string address = container->addresses().front();
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = first_bytes(kToken);
    ASSERT_GT(bytes.size(), 100U);
    if (random.chance(0.5)) bytes.resize(random.bits() % bytes.size());
    for (std::int64_t changes = random.between(0, 3); changes > 0 && !bytes.empty(); --changes)
      bytes[random.bits() % bytes.size()] ^= static_cast<char>(random.between(1, 255));
    const process::Descriptor socket = connected(address);
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  EXPECT_EQ(only_end(address, kToken.c_str()).result, "y");
  EXPECT_TRUE(comes_true([&] { return container->counts().rejected >= 200; }));
}

}  // namespace
}  // namespace rota::accel
