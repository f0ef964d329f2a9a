// Any frames, as a client sends them to a container and as a container sends them to a client: memory goes back, a task
// ends once, and whatever is no frame ends its connection alone. The first byte says which side receives, and whether
// memory comes along for a client. Then come frames of a byte for the type, one for the flags, one for the task and the
// attempt, two for the length, and a payload; checksums are put right, so that what lies behind them is reached. Type 0
// is bytes as they are. With the flag kShared the header comes alone: its payload is said to lie in the shared memory.
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accel/address.h"
#include "accel/client/client_abi.h"
#include "accel/pipeline.h"
#include "accel/session_reader.h"
#include "accel/shared_rings.h"
#include "base/check.h"

namespace rota::accel {
namespace {

// Its results have as many bytes as the first parameter says, up to 100,000.
const rota_accel_backend& backend() {
  static constexpr std::array<const char*, 2> kOperations{"take", nullptr};
  static const rota_accel_backend one{
      .abi = ROTA_ACCEL_BACKEND_ABI,
      .name = "fuzz",
      .operations = kOperations.data(),
      .open = [](const char*, rota_accel_device**, char*, std::size_t) -> int { return ROTA_ACCEL_DONE; },
      .describe = [](rota_accel_device*, char*, std::size_t) {},
      .plan = [](rota_accel_device*, const rota_accel_header* header, rota_accel_plan* plan, char*,
                 std::size_t) -> int {
        const auto result = static_cast<std::uint64_t>(header->parameters[0]);
        if (result > 100'000 || header->payload_bytes > 1U << 30U) return ROTA_ACCEL_BAD_TASK;
        *plan = {std::max({std::uint64_t{1}, header->payload_bytes, result}), 0, result, 0};
        return ROTA_ACCEL_DONE;
      },
      .run = [](rota_accel_device*, const rota_accel_run*, char*, std::size_t) -> int { return ROTA_ACCEL_DONE; },
      .state = [](rota_accel_device*, rota_accel_state*) {},
      .close = [](rota_accel_device*) {},
      .share = nullptr};
  return one;
}

std::vector<std::byte> frames_in(std::span<const std::uint8_t> data) {
  constexpr std::size_t kHead = 5;
  std::vector<std::byte> all;
  while (data.size() >= kHead) {
    const std::size_t length =
        std::min<std::size_t>(data.size() - kHead, std::size_t{data[3]} | std::size_t{data[4]} << 8U);
    const FrameHeader header{.type = static_cast<FrameType>(data[0]),
                             .flags = static_cast<std::uint16_t>(data[1]),
                             .task = data[2] & 15U,
                             .attempt = static_cast<std::uint32_t>(data[2]) >> 4U,
                             .length = std::uint32_t{data[3]} | std::uint32_t{data[4]} << 8U};
    if (data[0] != 0 && (header.flags & kShared) != 0) {
      const HeaderBytes alone = encoded(header);
      all.insert(all.end(), alone.begin(), alone.end());
      data = data.subspan(kHead);
      continue;
    }
    const auto payload = std::as_bytes(data.subspan(kHead, length));
    const std::vector<std::byte> frame = framed(header, payload);
    if (data[0] == 0) all.insert(all.end(), payload.begin(), payload.end());
    if (data[0] != 0) all.insert(all.end(), frame.begin(), frame.end());
    data = data.subspan(kHead + length);
  }
  return all;
}

// Without threads: the reader's work, and between two pieces that of the others as far as it concerns the reader.
void to_container(std::span<const std::byte> bytes) {
  std::array<int, 2> ends{};
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "two sockets");
  const process::Descriptor client(ends[0]);
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(*Device::open(backend(), "")));
  Pipeline pipeline({.memory = std::uint64_t{1} << 20U, .tasks = 8}, std::move(devices));
  Admission admission(pipeline);
  const auto session = std::make_shared<Session>(1, process::Descriptor(ends[1]), nullptr);
  SessionReader reader(pipeline, admission, session, [] { return std::string("{}"); });
  auto outcome = FrameReader::Outcome::open;
  while ((outcome == FrameReader::Outcome::open && !bytes.empty()) || outcome == FrameReader::Outcome::more) {
    const std::size_t next = std::min<std::size_t>(bytes.size(), 20'000);
    const ssize_t sent = next == 0 ? 0 : ::send(client.get(), bytes.data(), next, MSG_NOSIGNAL);
    if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
    outcome = reader.receive();
    admission.advance();
    while (auto task = pipeline.ready.try_pop()) {
      (*task)->state = TaskState::answered;
      (*task)->release();
    }
    session->messages();
  }
  CHECK(pipeline.memory.used() <= pipeline.memory.limit(), "no more than there is");
  session->break_off();
  admission.forget(1);
  admission.advance();
  CHECK(admission.tasks() == 0 && pipeline.memory.used() == 0, "all memory goes back");
}

class Listener {
 public:
  Listener() {
    std::string folder = "/tmp/rota-fuzz-XXXXXX";
    CHECK(::mkdtemp(folder.data()) != nullptr, "a folder");
    path_ = folder + "/socket";
    std::string why;
    socket_ = listen_at(parse_address(path_), why);
    CHECK(static_cast<bool>(socket_), "a socket");
  }
  const std::string& path() const { return path_; }
  process::Descriptor accept() const {
    pollfd waits{socket_.get(), POLLIN, 0};
    ::poll(&waits, 1, -1);
    return process::Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  std::string path_;
  process::Descriptor socket_;
};

// With memory to share, where `shares`: whether it is asked for is the client's matter.
void to_client(std::span<const std::byte> bytes, bool shares) {
  static const Listener listener;
  std::array<char, 256> why{};
  const rota_accel_options options{listener.path().c_str(), nullptr, 1000, 1000};
  rota_accel_client* client = rota_accel_open(&options, why.data(), why.size());
  const std::string payload(3000, 'p');
  std::array<char, 500> room{};
  std::map<std::uint64_t, int> ends;
  for (const bool own : {false, true, false}) {
    const rota_accel_order order{.operation = "take",
                                 .parameters = {},
                                 .payload = payload.data(),
                                 .payload_bytes = payload.size(),
                                 .result = own ? room.data() : nullptr,
                                 .result_room = own ? room.size() : 0,
                                 .limit_ms = 0,
                                 .tag = nullptr};
    ends[rota_accel_submit(client, &order)] = 0;
  }
  ends[rota_accel_ask_state(client, nullptr)] = 0;
  {
    static const std::unique_ptr<SharedRings> rings = SharedRings::make();
    Channel socket(listener.accept());
    if (shares) socket.attach(rings->file());
    std::size_t sent = 0;
    socket.send(bytes.first(std::min<std::size_t>(bytes.size(), 100'000)), {}, sent);
    // Until the client has taken all of it, or hung up.
    for (int left = 1; left > 0;) {
      pollfd ended{socket.socket(), POLLRDHUP, 0};
      if (::ioctl(socket.socket(), SIOCOUTQ, &left) != 0 || ::poll(&ended, 1, 0) > 0) break;
    }
  }
  rota_accel_end end{};
  while (rota_accel_next(client, &end, 0) == 1) {
    CHECK(++ends.at(end.task) == 1, "a task ends once");
    if (end.result != room.data()) rota_accel_free(end.result);
  }
  rota_accel_close(client);
}

}  // namespace
}  // namespace rota::accel

// A container may announce any result: a client that gets no memory for it says so.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's own name
  return "allocator_may_return_null=1:max_allocation_size_mb=2048";
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<std::byte> bytes = rota::accel::frames_in({data + 1, size - 1});
  if (data[0] % 2 == 0) {
    rota::accel::to_container(bytes);
  } else {
    rota::accel::to_client(bytes, data[0] % 4 == 3);
  }
  return 0;
}
