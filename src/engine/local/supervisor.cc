#include "engine/local/supervisor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/open_files.h"
#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/claim.h"
#include "engine/local/file_reader.h"
#include "engine/local/processes.h"
#include "engine/local/record.h"
#include "engine/local/record_holder.h"
#include "engine/local/spare_lock.h"
#include "engine/local/spare_supervisor.h"
#include "process/descriptor.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;
using process::receive;
using process::send_whole;
using process::take_line;

namespace {

constexpr int kSocket = 3;

// Which files of the service came along is of no interest here.
void leave_files() {
  ::dup2(0, kSocket);
  ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  ::syscall(SYS_close_range, kSocket + 1U, ~0U, 0U);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(nothing, standard);
  ::close(nothing);
}

// Which groups a user is in is asked anew for each job, by the job's own process. What is loaded to ask is loaded here,
// once, and every child has it.
void load_what_knows_groups() {
  std::array<gid_t, 64> groups{};
  auto most = static_cast<int>(groups.size());
  ::getgrouplist("root", 0, groups.data(), &most);
}

// There is one for a folder at a time: what one of an earlier life of the service, or a supervisor that waited for an
// order of it, was told to start is started, or never will be, once this one is ready.
class Spawner {
 public:
  Spawner(const char* folder, bool first)
      : first_(first), folder_(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  int run() {
    if (!folder_ || ::fchdir(folder_.get()) != 0) return 1;
    lock_.reset(::openat(folder_.get(), "spawner.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_ || !lock_alone(lock_.get())) return 1;
    if (first_ && !wait_for_spares_to_end(folder_.get())) return 1;
    if (!send_whole(kSocket, "ready\n")) return 1;
    if (::geteuid() == 0) load_what_knows_groups();
    std::string line;
    std::size_t looked_at = 0;
    while (receive(kSocket, text_, connections_)) {
      // A script of many megabytes comes in many pieces, and what was looked through is not looked through again.
      const bool whole_lines = text_.find('\n', looked_at) != std::string::npos;
      while (whole_lines && take_line(text_, line)) {
        Order order;
        read_words(line, order);
        carry_out(std::move(order));
      }
      looked_at = text_.size();
    }
    return 0;
  }

 private:
  void carry_out(Order order) {
    if (order.kind == Order::Kind::remove) return remove_run(folder_.get(), order.name);
    if (connections_.empty()) return;
    Descriptor connection = std::move(connections_.front());
    connections_.pop_front();
    if (order.kind == Order::Kind::start) return start(std::move(order), std::move(connection));
    const pid_t spawner = ::getpid();
    if (::fork() != 0) return;
    leave();
    ::_exit(order.kind == Order::Kind::read ? give_piece(order, connection, spawner)
                                            : bury_run(order, std::move(connection)));
  }

  void start(Order order, Descriptor connection) {
    std::optional<Claim> claim = claim_run(folder_.get(), order, connection);
    if (!claim) return;
    const pid_t child = ::fork();
    if (child == 0) {
      leave();
      look_after(folder_.get(), std::move(order), *std::move(claim), std::move(connection));
    }
    if (child < 0) give_up_claim(folder_.get(), order, connection);
  }

  int bury_run(const Order& order, Descriptor connection) {
    const RunRecord& claim = order.claim;
    const std::string mark = mark_of(order.engine_folder, order.name);
    const Descriptor holder = kill_holder(folder_.get(), order.name);
    wait_until_gone({&holder, 1});
    RunRecord end = claim;
    bool told = false;
    while (!end_leftovers({.pid = claim.pid, .began = claim.began, .owner = claim.owner}, mark, claim.cgroups)) {
      if (!std::exchange(told, true)) {
        RunRecord lasts = claim;
        lasts.sentence = fmt::format(
            "Processes of the job cannot be ended after its supervisor was killed; look for {} in their environment.",
            mark);
        send_whole(connection.get(), in_words(lasts));
      }
      if (!wait_for_another_try(connection)) return 0;
    }
    remove_cgroups(claim.cgroups);
    end.phase = RunPhase::ended;
    end.lost = true;
    const Descriptor record(::openat(folder_.get(), order.name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const std::string line = in_words(end);
    if (record) add_line(record.get(), "\n" + line);
    send_whole(connection.get(), line);
    return 0;
  }

  // False: the service is gone, and the next one sees to it.
  static bool wait_for_another_try(const Descriptor& connection) {
    constexpr int kTryMilliseconds = 10'000;
    pollfd service{connection.get(), POLLRDHUP, 0};
    return ::poll(&service, 1, kTryMilliseconds) <= 0;
  }

  // A child is no spawner: the service must hear when this one ends.
  void leave() {
    ::close(kSocket);
    connections_.clear();
    lock_.reset();
  }

  bool first_;  // of this life of the service
  Descriptor folder_;
  Descriptor lock_;
  std::string text_;                    // read so far
  std::deque<Descriptor> connections_;  // that came with orders, in their order
};

}  // namespace

int supervise(std::span<char*> arguments) {
  if (arguments.empty()) return 2;
  ::setsid();  // what a terminal sends to the service is not for it
  leave_files();
  raise_open_files();
  std::signal(SIGCHLD, SIG_IGN);  // the system forgets them by itself
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGCHLD) std::signal(number, SIG_DFL);
  }
  std::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "rota-spawner", 0, 0, 0);
  ::umask(066);
  if (const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); file) {
    constexpr std::string_view kSpared = "-500";  // rather a job than what looks after it; only root may say so
    static_cast<void>(!::write(file.get(), kSpared.data(), kSpared.size()));
  }
  const bool first = arguments.size() < 2 || arguments[1] != kWithinLife;
  return Spawner(arguments.front(), first).run();
}

}  // namespace rota::local
