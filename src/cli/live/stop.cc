// rota stop: ends the service on this computer. Its jobs go on.
#include <fmt/core.h>

#include <poll.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/live/own_place.h"
#include "cli/live/service.h"
#include "cli/printed.h"
#include "process/descriptor.h"

namespace rota::cli {
namespace {

constexpr int kPatience = 60'000;  // milliseconds, in which a service ends that has been told to

std::string user_of(uid_t uid) {
  const passwd* user = ::getpwuid(uid);
  return user != nullptr ? user->pw_name : "user " + std::to_string(uid);
}

// Whether it is the process of a unit: systemd says so in its environment.
bool is_a_unit(pid_t pid) {
  constexpr std::size_t kMost = 16U << 20U;
  const std::string number = std::to_string(pid), word = "SYSTEMD_EXEC_PID=" + number;
  const auto environment = read_file(fmt::format("/proc/{}/environ", number), kMost);
  return environment && ('\0' + *environment).find('\0' + word + '\0') != std::string::npos;
}

// A service of its own systemd, not of the computer's, is stopped with this word.
const char* for_user(pid_t pid) {
  const auto group = read_file(fmt::format("/proc/{}/cgroup", pid), 4096);
  return group && group->find("/user@") != std::string::npos ? "--user " : "";
}

bool is_systemd(pid_t pid) {
  const auto name = read_file(fmt::format("/proc/{}/comm", pid), 64);
  return name && *name == "systemd\n";
}

// What runs and waits, for a user that may wonder what becomes of it.
std::string what_goes_on(const Json& status) {
  const auto running = static_cast<std::int64_t>(number_of(status, "running"));
  const auto waiting = static_cast<std::int64_t>(number_of(status, "waiting") + number_of(status, "held"));
  std::string out;
  if (running > 0) out += amount(running, "job") + (running == 1 ? " runs on" : " run on");
  if (waiting > 0) out += (out.empty() ? "" : ", ") + amount(waiting, "job") + (waiting == 1 ? " waits" : " wait");
  return out.empty() ? ""
                     : fmt::format("{}; the next service finds {}.\n", out, running + waiting == 1 ? "it" : "them");
}

Result<void> end(const process::Descriptor& process, const std::string& pid) {
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0U) != 0)
    return fail("The service, process {}, cannot be told to end: {}.", pid, std::strerror(errno));
  pollfd gone{process.get(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&gone, 1, kPatience);
  while (ready < 0 && errno == EINTR);
  if (ready > 0) return {};
  return fail("The service, process {}, was told to end and has not within a minute; look at its log.", pid);
}

Result<int> stop(const ServiceFlags& flags) {
  const Service service(flags);
  if (service.remote())
    return fail("A service is stopped on its own computer, and {} is asked over the network.", service.shown());
  const std::string at = service.shown();
  // Held before it is asked, so that the number cannot have become another process's.
  const auto listener = listener_at(service.socket());
  const process::Descriptor process(
      listener && listener->pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, listener->pid, 0)) : -1);
  const auto status = TRY(service.get("/v1/status"));
  if (!listener || !process)
    return fail("The service at {} is no process that is seen from here; end it where it runs.", at);
  const uid_t me = ::geteuid();
  if (me != 0 && me != listener->uid)
    return fail("The service at {} is run by {}, and stopped by that user or root only.", at, user_of(listener->uid));
  const bool handed_over = has_number(status, "pid") && number_of(status, "pid") != listener->pid;
  if (handed_over && !is_systemd(listener->pid))  // as in a container, which numbers its processes itself
    return fail("The service at {} is no process that is seen from here; end it where it runs.", at);
  if (handed_over || is_a_unit(listener->pid))
    return fail("The service at {} is run by systemd; `systemctl {}stop rota{}` stops it.", at, for_user(listener->pid),
                handed_over ? ".socket rota.service" : "");
  TRY(end(process, std::to_string(listener->pid)));
  return printed(fmt::format("Stopped the service at {}.\n{}", at, what_goes_on(status)));
}

}  // namespace

void add_stop(Command app, Action& action) {
  auto flags = std::make_shared<ServiceFlags>();
  Command command = app.add_subcommand("stop", "end the service on this computer; its jobs go on");
  command.description(
      "Returns once it has ended. Jobs that run go on, and are found by the next service with the "
      "same state, as are those that wait: `rota cancel all` beforehand ends them. Only the user who "
      "runs the service may stop it, and root; one under systemd is stopped by `systemctl stop rota`.");
  flags->declare(command);
  command.footer("Examples:\n  rota stop");
  command.callback([&action, flags] { action = [flags] { return stop(*flags); }; });
}

}  // namespace rota::cli
