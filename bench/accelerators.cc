// What an accelerator container costs and gains: tasks without work by the second, how full the pipeline is behind a
// link of 117 MB/s (1 Gbit/s) in both directions, its gain over one task after the other, what the way to
// it costs (TCP in clear and encrypted, a Unix socket, memory that both share), and what slow neighbours cost. The
// container, the link and the clients are processes on loopback; the device is modelled by its time, in which it
// sleeps, or burns a core as a kernel on the node's cores does.
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "accel/address.h"
#include "accel/client/client_abi.h"
#include "accel/container.h"

namespace rota::accel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kLink = 117e6;  // bytes a second

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The modelled device: parameter 0 is its time in microseconds, parameter 1 whether it burns a core; the result is the
// payload.
const rota_accel_backend& model() {
  static constexpr std::array<const char*, 2> kOperations{"model", nullptr};
  static const rota_accel_backend backend{
      .abi = ROTA_ACCEL_BACKEND_ABI,
      .name = "model",
      .operations = kOperations.data(),
      .open = [](const char*, rota_accel_device**, char*, std::size_t) -> int { return ROTA_ACCEL_DONE; },
      .describe = [](rota_accel_device*, char*, std::size_t) {},
      .plan = [](rota_accel_device*, const rota_accel_header* header, rota_accel_plan* plan, char*,
                 std::size_t) -> int {
        *plan = {std::max<std::uint64_t>(1, header->payload_bytes), 0, header->payload_bytes, 0};
        return ROTA_ACCEL_DONE;
      },
      .run = [](rota_accel_device*, const rota_accel_run* run, char*, std::size_t) -> int {
        const auto end = Clock::now() + std::chrono::microseconds(run->header.parameters[0]);
        if (run->header.parameters[1] == 0) std::this_thread::sleep_until(end);
        while (Clock::now() < end) {
        }
        return ROTA_ACCEL_DONE;
      },
      .state = [](rota_accel_device*, rota_accel_state*) {},
      .close = [](rota_accel_device*) {},
      .share = nullptr};
  return backend;
}

// A process of its own that has told us its port.
class Child {
 public:
  template <class Serve>
  explicit Child(Serve serve) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      serve([&](int port) { [[maybe_unused]] const ssize_t told = ::write(ends[1], &port, sizeof port); });
      ::_exit(0);
    }
    [[maybe_unused]] const ssize_t got = ::read(ends[0], &port_, sizeof port_);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }
  double cpu_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) std::abort();
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }

 private:
  pid_t process_ = 0;
  int port_ = 0;
};

// At a free port, and at `socket` where there is one.
void serve_container(const ContainerOptions& options, const std::function<void(int)>& tell, const char* socket = "") {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(*Device::open(model(), "")));
  std::vector<std::string> listens{"127.0.0.1:0"};
  if (*socket != '\0') listens.emplace_back(socket);
  const auto container = Container::start(options, std::move(devices), listens);
  const Address address = parse_address((*container)->addresses().front());
  tell(std::stoi(std::get<TcpAddress>(address).port));
  ::pause();
}

// So many bytes a second, with 2 ms in advance at most.
void pass_on(int from, int to, double rate) {
  std::vector<char> piece(std::size_t{64} << 10U);
  auto next = Clock::now();
  while (true) {
    const ssize_t got = ::recv(from, piece.data(), piece.size(), 0);
    if (got <= 0) break;
    next = std::max(next, Clock::now() - std::chrono::milliseconds(2));
    next += std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(got) / rate * 1e9));
    std::this_thread::sleep_until(next);
    for (ssize_t at = 0; at < got;) {
      const ssize_t sent = ::send(to, piece.data() + at, static_cast<std::size_t>(got - at), MSG_NOSIGNAL);
      if (sent <= 0) return;
      at += sent;
    }
  }
  ::shutdown(to, SHUT_WR);
}

void make_blocking(int socket) {
  pollfd connects{socket, POLLOUT, 0};
  ::poll(&connects, 1, -1);
  const int buffer = 256 << 10;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  const int yes = 1;  // else a grant would wait for an acknowledgement
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::fcntl(socket, F_SETFL, 0);
}

