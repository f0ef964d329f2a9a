// A container and its clients in one process: what they owe each other, and what hostile clients cannot do.
#include "accel/container.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "accel/address.h"
#include "accel/pipeline_test.h"
#include "base/random.h"

namespace rota::accel {
namespace {

struct Place {
  Place() {
    std::string made = "/tmp/rota-accel-XXXXXX";
    folder = ::mkdtemp(made.data());
    socket = folder + "/s";
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    ::unlink(socket.c_str());
    ::rmdir(folder.c_str());
  }
  std::string folder, socket;
};

// A client that sends any bytes and reads only when it is told to.
class Raw {
 public:
  explicit Raw(const std::string& address) {
    std::string why;
    socket_ = begin_connecting(parse_address(address), why);
  }
  bool send(const std::vector<std::byte>& bytes) const {
    std::size_t at = 0;
    while (at < bytes.size()) {
      pollfd waits{socket_.get(), POLLOUT, 0};
      ::poll(&waits, 1, -1);
      const ssize_t sent = ::send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent < 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  void greet() const { send(framed({.type = FrameType::hello}, encoded(Hello{}))); }
  void submit(std::uint64_t task, std::string_view operation, std::uint64_t bytes) const {
    Submit submit;
    std::ranges::copy(operation, submit.header.operation);
    submit.header.payload_bytes = bytes;
    send(framed({.type = FrameType::submit, .task = task, .attempt = 1}, encoded(submit)));
  }
  void send_bare(FrameType type) const { send(framed({.type = type})); }
  // A chunk of task 1 that is said to lie in the shared memory.
  void shared_data(std::uint32_t bytes) const {
    const HeaderBytes header = encoded(
        FrameHeader{.type = FrameType::data, .flags = kLast | kShared, .task = 1, .attempt = 1, .length = bytes});
    send({header.begin(), header.end()});
  }
  void data(std::uint64_t task, std::size_t bytes, bool last) const {
    send(framed({.type = FrameType::data, .flags = last ? kLast : std::uint16_t{0}, .task = task, .attempt = 1},
                std::vector<std::byte>(bytes)));
  }
  // Frames come until one of that type does; false: the connection ends before.
  bool waits_for(FrameType type) const {
    while (true) {
      HeaderBytes bytes;
      FrameHeader header;
      if (!get(bytes) || !decode(bytes, header)) return false;
      std::vector<std::byte> payload(header.length);
      if (!get(payload)) return false;
      if (header.type == type) return true;
    }
  }
  bool waits_for_the_end() const {
    std::array<std::byte, 4096> bytes;
    while (get(std::span(bytes).first(1))) {
    }
    return true;
  }

 private:
  bool get(std::span<std::byte> into) const {
    std::size_t at = 0;
    while (at < into.size()) {
      pollfd waits{socket_.get(), POLLIN, 0};
      ::poll(&waits, 1, -1);
      const ssize_t got = ::recv(socket_.get(), into.data() + at, into.size() - at, 0);
      if (got <= 0) return false;
      at += static_cast<std::size_t>(got);
    }
    return true;
  }
  process::Descriptor socket_;
};

struct Containers : testing::Test {
  ~Containers() override { Gate::open(); }
  Place place;
};

TEST_F(Containers, AnswerEachTaskOnceWithResultsOfAnySize) {
  const auto container = test_container(place.socket, {.memory = 16U << 20U});
  const auto client = test_client(place.socket);
  std::vector<std::unique_ptr<std::string>> kept;
  std::map<std::uint64_t, std::string> payloads;
  for (const std::size_t size : {0U, 1U, 2048U, 2049U, 1U << 20U, (1U << 20U) + 1, 5'000'000U, 64U, 3'000'000U}) {
    auto payload = std::make_unique<std::string>(size, 'a');
    if (size > 0) payload->back() = 'c';
    payloads.emplace(submit(client, "next", *payload), *payload);
    kept.push_back(std::move(payload));
  }
  for (std::size_t left = payloads.size(); left > 0; --left) {
    const Ended end = next_end(client);
    ASSERT_EQ(end.outcome, ROTA_ACCEL_DONE);
    std::string expected = payloads.at(end.task);
    for (char& c : expected) ++c;
    EXPECT_EQ(end.result, expected);
    payloads.erase(end.task);
  }
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; }));
}

// Both in this process.
long mappings_of_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  long count = 0;
  for (std::string line; std::getline(maps, line);) count += line.contains("memfd:rota-accel-client") ? 1 : 0;
  return count;
}

