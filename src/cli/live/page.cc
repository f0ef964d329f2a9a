// rota page: opens the service's page in a browser.
#include <fmt/core.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string>

#include "base/file.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/live/service_address.h"
#include "cli/printed.h"
#include "process/spawn.h"

namespace rota::cli {
namespace {

struct PageFlags {
  ServiceFlags service;
  bool operates = false, no_open = false;
};

bool has_display() {
  return !environment_variable("DISPLAY").empty() || !environment_variable("WAYLAND_DISPLAY").empty();
}

// A file that leads to the address, which only its user reads: the words of a process, the browser's too, all users of
// the computer may read. It stays there, as the code in it counts no longer than a minute.
Result<std::string> way_to(const std::string& address) {
  const std::string runtime = environment_variable("XDG_RUNTIME_DIR");
  if (runtime.empty()) return fail("XDG_RUNTIME_DIR names no folder of yours for the file that leads to it");
  const std::string folder = runtime + "/rota";
  ::mkdir(folder.c_str(), 0700);
  const mode_t before = ::umask(0077);
  auto file = OutputFile::create(folder + "/page.html");
  ::umask(before);
  if (!file) return std::unexpected(file.error());
  file->stream() << "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
                 << "<meta http-equiv=\"refresh\" content=\"0; url=" << address << "\"><title>Rota</title><p><a href=\""
                 << address << "\">The page of Rota</a></p>\n";
  TRY(file->commit());
  return folder + "/page.html";
}

// By $BROWSER, or what the desktop has for that.
Result<void> open(const std::string& address) {
  const auto way = TRY(way_to(address));
  const std::string named = environment_variable("BROWSER");
  const std::string program = named.empty() ? "xdg-open" : named.substr(0, named.find(':'));
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  process::Spawning what{.words = {program, way}, .files = {}, .searched = true, .apart = true};
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) what.files.emplace_back(nothing, stream);
  if (nothing >= 0 && process::spawn(what) > 0) return {};
  return fail("{} cannot be started ({}); xdg-open is in the Debian package xdg-utils, BROWSER names another program",
              shown_path(program), std::strerror(errno));
}

// What to type at home for an address of this computer that only this computer reaches; empty: any computer reaches it.
std::string way_by_ssh(const std::string& address) {
  const auto from = address.find("//") + 2;
  const std::string place = address.substr(from, address.find('/', from) - from);
  const std::string host = place.substr(0, place.rfind(':')), port = place.substr(place.rfind(':') + 1);
  if (!host.starts_with("127.") && host != "localhost" && host != "[::1]") return "";
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return fmt::format("ssh -L {}:{}:{} {}", port, host, port, name.data());
}

Result<int> page(const PageFlags& flags) {
  const auto answer = TRY(Service(flags.service).post("/v1/page-codes", {{"operator", flags.operates}}));
  if (flags.service.json) return printed(shown_json(answer));
  const std::string address = text_of(answer, "address");
  if (auto done = printed(address + "\n"); !done) return done;
  if (!has_display() && !environment_variable("SSH_CONNECTION").empty()) {
    if (const std::string way = way_by_ssh(address); !way.empty()) {
      remark(
          "rota: Only this computer reaches the address. At home, type this first, and then open it there within a "
          "minute:");
      remark(way);
    }
  }
  if (flags.no_open || !has_display() || ::isatty(STDOUT_FILENO) == 0) return kDone;
  if (auto opened = open(address); !opened)
    remark(fmt::format("rota: No browser is opened: {} Open the address yourself.", opened.error().message));
  return kDone;
}

}  // namespace

void add_page(Command app, Action& action) {
  auto flags = std::make_shared<PageFlags>();
  Command command = app.add_subcommand("page", "open the service's page in a browser");
  command.description(
      "Prints an address of the page that is good once and for a minute, and opens it where there is a display and a "
      "terminal. The page shows what `rota top` does, may do what its user may, and stays open for 12 hours.");
  command.add_flag("--operator", flags->operates, "the page may do what its user may as an operator");
  command.add_flag("--no-open", flags->no_open, "only print the address");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota page\n  rota page --no-open");
  command.callback([&action, flags] { action = [flags] { return page(*flags); }; });
}

}  // namespace rota::cli