// A link to that address: each connection has the rate in each direction.
void serve_link(const std::string& to, double rate, const std::function<void(int)>& tell) {
  std::string why;
  const process::Descriptor listener = listen_at(parse_address("127.0.0.1:0"), why);
  tell(port_of(listener.get()));
  while (true) {
    pollfd waits{listener.get(), POLLIN, 0};
    ::poll(&waits, 1, -1);
    const int near = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
    const int far = begin_connecting(parse_address(to), why).release();
    make_blocking(near);
    make_blocking(far);
    std::thread([=] { pass_on(near, far, rate); }).detach();
    std::thread([=] { pass_on(far, near, rate); }).detach();
  }
}

struct Load {
  std::size_t tasks;
  std::size_t bytes;
  std::size_t window;
  std::int64_t compute_us = 0;
  bool burns = false;
  const char* token = nullptr;
};

struct Measured {
  double seconds;
  std::vector<double> latencies;  // sorted
};

// Tasks at that container, at most so many at a time.
Measured run(const std::string& address, const Load& load) {
  std::array<char, 256> why{};
  const rota_accel_options options{address.c_str(), load.token, 0, 0};
  rota_accel_client* client = rota_accel_open(&options, why.data(), why.size());
  const std::vector<char> payload(load.bytes, 'p');
  std::vector<std::vector<char>> results(std::min(load.window, load.tasks), std::vector<char>(load.bytes));
  std::vector<Clock::time_point> begun(results.size());
  std::vector<double> latencies;
  const auto submit = [&](std::size_t slot) {
    begun[slot] = Clock::now();
    const rota_accel_order order{"model",
                                 {load.compute_us, load.burns ? 1 : 0},
                                 payload.data(),
                                 payload.size(),
                                 results[slot].data(),
                                 load.bytes,
                                 0,
                                 &begun[slot]};
    rota_accel_submit(client, &order);
  };
  const auto begin = Clock::now();
  std::size_t submitted = 0;
  while (submitted < results.size()) submit(submitted++);
  while (latencies.size() < load.tasks) {
    rota_accel_end end{};
    rota_accel_next(client, &end, -1);
    if (end.outcome != ROTA_ACCEL_DONE) fmt::print("a task failed: {}\n", end.why);
    const auto slot = static_cast<std::size_t>(static_cast<Clock::time_point*>(end.tag) - begun.data());
    latencies.push_back(seconds_since(begun[slot]));
    if (submitted++ < load.tasks) submit(slot);
  }
  Measured measured{seconds_since(begin), std::move(latencies)};
  rota_accel_close(client);
  std::ranges::sort(measured.latencies);
  return measured;
}

void measure_tiny(std::size_t tasks) {
  const Child container([](const auto& tell) { serve_container({.memory = std::uint64_t{1} << 29U}, tell); });
  for (const std::size_t window : {1U, 16U, 256U}) {
    const Measured m = run(container.address(), {tasks, 64, window});
    fmt::print("no work, 64 bytes, {:3} at a time: {:7.0f} tasks/s, median {:4.0f} us, 99 % within {:4.0f} us\n",
               window, static_cast<double>(tasks) / m.seconds, m.latencies[tasks / 2] * 1e6,
               m.latencies[tasks * 99 / 100] * 1e6);
  }
}

void measure_link(std::size_t megabytes, double ratio, bool burns, std::size_t tasks) {
  const Child container([](const auto& tell) { serve_container({.memory = std::uint64_t{1} << 29U}, tell); });
  const std::string to = container.address();
  const Child link([&](const auto& tell) { serve_link(to, kLink, tell); });
  const std::size_t bytes = megabytes * 1'000'000;
  const double transfer = static_cast<double>(bytes) / kLink;
  const double compute = transfer * ratio;
  Load load{std::max<std::size_t>(3, tasks / 5), bytes, 1, static_cast<std::int64_t>(compute * 1e6), burns};
  const double one_by_one =
      run(link.address(), load).seconds / static_cast<double>(load.tasks) * static_cast<double>(tasks);
  load.tasks = load.window = tasks;
  load.window = std::min<std::size_t>(tasks, 16);
  const double pipelined = run(link.address(), load).seconds;
  const double largest = std::max(transfer, compute);
  const double fill = (largest * static_cast<double>(tasks - 1) + 2 * transfer + compute) / pipelined;
  fmt::print("117 MB/s, {:2} MB, compute/transfer {:.1f}, {}: {:3} tasks, gain {:.2f}, fill {:.2f}\n", megabytes, ratio,
             burns ? "burns" : "sleeps", tasks, one_by_one / pipelined, fill);
}

