#include "engine/local/job_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/open_files.h"
#include "base/text.h"
#include "engine/local/become_user.h"
#include "engine/local/cgroups.h"
#include "engine/local/processes.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;
using process::look_at;

namespace {

using Step = LaunchError::Step;

class Becoming {
 public:
  Becoming(const Order& order, int report, const JobStreams& streams)
      : order_(order), run_(order.run), report_(report), streams_(streams) {}

  [[noreturn]] void fail(Step step) const {
    if (!tell({step, errno})) ::_exit(126);
    ::_exit(127);
  }

  // So that a service that finds the record can find the process.
  void write_down(int record_file) const {
    const auto self = look_at(::getpid());
    const std::string line = fmt::format("pid={} began={}\n", ::getpid(), self ? self->began : 0);
    if (const int error = add_line(record_file, line); error != 0) {
      errno = error;
      fail(Step::setup);
    }
  }

  void take_place() const {
    ::setsid();
    for (const std::string& cgroup : order_.claim.cgroups) {
      if (!join_cgroup(cgroup)) fail(Step::setup);
    }
    if (!order_.claim.cores.empty()) {
      cpu_set_t cores;
      CPU_ZERO(&cores);
      for (const std::uint32_t core : order_.claim.cores) CPU_SET(core, &cores);
      if (::sched_setaffinity(0, sizeof(cores), &cores) != 0) fail(Step::setup);
    }
    // The supervisor may be spared when memory runs out; its job is not.
    if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
      if (::write(file, "0", 1) < 0) errno = 0;
      ::close(file);
    }
    ::umask(run_.umask);
    restore_open_files();
  }

  void take_rights() const {
    if (!become_user(run_)) fail(Step::user);
  }

  void open_files() const {
    tell({Step::folder});
    if (::chdir(run_.folder.c_str()) != 0) fail(Step::folder);
    const int how = O_WRONLY | O_CREAT | O_NOCTTY | (run_.append ? O_APPEND : O_TRUNC);
    if (streams_.input) {
      make_standard(streams_.input, 0, Step::input);
    } else {
      open_as(0, run_.input, O_RDONLY | O_NOCTTY, Step::input);
    }
    if (streams_.output) {
      make_standard(streams_.output, 1, Step::output);
    } else {
      open_as(1, run_.output, how, Step::output);
    }
    if (streams_.terminal && ::ioctl(0, TIOCSCTTY, 0) != 0) fail(Step::input);
    if (streams_.error) {
      make_standard(streams_.error, 2, Step::error);
    } else if (run_.error.empty() || is_output(run_.error)) {
      if (::dup2(1, 2) < 0) fail(Step::error);
    } else {
      open_as(2, run_.error, how, Step::error);
    }
    ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  }

  // By whatever name: two that write from the beginning of one file would write over each other.
  bool is_output(const std::string& path) const {
    struct stat output = {}, other = {};
    if (path == run_.output) return true;
    return ::fstat(1, &output) == 0 && ::stat(path.c_str(), &other) == 0 && S_ISREG(other.st_mode) &&
           output.st_dev == other.st_dev && output.st_ino == other.st_ino;
  }

  [[noreturn]] void execute() const {
    tell({Step::program});
    std::vector<std::string> words = run_.command;
    if (!run_.script.empty()) {
      words.insert(words.begin(), fmt::format("{}/{}", order_.engine_folder, script_name(order_.name)));
    }
    std::vector<std::string> settings = order_.environment;  // of two values of a name programs see the first
    if (!run_.node_file.empty())
      settings.push_back(fmt::format("PBS_NODEFILE={}/{}", order_.engine_folder, node_file_name(order_.name)));
    if (run_.slurms) settings.push_back("SLURM_TASK_PID=" + std::to_string(::getpid()));
    const std::size_t own = settings.size();
    for (const std::string& text : run_.environment) {
      const auto name = text.substr(0, text.find('=') + 1);
      const auto same = [&](const std::string& other) { return other.starts_with(name); };
      if (std::none_of(settings.begin(), settings.begin() + static_cast<std::ptrdiff_t>(own), same))
        settings.push_back(text);
    }
    std::vector<char*> arguments = pointers(words);
    std::vector<char*> environment = pointers(settings);
    environ = environment.data();
    if (words.empty()) {
      errno = EINVAL;
    } else {
      ::execvp(arguments[0], arguments.data());
    }
    fail(Step::program);
  }

