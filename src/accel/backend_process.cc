#include "accel/backend_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "process/spawn.h"

namespace rota::accel {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kBetweenLooks = 10ms;      // at whether a task is still wanted
constexpr auto kQuestion = 10s;           // the longest wait for the answer to one, which takes microseconds
constexpr auto kOpening = 300s;           // and until a device is open
constexpr std::size_t kMostRestarts = 5;  // in a minute

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return std::string("by signal ") + std::to_string(WTERMSIG(status)) + ", " + ::strsignal(WTERMSIG(status));
  return "with exit code " + std::to_string(WEXITSTATUS(status));
}

Refusal refusal_of(const BackendAnswer& answer) {
  return {static_cast<rota_accel_outcome>(answer.outcome), answer.text.data()};
}

bool is_readable(int file, std::chrono::milliseconds within) {
  pollfd waits{file, POLLIN, 0};
  int count = 0;
  do count = ::poll(&waits, 1, static_cast<int>(within.count()));
  while (count < 0 && errno == EINTR);
  return count > 0;
}

}  // namespace

// One life of the process, with this side's ends of the two sockets.
class DeviceApart::Process {
 public:
  explicit Process(std::vector<std::string> words) {
    std::array<int, 2> run{-1, -1};
    std::array<int, 2> ask{-1, -1};
    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, run.data());
    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ask.data());
    runs = process::Descriptor(run[0]);
    asks = process::Descriptor(ask[0]);
    const process::Descriptor their_runs(run[1]), their_asks(ask[1]);
    pid_ = process::spawn({.words = std::move(words),
                           .files = {{their_runs.get(), STDIN_FILENO}, {their_asks.get(), STDOUT_FILENO}},
                           .apart = true});
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    runs.reset();
    asks.reset();
    ended();
  }

  void kill() {
    const std::lock_guard lock(mutex_);
    if (pid_ != 0) ::kill(pid_, SIGKILL);
  }
  // How it has ended. One that crashes, or whose sockets are closed, has a while to do so by itself.
  std::string ended() {
    const std::lock_guard lock(mutex_);
    for (int looks = 0; pid_ != 0 && looks < 200 && !is_reaped(WNOHANG); ++looks) ::poll(nullptr, 0, 10);
    if (pid_ != 0) ::kill(pid_, SIGKILL);
    while (pid_ != 0 && !is_reaped(0)) {
    }
    return how_;
  }

  process::Descriptor runs;
  process::Descriptor asks;

 private:
  bool is_reaped(int how) {
    int status = 0;
    if (::waitpid(pid_, &status, how) != pid_) return false;
    pid_ = 0;
    how_ = how_it_ended(status);
    return true;
  }

  std::mutex mutex_;
  pid_t pid_ = 0;
  std::string how_ = "before it began";
};

DeviceApart::DeviceApart(Options options)
    : options_(std::move(options)), name_(options_.named.substr(0, options_.named.find('='))) {}

DeviceApart::~DeviceApart() = default;

Result<std::unique_ptr<Device>> DeviceApart::open(Options options) {
  std::unique_ptr<DeviceApart> device(new DeviceApart(std::move(options)));
  const BackendAnswer answer = TRY(device->start());
  // name, operations, description: a line each
  const auto lines = split(std::string_view(answer.text.data()), '\n');
  if (lines.size() < 3) return fail("the backend {} does not say what it is.", rota::quoted(device->options_.named));
  device->name_ = lines[0];
  for (const auto& operation : split(lines[1], ' ')) device->operations_.emplace_back(operation);
  device->description_ = lines[2];
  return device;
}

Result<BackendAnswer> DeviceApart::start() {
  auto words = options_.program;
  words.push_back(options_.named);
  process_ = std::make_shared<Process>(std::move(words));
  BackendAnswer answer;
  const bool answers = answers_within(process_->runs.get(), kOpening);
  if (answers && receive_message(process_->runs.get(), answer)) {
    lost_ = answer.outcome != ROTA_ACCEL_DONE;
    if (!lost_) return answer;
    process_.reset();
    return fail("{}", answer.text.data());
  }
  if (!answers) process_->kill();  // it still opens its device
  const std::string how = std::exchange(process_, nullptr)->ended();
  return fail("the backend {} ended {}, before it was open.", rota::quoted(options_.named), how);
}

bool DeviceApart::answers_within(int socket, std::chrono::milliseconds patience) const {
  const auto until = steady_clock::now() + patience;
  while (!is_readable(socket, kBetweenLooks))
    if (stops_ || steady_clock::now() >= until) return false;
  return true;
}