double own_cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Way {
  const char* name;
  bool on_node = false;
  std::uint32_t sharing = 0;
  const char* token = "";
};

// Tasks without work over each kind of connection, without a limit.
void measure_ways(std::size_t tasks) {
  std::string folder = "/tmp/rota-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  const std::string socket = folder + "/socket";
  for (const Way& way : {Way{"TCP in clear"}, Way{.name = "TCP encrypted", .token = "0123456789abcdef"},
                         Way{"Unix socket", true}, Way{"shared memory", true, 16}}) {
    const ContainerOptions options{.memory = std::uint64_t{1} << 29U, .sharing = way.sharing, .token = way.token};
    const Child container([&](const auto& tell) { serve_container(options, tell, socket.c_str()); });
    constexpr std::size_t kBytes = 10'000'000;
    const std::string at = way.on_node ? socket : container.address();
    const Measured small = run(at, {.tasks = 100 * tasks, .bytes = 64, .window = 1, .token = way.token});
    const double before = own_cpu_seconds() + container.cpu_seconds();
    const Measured large = run(at, {.tasks = tasks, .bytes = kBytes, .window = 8, .token = way.token});
    const double cpu = own_cpu_seconds() + container.cpu_seconds() - before;
    const auto bytes = static_cast<double>(tasks * kBytes);
    fmt::print(
        "{:<13}: {:4.0f} MB/s each way, {:.2f} s of processors for a GB carried; no work, 64 bytes: median {:.0f} us\n",
        way.name, bytes / large.seconds / 1e6, cpu / (2 * bytes / 1e9),
        small.latencies[small.latencies.size() / 2] * 1e6);
  }
  ::unlink(socket.c_str());
  ::rmdir(folder.c_str());
}

// A sender at 1 MB/s and a client that never reads.
void measure_neighbours(std::size_t tasks) {
  const Child container([](const auto& tell) { serve_container({.memory = std::uint64_t{1} << 29U}, tell); });
  const std::string to = container.address();
  const Load load{tasks, 5'000'000, 16, 5000};
  const double alone = run(to, load).seconds;
  const Child slow_link([&](const auto& tell) { serve_link(to, 1e6, tell); });
  const Child stopped_link([&](const auto& tell) { serve_link(to, 1e3, tell); });
  const std::string slow_address = slow_link.address();
  const std::string stopped_address = stopped_link.address();
  const Child slow([&](const auto& tell) {
    tell(0);
    run(slow_address, {100, 20'000'000, 2});
  });
  const Child stopped([&](const auto& tell) {
    tell(0);
    run(stopped_address, {100, 10'000'000, 2});
  });
  ::poll(nullptr, 0, 600);
  const double beside = run(to, load).seconds;
  fmt::print("beside a slow sender and one that is nearly cut off: {:.0f} MB/s, alone {:.0f} MB/s\n",
             5.0 * static_cast<double>(tasks) / beside, 5.0 * static_cast<double>(tasks) / alone);
}

// `what`: "ways" measures these alone, any other word is brief.
int measure(std::string_view what) {
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bool brief = !what.empty();
  if (what == "ways") return measure_ways(200), 0;
  measure_tiny(brief ? 200 : 20'000);
  for (const std::size_t megabytes : {1U, 5U, 10U, 20U, 50U}) {
    if (brief && megabytes > 1) break;
    for (const double ratio : {1.0, 0.5, 2.0})
      for (const bool burns : {false, true})
        measure_link(megabytes, ratio, burns, brief ? 3 : std::max<std::size_t>(20, 200 / megabytes));
  }
  measure_ways(brief ? 3 : 200);
  measure_neighbours(brief ? 3 : 100);
  return 0;
}

}  // namespace
}  // namespace rota::accel

int main(int arguments, char** words) { return rota::accel::measure(arguments > 1 ? words[1] : ""); }
