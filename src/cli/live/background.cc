#include "cli/live/background.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/live/own_place.h"
#include "cli/printed.h"
#include "process/descriptor.h"
#include "serve/state_folder.h"

namespace rota::cli {
namespace {

using process::Descriptor;

constexpr const char* kTells = "ROTA_TELLS";  // to the service: its starter waits at kTellsAt
constexpr int kTellsAt = 3;
constexpr std::string_view kReady = "+";
constexpr off_t kLongLog = 1 << 20;

// What a service may need of the environment of its first caller; all else is that caller's business.
constexpr std::array<const char*, 13> kKept{"SLURM_CONF",    "PATH", "HOME",   "USER",   "LOGNAME", "SHELL",
                                            "LANG",          "TZ",   "TMPDIR", "LC_ALL", "TZDIR",   "XDG_RUNTIME_DIR",
                                            "XDG_STATE_HOME"};

std::vector<std::string> kept_environment() {
  std::vector<std::string> all{std::string(kTells) + "=1"};
  for (const char* name : kKept) {
    if (const char* value = std::getenv(name)) all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// By its real name, which is what lists of processes show.
std::string this_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  std::string name(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return !name.empty() && ::access(name.c_str(), X_OK) == 0 ? name : "/proc/self/exe";
}

std::vector<std::string> command_line(const ServeWords& words) {
  std::vector<std::string> all{"rota", "serve", "--state", words.state, "--socket", words.socket};
  if (!words.configuration.empty()) all.insert(all.end(), {"--config", words.configuration});
  if (!words.policy.empty()) all.insert(all.end(), {"--policy", words.policy});
  if (words.engine != "local") all.insert(all.end(), {"--engine", words.engine});
  return all;
}

// In the new process: nothing of its caller is left, and it becomes the service.
[[noreturn]] void become(const std::string& program, std::vector<std::string> words, int log, int tells) {
  std::vector<std::string> variables = kept_environment();
  ::setsid();
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(022);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (::chdir("/") == 0 && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(nothing, STDOUT_FILENO) >= 0 &&
      ::dup2(log, STDERR_FILENO) >= 0 && ::dup2(tells, kTellsAt) >= 0) {
    ::close_range(kTellsAt + 1, ~0U, 0);
    ::execve(program.c_str(), pointers(words).data(), pointers(variables).data());
  }
  const std::string why = fmt::format("{} cannot be run: {}.", program, std::strerror(errno));
  process::send_whole(tells, why);
  ::_exit(1);
}

std::unexpected<Error> cannot(const char* what, const std::string& path) {
  return fail("{} {}: {}. See who may write there, or name another folder with `rota serve --background --state`.",
              what, shown_path(path), std::strerror(errno));
}

// Out of the way of the three standard files and of kTellsAt.
Descriptor high(int file) {
  constexpr int kHigh = 10;
  const Descriptor low(file);
  return Descriptor(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, kHigh) : -1);
}

Result<void> start_alone(const ServeWords& words) {
  const std::string log = log_of(words.state);
  const Descriptor told = high(::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!told) return cannot("The log of a service cannot be opened,", log);
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("A service cannot be waited for: {}.", std::strerror(errno));
  const Descriptor reads = high(ends[0]);
  Descriptor writes = high(ends[1]);
  if (!reads || !writes) return fail("A service cannot be waited for: {}.", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) return fail("A service cannot be started: {}.", std::strerror(errno));
  if (child == 0) become(this_program(), command_line(words), told.get(), writes.get());
  writes.reset();
  const std::string said = process::read_all(reads.get());
  if (said == kReady) return {};
  ::waitpid(child, nullptr, 0);  // so that nothing of it is left
  return fail(said.empty() ? fmt::format("The service ended before it answered; {} has what it said.", shown_path(log))
                           : said);
}

// The state in a folder that is made, with each on the way, so that no other user may read it.
Result<std::string> below(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    const int why = ::mkdir(part.c_str(), 0700) == 0 ? 0 : errno;
    if (why != 0 && ::access(part.c_str(), F_OK) != 0)
      return fail(
          "the folder {} cannot be made: {}. Set HOME or XDG_STATE_HOME to where you may write, or name a folder for "
          "the state with `rota serve --background --state`.",
          shown_path(part), std::strerror(why));
    if (end == std::string::npos) return folder + "/rota";
  }
}

// For root, and where it is not wished, Service says what to do instead.
bool is_this_commands_to_start(const OwnPlace& here) { return here.user != 0 && may_start() && !machine_has_service(); }

}  // namespace

Result<std::string> default_state() {
  if (::geteuid() == 0) return std::string("/var/lib/rota");
  const char* base = std::getenv("XDG_STATE_HOME");
  if (base && *base == '/') return below(base);
  const char* home = std::getenv("HOME");
  const passwd* user = home && *home == '/' ? nullptr : ::getpwuid(::geteuid());
  if (user != nullptr) home = user->pw_dir;
  if (!home || *home != '/')
    return fail(
        "neither HOME nor the list of users says where your files are; name a folder for the state with "
        "`rota serve --background --state`.");
  return below(std::string(home) + "/.local/state");
}

std::string log_of(const std::string& state) { return state + "/service.log"; }

bool is_new(const std::string& state) { return ::access((state + "/rota.db").c_str(), F_OK) != 0; }

std::string short_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  const std::string base = home == nullptr || *home != '/' ? "" : std::string(home) + "/";
  return shown_path(base.size() > 1 && path.starts_with(base) ? "~/" + path.substr(base.size()) : path);
}