 private:
  bool tell(const LaunchError& how_far) const { return ::write(report_, &how_far, sizeof(how_far)) >= 0; }

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  void make_standard(const Descriptor& stream, int number, Step step) const {
    if (::dup2(stream.get(), number) < 0) fail(step);
  }

  // The supervisor, which waits for the start, is told what may take long.
  void open_as(int number, const std::string& path, int how, Step step) const {
    if (!path.empty()) {
      tell({step});
      struct stat there{};
      if (::stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode)) tell({step, 0, true});
    }
    const int file = ::open(path.empty() ? "/dev/null" : path.c_str(), how | O_CLOEXEC, 0666);
    if (file < 0 || ::dup2(file, number) < 0) fail(step);
    ::close(file);
  }

  const Order& order_;
  const RunRequest& run_;
  int report_;
  const JobStreams& streams_;
};

void take_back_signals() {
  for (const int number : kIgnoredSignals) std::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Where a script's first line names a program, it is that which is not there.
std::string program_of(const RunRequest& run) {
  if (run.script.starts_with("#!"))
    return fmt::format("the script, whose first line is {},",
                       quoted(std::string_view(run.script).substr(0, run.script.find('\n'))));
  if (!run.script.empty()) return "the script";
  return run.command.empty() ? std::string("an empty command") : quoted(run.command.front());
}

}  // namespace

void become_job(const Order& order, int record_file, int report, pid_t parent, const JobStreams& streams) {
  // If the supervisor is killed, no process can wait for this one any more.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(127);
  const Becoming becoming(order, report, streams);
  becoming.write_down(record_file);
  take_back_signals();
  becoming.take_place();
  becoming.take_rights();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // another user's process begins without
  if (::getppid() != parent) ::_exit(127);
  becoming.open_files();
  becoming.execute();
}

void become_checkpoint(const Order& job, pid_t main, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(127);
  Order order = job;
  order.run.command = {"/bin/sh", "-c", job.run.checkpoint};
  order.run.script.clear();
  order.run.input.clear();
  order.run.append = true;
  order.environment.push_back("ROTA_JOB_PID=" + std::to_string(main));
  const JobStreams files;
  const Becoming becoming(order, -1, files);
  take_back_signals();
  becoming.take_place();
  becoming.take_rights();
  becoming.open_files();
  becoming.execute();
}

process::Descriptor LaunchReport::open() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  pipe_.reset(ends[0]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return process::Descriptor(ends[1]);
}

bool LaunchReport::read() {
  const bool goes_on = process::read_more(pipe_.get(), text_);
  for (; text_.size() >= sizeof(LaunchError); text_.erase(0, sizeof(LaunchError))) {
    if (error_.error == 0) std::memcpy(&error_, text_.data(), sizeof(LaunchError));
  }
  if (!goes_on) pipe_.reset();
  return goes_on;
}

std::string launch_sentence(const LaunchError& error, const RunRequest& run) {
  const std::string why = error.error != LaunchError::kLate ? std::strerror(error.error)
                          : error.pipe ? "it is a pipe, and no process has opened its other end in time"
                                       : "it takes too long";
  const std::string reason = fmt::format(": {}.", why);
  switch (error.step) {
    case Step::setup:
      return "The job's process could not be set up" + reason;
    case Step::user:
      return fmt::format("The service could not become the user with id {}{} It takes root to run the jobs of others.",
                         run.uid, reason);
    case Step::folder:
      return fmt::format("The job's working directory {} cannot be entered{}", quoted(run.folder), reason);
    case Step::input:
      return fmt::format("The job's input {} cannot be opened{}", quoted(run.input), reason);
    case Step::output:
      return fmt::format("The job's output {} cannot be opened{}", quoted(run.output), reason);
    case Step::error:
      return fmt::format("The job's error output {} cannot be opened{}", quoted(run.error), reason);
    case Step::program:
      break;
  }
  return fmt::format("The job cannot be executed, as {} cannot be started{}", program_of(run), reason);
}

// What lacks now may be there later; a path that is wrong stays wrong.
bool another_try_helps(const LaunchError& error) {
  switch (error.error) {
    case LaunchError::kLate:
      return !error.pipe;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EIO:
    case ESTALE:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case ETXTBSY:
    case ENOSPC:
    case EDQUOT:
      return true;
    default:
      return error.step == Step::setup;
  }
}

}  // namespace rota::local