DeviceApart::ProcessPtr DeviceApart::process() {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr) return process_;
  const auto now = steady_clock::now();
  std::erase_if(restarts_, [&](SteadyTime one) { return now - one > 60s; });
  if (restarts_.size() >= kMostRestarts || stops_) return nullptr;
  restarts_.push_back(now);
  if (start() && !memory_.bytes.empty()) {
    BackendRequest share{.wanted = Wanted::share};
    share.bytes = memory_.bytes.size();
    send_message(process_->runs.get(), share, {&memory_.file, 1});
  }
  return process_;
}

void DeviceApart::let_go(const ProcessPtr& gone) {
  const std::lock_guard lock(mutex_);
  if (process_ != gone) return;
  gone->ended();  // else both would have the device
  process_.reset();
  lost_ = true;
  ++crashes_;
}

DeviceApart::ProcessPtr DeviceApart::instead_of(const ProcessPtr& gone) {
  let_go(gone);
  return process();
}

void DeviceApart::share(const SharedMemory& memory) {
  memory_ = memory;
  if (memory_.bytes.empty()) return;
  BackendRequest request{.wanted = Wanted::share};
  request.bytes = memory_.bytes.size();
  const ProcessPtr now = process();
  if (now) send_message(now->runs.get(), request, {&memory_.file, 1});
}

Refusal DeviceApart::crashes_often() const {
  return {ROTA_ACCEL_DEVICE_LOST, "the backend " + name_ + " has crashed " + std::to_string(kMostRestarts) +
                                      " times in a minute; it is started again when that is over"};
}

bool DeviceApart::ask(const BackendRequest& request, BackendAnswer& answer) {
  ProcessPtr asked = process();
  for (int tries = 0; asked && tries < 2; ++tries) {
    const int socket = asked->asks.get();
    if (send_message(socket, request) && answers_within(socket, kQuestion) && receive_message(socket, answer))
      return true;
    asked->kill();
    asked = instead_of(asked);
  }
  return false;
}

rota_accel_state DeviceApart::state() {
  BackendAnswer answer;
  answer.state = {-1, -1, -1, -1, -1};
  ask({.wanted = Wanted::state}, answer);
  return answer.state;
}

Refusal DeviceApart::plan(const rota_accel_header& header, rota_accel_plan& plan) {
  BackendAnswer answer;
  if (!ask({.wanted = Wanted::plan, .header = header}, answer)) return crashes_often();
  plan = answer.plan;
  return answer.outcome == ROTA_ACCEL_DONE ? checked(plan, header.payload_bytes) : refusal_of(answer);
}

bool DeviceApart::wait_for_answer(Process& process, const rota_accel_run& run, BackendAnswer& answer) {
  auto killed_at = SteadyTime::max();
  while (!is_readable(process.runs.get(), kBetweenLooks)) {
    const auto now = steady_clock::now();
    if (killed_at == SteadyTime::max() && run.cancelled(run.context) != 0) {
      send_message(process.runs.get(), BackendRequest{.wanted = Wanted::cancel});
      killed_at = now + options_.grace;
    }
    if (now >= killed_at) process.kill();
  }
  return receive_message(process.runs.get(), answer);
}

Refusal DeviceApart::run(const rota_accel_run& run) {
  const auto place = [&](void* at) {
    return at == nullptr ? 0 : static_cast<std::uint64_t>(static_cast<std::byte*>(at) - memory_.bytes.data());
  };
  const BackendRequest request{.wanted = Wanted::run,
                               .header = run.header,
                               .plan = run.plan,
                               .buffer = place(run.buffer),
                               .scratch = place(run.scratch)};
  ProcessPtr now = process();
  if (now && !send_message(now->runs.get(), request)) {  // it has ended since the last task
    now = instead_of(now);
    if (now && !send_message(now->runs.get(), request)) now.reset();
  }
  if (!now) return crashes_often();
  BackendAnswer answer;
  if (wait_for_answer(*now, run, answer)) {
    // A device that was lost is opened anew, with its process.
    if (answer.outcome == ROTA_ACCEL_DEVICE_LOST) {
      now->kill();
      let_go(now);
    }
    return refusal_of(answer);
  }
  const bool unwanted = run.cancelled(run.context) != 0;
  const std::string how = now->ended();
  let_go(now);  // the answer does not wait for the next one
  if (unwanted) return {ROTA_ACCEL_CANCELLED, "cancelled; its backend went on and was ended"};
  return {ROTA_ACCEL_DEVICE_LOST, "the backend " + name_ + " ended " + how + ", while it computed the task"};
}

}  // namespace rota::accel
