#include "accel/backend_main.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <span>
#include <thread>

#include "accel/backend.h"
#include "accel/backend_messages.h"

namespace rota::accel {
namespace {

using std::chrono::steady_clock;

BackendAnswer answer_of(const Refusal& refusal) {
  BackendAnswer answer;
  answer.outcome = refusal.outcome;
  answer.set_text(refusal.why);
  return answer;
}

// Whether the task that runs was cancelled: asked often, looked at once in a millisecond.
struct Wish {
  int socket;
  steady_clock::time_point next = {};
  bool gone = false;

  static int is_gone(void* context) {
    auto& wish = *static_cast<Wish*>(context);
    const auto now = steady_clock::now();
    if (wish.gone || now < wish.next) return wish.gone ? 1 : 0;
    wish.next = now + std::chrono::milliseconds(1);
    pollfd waits{wish.socket, POLLIN, 0};
    if (::poll(&waits, 1, 0) > 0) {  // no other message comes while a task runs; or the container has gone
      BackendRequest cancel;
      receive_message(wish.socket, cancel);
      wish.gone = true;
    }
    return wish.gone ? 1 : 0;
  }
};

class Server {
 public:
  Server(Device& device, int runs, int asks) : device_(device), runs_(runs), asks_(asks) {}

  void answer_questions() {
    BackendRequest request;
    while (receive_message(asks_, request)) {
      BackendAnswer answer;
      if (request.wanted == Wanted::plan) {
        rota_accel_plan plan{};
        answer = answer_of(device_.plan(request.header, plan));
        answer.plan = plan;
      } else {
        answer.state = device_.state();
      }
      if (!send_message(asks_, answer)) return;
    }
  }

  void run_tasks() {
    BackendRequest request;
    std::deque<process::Descriptor> files;
    while (receive_message(runs_, request, files)) {
      if (request.wanted == Wanted::share && !files.empty()) share(files.front().get(), request.bytes);
      files.clear();
      if (request.wanted == Wanted::run && !send_message(runs_, answer_of(run(request)))) return;
    }
  }

 private:
  void share(int file, std::uint64_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) return;
    memory_ = {static_cast<std::byte*>(at), bytes};
    device_.share({file, memory_});
  }

  Refusal run(const BackendRequest& request) {
    if (memory_.empty()) return {ROTA_ACCEL_NO_MEMORY, "the system gives the backend no memory"};
    Wish wish{runs_};
    return device_.run({request.header, request.plan, memory_.data() + request.buffer,
                        request.plan.scratch_bytes == 0 ? nullptr : memory_.data() + request.scratch, &Wish::is_gone,
                        &wish});
  }

  Device& device_;
  const int runs_;
  const int asks_;
  std::span<std::byte> memory_;
};

// The two sockets, with nothing in their places that a library could write to or read from.
process::Descriptor taken(int standard) {
  process::Descriptor moved(::fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const process::Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(nothing.get(), standard);
  return moved;
}

}  // namespace

int run_backend(const std::string& named) {
  // The container's own end is what ends it, not the signals that all processes of a service are sent.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const process::Descriptor runs = taken(STDIN_FILENO), asks = taken(STDOUT_FILENO);
  auto device = Device::open(named);
  if (!device) {
    send_message(runs.get(), answer_of({ROTA_ACCEL_BAD_TASK, device.error().message}));
    return 1;
  }
  std::string introduction = (*device)->name() + '\n';
  for (const std::string& operation : (*device)->operations()) introduction += operation + ' ';
  introduction.back() = '\n';
  if (!send_message(runs.get(), answer_of({ROTA_ACCEL_DONE, introduction + (*device)->description()}))) return 1;
  Server server(**device, runs.get(), asks.get());
  std::thread answers([&] { server.answer_questions(); });
  server.run_tasks();
  answers.join();
  return 0;
}

}  // namespace rota::accel