TEST_F(Containers, ShareMemoryWithSoManyClientsOfTheNode) {
  const auto container = test_container(place.socket, {.sharing = 2});
  std::vector<TestClient> clients(3);
  const std::string payload(7 * kSlotBytes + 1, 'a'), result(payload.size(), 'b');
  for (TestClient& client : clients) {
    client = test_client(place.socket);
    submit(client, "next", "a");
    EXPECT_EQ(next_end(client).result, "b");
  }
  EXPECT_EQ(mappings_of_shared_memory(), 0) << "small tasks do not need it";
  for (int round = 0; round < 3; ++round) {
    for (const TestClient& client : clients) {
      for (int i = 0; i < 4; ++i) submit(client, "next", payload);
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(next_end(client).result == result);
    }
  }
  EXPECT_EQ(mappings_of_shared_memory(), 4);
  clients[0].reset();
  EXPECT_TRUE(comes_true([] { return mappings_of_shared_memory() == 2; }));
  clients[0] = test_client(place.socket);
  submit(clients[0], "room", "", 100'000);
  EXPECT_EQ(next_end(clients[0]).result, std::string(100'000, '\0'));
  EXPECT_TRUE(comes_true([] { return mappings_of_shared_memory() == 4; }));
  clients.clear();
  EXPECT_TRUE(comes_true([&] { return mappings_of_shared_memory() == 0 && container->memory_used() == 0; }));
}

TEST_F(Containers, ShareNoMemoryWithClientsOfOtherNodes) {
  const auto container = test_container("127.0.0.1:0");
  const auto client = test_client(container->addresses().front());
  const std::string payload(3'000'000, 'a');
  submit(client, "next", payload);
  EXPECT_TRUE(next_end(client).result == std::string(payload.size(), 'b'));
  EXPECT_EQ(mappings_of_shared_memory(), 0);
}

TEST_F(Containers, ClearWhatABackendDoesNotWrite) {
  const auto container = test_container(place.socket);
  const auto client = test_client(place.socket);
  const std::string secret(100'000, 's');
  submit(client, "next", secret);
  next_end(client);
  submit(client, "room", "", 100'000);
  EXPECT_EQ(next_end(client).result, std::string(100'000, '\0'));
  submit(client, "empty", secret);
  EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
}

TEST_F(Containers, DoNotListenWhereAFileIs) {
  std::ofstream(place.socket) << "a file";
  const auto container = Container::start({}, {}, {place.socket});
  ASSERT_FALSE(container);
  EXPECT_TRUE(
      container.error().message.ends_with(": a file is there that is no socket; name another path, or remove it."))
      << container.error().message;
  EXPECT_TRUE(std::filesystem::is_regular_file(place.socket));
}

TEST_F(Containers, RefuseWhatIsWrongWithAReason) {
  const auto container = test_container(place.socket, {.memory = 1U << 20U});
  const auto client = test_client(place.socket);
  const auto outcome = [&](const char* operation, std::int64_t parameter) {
    submit(client, operation, "", parameter);
    return next_end(client).outcome;
  };
  EXPECT_EQ(outcome("nothing", 0), ROTA_ACCEL_UNSUPPORTED);
  EXPECT_EQ(outcome("room", -1), ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(outcome("room", 600'000), ROTA_ACCEL_NO_MEMORY);
  EXPECT_EQ(outcome("lose", 0), ROTA_ACCEL_DEVICE_LOST);
  EXPECT_EQ(outcome("next", 0), ROTA_ACCEL_DEVICE_LOST) << "it stays lost";
}

TEST_F(Containers, CancelTasksThatWaitAndTasksThatCompute) {
  Gate::close();
  const auto container = test_container(place.socket);
  const auto client = test_client(place.socket);
  std::vector<std::uint64_t> tasks(20);
  for (std::uint64_t& task : tasks) task = submit(client, "gate", "payload");
  Gate::wait_until_entered(1);
  for (const std::uint64_t task : tasks)
    if (task != tasks[7]) rota_accel_cancel(client.get(), task);
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    const Ended end = next_end(client);
    EXPECT_EQ(end.outcome, ROTA_ACCEL_CANCELLED);
    EXPECT_NE(end.task, tasks[7]);
  }
  Gate::open();
  EXPECT_EQ(next_end(client).task, tasks[7]);
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; }));
}

// As one with a process of its own, whose plans may take long.
class KeepsWaiting final : public Device {
 public:
  std::string name() const override { return here_->name(); }
  std::string description() const override { return here_->description(); }
  const std::vector<std::string>& operations() const override { return here_->operations(); }
  bool lost() const override { return here_->lost(); }
  rota_accel_state state() override { return here_->state(); }
  bool keeps_waiting() const override { return true; }
  Refusal plan(const rota_accel_header& header, rota_accel_plan& plan) override { return here_->plan(header, plan); }
  Refusal run(const rota_accel_run& run) override { return here_->run(run); }

 private:
  std::unique_ptr<Device> here_ = *Device::open(test_backend(), "");
};

std::unique_ptr<Container> waiting_container(const std::string& address) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<KeepsWaiting>());
  return *Container::start({}, std::move(devices), {address});
}

TEST_F(Containers, AnswerWhileADeviceDoesNotAnswer) {
  Gate::close();
  const auto container = waiting_container(place.socket);
  const auto client = test_client(place.socket);
  const std::uint64_t kept = submit(client, "think", "kept");
  const std::uint64_t unwanted = submit(client, "think", "unwanted");
  Gate::wait_until_entered(1);
  rota_accel_cancel(client.get(), unwanted);
  Ended end = next_end(client);
  EXPECT_EQ(std::pair(end.task, end.outcome), std::pair(unwanted, int{ROTA_ACCEL_CANCELLED}));
  {
    const Raw gone(place.socket);
    gone.greet();
    gone.submit(1, "think", 4);
    EXPECT_TRUE(comes_true([&] { return container->counts().submitted >= 3; }));
  }
  EXPECT_TRUE(comes_true([&] { return container->counts().dropped >= 1; }));
  rota_accel_ask_state(client.get(), nullptr);
  end = next_end(client);
  EXPECT_NE(end.result.find(R"("waiting":1)"), std::string::npos) << end.result;
  Gate::open();
  EXPECT_EQ(next_end(client).task, kept);
}

TEST_F(Containers, DrainThoughADeviceDoesNotAnswer) {
  Gate::close();
  const auto container = waiting_container(place.socket);
  const Raw client(place.socket);
  client.greet();
  client.submit(1, "think", 0);
  Gate::wait_until_entered(1);
  container->drain();
  EXPECT_TRUE(client.waits_for(FrameType::error));
  pollfd drained{container->drained_file(), POLLIN, 0};
  EXPECT_EQ(::poll(&drained, 1, 240'000), 1);
  Gate::open();
}

TEST_F(Containers, ThatAreReplacedRunTheirTasksAgainAndEachEndsOnce) {
  Gate::close();
  auto container = test_container(place.socket);
  const auto client = test_client(place.socket);
  const std::string payload(100'000, 'p');
  std::map<std::uint64_t, int> ends;
  for (int i = 0; i < 30; ++i) ends[submit(client, "gate", payload)] = 0;
  for (int lives = 0; lives < 3; ++lives) {
    Gate::wait_until_entered(1);
    container.reset();
    Gate::close();
    container = test_container(place.socket);
  }
  Gate::open();
  std::uint32_t runs = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Ended end = next_end(client);
    EXPECT_EQ(end.outcome, ROTA_ACCEL_DONE);
    EXPECT_EQ(++ends[end.task], 1);
    runs = std::max(runs, end.runs);
  }
  EXPECT_GE(runs, 4U);
  rota_accel_end none{};
  EXPECT_EQ(rota_accel_next(client.get(), &none, 0), 0);
}

TEST_F(Containers, ThatDrainEndWhatTheyHaveAndAcceptNothingMore) {
  Gate::close();
  const auto container = test_container(place.socket);
  const auto client = test_client(place.socket);
  const std::uint64_t task = submit(client, "gate", "x");
  Gate::wait_until_entered(1);
  container->drain();
  const auto late = test_client(place.socket, nullptr, 50);
  submit(late, "next", "y");
  EXPECT_EQ(next_end(late).outcome, ROTA_ACCEL_LEAVING);
  pollfd drained{container->drained_file(), POLLIN, 0};
  EXPECT_EQ(::poll(&drained, 1, 0), 0);
  Gate::open();
  EXPECT_EQ(next_end(client).task, task);
  EXPECT_EQ(::poll(&drained, 1, 240'000), 1);
}

TEST_F(Containers, AreNotHeldUpByClientsThatSendOrReadNothing) {
  const auto container = test_container(place.socket, {.memory = 32U << 20U, .stall = std::chrono::milliseconds(500)});
  const Raw sender(place.socket), deaf(place.socket), silent(place.socket);
  sender.greet();
  sender.submit(1, "next", 8'000'000);
  ASSERT_TRUE(sender.waits_for(FrameType::grant));
  sender.data(1, 1000, false);
  deaf.greet();
  for (std::uint64_t task = 1; task <= 3; ++task) {
    deaf.submit(task, "next", 3'000'000);
    ASSERT_TRUE(deaf.waits_for(FrameType::grant));
    for (int chunk = 0; chunk < 3; ++chunk) deaf.data(task, 1'000'000, chunk == 2);
  }
  const auto client = test_client(place.socket);
  const std::string payload(2'000'000, 'p');
  for (int i = 0; i < 20; ++i) submit(client, "next", payload);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
  EXPECT_TRUE(sender.waits_for_the_end());
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; })) << "those that stall are dropped";
}

TEST_F(Containers, RefuseWhatBreaksTheRules) {
  const auto container = test_container(place.socket);
  const auto refused = [&](const std::function<void(const Raw&)>& act) {
    const Raw raw(place.socket);
    raw.greet();
    act(raw);
    return raw.waits_for_the_end();
  };
  EXPECT_TRUE(refused([](const Raw& raw) { raw.greet(); }));
  EXPECT_TRUE(refused([](const Raw& raw) { raw.data(1, 10, true); }));
  EXPECT_TRUE(refused([](const Raw& raw) {
    raw.submit(1, "gate", 10);
    raw.submit(1, "gate", 10);
  }));
  EXPECT_TRUE(refused([](const Raw& raw) { raw.send_bare(FrameType::taken); }));
  EXPECT_TRUE(refused([](const Raw& raw) {
    for (int i = 0; i < 3; ++i) raw.send_bare(FrameType::share);
  }));
  EXPECT_TRUE(refused([](const Raw& raw) {
    for (const FrameType type : {FrameType::share, FrameType::share, FrameType::taken}) raw.send_bare(type);
  })) << "no slot is out";
  for (const bool shares : {false, true})
    EXPECT_TRUE(refused([&](const Raw& raw) {
      if (shares) raw.send_bare(FrameType::share);
      const std::uint32_t bytes = shares ? kSlotBytes + 1 : 10;
      raw.submit(1, "next", bytes);
      raw.waits_for(FrameType::grant);
      raw.shared_data(bytes);
    }));
  for (const auto& [bytes, last] : {std::pair{11, true}, {9, true}, {10, false}, {0, false}})
    EXPECT_TRUE(refused([&](const Raw& raw) {
      raw.submit(1, "next", 10);
      raw.waits_for(FrameType::grant);
      raw.data(1, static_cast<std::size_t>(bytes), last);
    }));
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; }));
}

// Frames as a client sends them, then changed, cut and mixed.
std::vector<std::byte> hostile_bytes(Random& random) {
  std::vector<std::byte> all = framed({.type = FrameType::hello}, encoded(Hello{}));
  for (std::int64_t frames = random.between(1, 12); frames > 0; --frames) {
    Submit submit;
    submit.header.payload_bytes =
        random.chance(0.8) ? static_cast<std::uint64_t>(random.between(0, 5000)) : random.bits();
    submit.header.parameters[0] = static_cast<std::int64_t>(random.bits() >> random.between(1, 60));
    const std::string_view operation = std::array{"next", "gate", "room", "empty", "?"}[random.bits() % 5];
    std::ranges::copy(operation, submit.header.operation);
    FrameHeader header{.type = static_cast<FrameType>(random.between(1, 16)),
                       .flags = static_cast<std::uint16_t>(random.between(0, 3)),
                       .task = random.bits() % 6,
                       .attempt = 1};
    std::vector<std::byte> payload = encoded(submit);
    if (header.type != FrameType::submit)
      payload.assign(static_cast<std::size_t>(random.between(0, 3000)), std::byte{7});
    auto frame = framed(header, payload);
    if (random.chance(0.1)) frame[random.bits() % frame.size()] ^= static_cast<std::byte>(random.between(1, 255));
    if (random.chance(0.1)) frame.resize(random.bits() % frame.size());
    all.insert(all.end(), frame.begin(), frame.end());
  }
  return all;
}

TEST_F(Containers, OutliveAnyBytes) {
  const auto container = test_container(place.socket, {.memory = 4U << 20U, .stall = std::chrono::milliseconds(200)});
  const auto client = test_client(place.socket);
  const std::string payload(50'000, 'p');
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const Raw raw(place.socket);
    raw.send(hostile_bytes(random));
    if (round % 100 == 0) submit(client, "next", payload);
  }
  for (int i = 0; i < 30; ++i) EXPECT_EQ(next_end(client).outcome, ROTA_ACCEL_DONE);
  EXPECT_TRUE(comes_true([&] { return container->memory_used() == 0; }));
  EXPECT_GT(container->counts().rejected, 0U);
}

}  // namespace
}  // namespace rota::accel