Result<bool> start_in_background(const ServeWords& words) {
  TRY(serve::make_folder(words.state));
  const std::string path = words.state + "/start.lock";
  const Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return cannot("Cannot lock", path);
  if (listener_at(words.socket)) return false;
  TRY(start_alone(words));
  return true;
}

Result<void> have_service(const AddressFlags& flags) {
  const auto address = TRY(service_address(flags));
  const OwnPlace here = own_place();
  const bool named = address.remote() || !named_socket(flags.socket).empty();
  if (named || address.socket == kMachineSocket || !is_this_commands_to_start(here)) return {};
  if (listener_at(address.socket)) return {};
  ServeWords words;
  auto socket = TRY(own_socket_to_listen(here));
  auto state = TRY(default_state());
  words.socket = socket;
  words.state = state;
  const auto started = start_in_background(words);
  const auto anew = service_address(flags);  // another one may just have been started by hand
  if (!started && anew && listener_at(anew->socket)) return {};
  if (!started)
    return fail("Your service does not answer at {}, and none could be started: {}", shown_path(words.socket),
                started.error().message);
  if (*started)
    remark(fmt::format("rota: started a service for you (state {}, log {}); `rota stop` ends it.",
                       short_path(words.state), short_path(log_of(words.state))));
  return {};
}

Starter::Starter() {
  any_ = std::getenv(kTells) != nullptr;
  ::unsetenv(kTells);
  if (any_ && ::fcntl(kTellsAt, F_SETFD, FD_CLOEXEC) == 0) socket_.reset(kTellsAt);
}

void Starter::tell_ready() { tell(std::string(kReady)); }
void Starter::tell_failure(const std::string& sentence) { tell(sentence); }

// The starter may be gone.
void Starter::tell(const std::string& text) {
  if (socket_) process::send_whole(socket_.get(), text);
  socket_.reset();
}

void bound_log(const std::string& log) {
  struct stat found{};
  if (::fstat(STDERR_FILENO, &found) != 0 || found.st_size < kLongLog) return;
  if (::rename(log.c_str(), (log + ".1").c_str()) != 0) return;
  const Descriptor anew(::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (anew) ::dup2(anew.get(), STDERR_FILENO);
}

}  // namespace rota::cli
