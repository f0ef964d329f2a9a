#include "engine/local/supervisor.h"

#include <fcntl.h>
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
#include <string>
#include <utility>

#include "base/open_files.h"
#include "engine/local/cgroups.h"
#include "engine/local/descriptor.h"
#include "engine/local/file_reader.h"
#include "engine/local/processes.h"
#include "engine/local/record.h"
#include "engine/local/record_holder.h"
#include "engine/local/supervisor_process.h"
#include "engine/local/words.h"

namespace rota::local {
namespace {

constexpr int kSocket = 3;

// There is one for a folder at a time: what an earlier one was told to start is started, or never will be, once this
// returns. One that hangs is killed.
bool lock(int file) {
  constexpr int kPatience = 500;  // looks
  constexpr int kLookMilliseconds = 10;
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  for (int look = 0; ::fcntl(file, F_SETLK, &whole) != 0; ++look) {
    if (errno != EAGAIN && errno != EACCES) return false;
    if (look % kPatience == kPatience - 1) {
      struct flock holder = whole;
      if (::fcntl(file, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK) ::kill(holder.l_pid, SIGKILL);
    }
    ::poll(nullptr, 0, kLookMilliseconds);
  }
  return true;
}

// Which files of the service came along is of no interest here.
void leave_files() {
  ::dup2(0, kSocket);
  ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  ::syscall(SYS_close_range, kSocket + 1U, ~0U, 0U);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(nothing, standard);
  ::close(nothing);
}

// Which groups somebody is in is asked anew for each job, by the job's own process. What is loaded to ask is loaded
// here, once, and every child has it.
void load_what_knows_groups() {
  std::array<gid_t, 64> groups{};
  auto most = static_cast<int>(groups.size());
  ::getgrouplist("root", 0, groups.data(), &most);
}

class Spawner {
 public:
  explicit Spawner(const char* folder) : folder_(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  int run() {
    if (!folder_ || ::fchdir(folder_.get()) != 0) return 1;
    lock_.reset(::openat(folder_.get(), "spawner.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_ || !lock(lock_.get()) || !send_whole(kSocket, "ready\n")) return 1;
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
    if (order.kind == Order::Kind::remove) return remove(order.name);
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

  // The record is the claim: whoever makes it starts the job, and nobody else ever does.
  void start(Order order, Descriptor connection) {
    Descriptor record(
        ::openat(folder_.get(), order.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (!record) {
      if (errno != EEXIST) refuse(order, connection, "Its record cannot be made");
      return;  // it was started before: the service looks at what has become of it
    }
    Descriptor listener = listen_at(order.claim.socket);
    const int error = listener ? add_line(record.get(), in_words(order.claim)) : errno;
    const pid_t child = error == 0 ? ::fork() : -1;
    if (child == 0) {
      leave();
      SupervisorProcess supervisor(std::move(order), std::move(record), std::move(listener), std::move(connection));
      ::_exit(supervisor.run());
    }
    if (child > 0) return;
    if (error != 0) errno = error;
    refuse(order, connection, "No supervisor can be made for it");
    remove(order.name);
  }

  int bury_run(const Order& order, Descriptor connection) {
    const RunRecord& claim = order.claim;
    const std::string mark = mark_of(order.engine_folder, order.name);
    const Descriptor holder = kill_holder(folder_.get(), order.name);
    wait_until_gone({&holder, 1});
    RunRecord end = claim;
    if (!end_leftovers({.pid = claim.pid, .began = claim.began}, mark, claim.cgroups)) {
      end.sentence = "Processes of the job could not be ended after its supervisor was killed; look for " + mark +
                     " in their environment.";
    }
    remove_cgroups(claim.cgroups);
    end.phase = Phase::ended;
    end.lost = true;
    const Descriptor record(::openat(folder_.get(), order.name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const std::string line = in_words(end);
    if (record) add_line(record.get(), line);
    send_whole(connection.get(), line);
    return 0;
  }

  // A child is no spawner: the service must hear when this one ends.
  void leave() {
    ::close(kSocket);
    connections_.clear();
    lock_.reset();
  }

  void remove(const std::string& name) {
    ::unlinkat(folder_.get(), name.c_str(), 0);
    ::unlinkat(folder_.get(), script_name(name).c_str(), 0);
    ::unlinkat(folder_.get(), node_file_name(name).c_str(), 0);
  }

  static void refuse(const Order& order, const Descriptor& connection, const char* what) {
    RunRecord end = order.claim;
    end.phase = Phase::failed;
    end.again = true;
    end.sentence = std::string("The job could not be started. ") + what + ": " + std::strerror(errno) + ".";
    send_whole(connection.get(), in_words(end));
  }

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
    constexpr std::string_view kSpared = "-500";  // rather a job than who looks after it; only root may say so
    static_cast<void>(!::write(file.get(), kSpared.data(), kSpared.size()));
  }
  return Spawner(arguments.front()).run();
}

}  // namespace rota::local
