#include "cli/live/own_place.h"

#include <fmt/core.h>

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "process/descriptor.h"

namespace rota::cli {
namespace {

constexpr const char* kBelow = "/rota/socket";  // a folder for what runs

std::string folder_in_temporary(const OwnPlace& at) { return fmt::format("{}/rota-{}", at.temporary, at.user); }

bool is_folder_of(const std::string& path, uid_t user) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == user;
}

}  // namespace

OwnPlace own_place() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  return {.user = ::geteuid(), .runtime_folder = folder == nullptr ? "" : folder};
}

std::vector<std::string> own_sockets(const OwnPlace& at) {
  if (at.user == 0) return {kMachineSocket};
  std::vector<std::string> all;
  for (const std::string& folder : {at.runtime_folder, fmt::format("{}/{}", at.run_users, at.user)}) {
    const std::string socket = folder + kBelow;
    if (folder.starts_with('/') && is_folder_of(folder, at.user) && std::ranges::find(all, socket) == all.end())
      all.push_back(socket);
  }
  all.push_back(folder_in_temporary(at) + "/socket");
  return all;
}

Result<void> check_own_folder(const OwnPlace& at, const std::string& socket) {
  const std::string folder = folder_in_temporary(at);
  struct stat found{};
  if (at.user == 0 || socket != folder + "/socket" || ::lstat(folder.c_str(), &found) != 0) return {};
  if (!S_ISDIR(found.st_mode) || found.st_uid != at.user)
    return fail(shown_path(folder) +
                ", where your service would answer, is not your folder; have it removed (root can), or "
                "keep a socket elsewhere: `export ROTA_SOCKET=~/rota.socket; rota serve --background`.");
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(
        "{}, where your service would answer, is open to others; close it with `chmod 700 {}`, or name a socket "
        "elsewhere with --socket or ROTA_SOCKET.",
        shown_path(folder), folder);
  return {};
}

Result<std::string> own_socket_to_listen(const OwnPlace& at) {
  const std::string socket = own_sockets(at).front();
  const std::string folder = socket.substr(0, socket.rfind('/'));
  if (::mkdir(folder.c_str(), at.user == 0 ? 0755 : 0700) != 0 && errno != EEXIST)
    return fail("the folder {} cannot be made: {}. Name a socket elsewhere with --socket.", shown_path(folder),
                std::strerror(errno));
  TRY(check_own_folder(at, socket));
  return socket;
}

std::optional<ucred> listener_at(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
  const process::Descriptor asks(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!asks || ::connect(asks.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(asks.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

bool is_usual_socket(const std::string& socket) {
  const std::vector<std::string> own = own_sockets(own_place());
  return socket == kMachineSocket || std::ranges::find(own, socket) != own.end();
}

std::string how_to_start(const OwnPlace& at) {
  if (machine_has_service())
    return fmt::format("{}{} describes, is started by root with `systemctl start rota`.",
                       std::string("; this computer's service, which "), kMachineConfiguration);
  if (at.user == 0 || !may_start())
    return "; start one with `rota serve`, or name another with --socket or ROTA_SOCKET.";
  return "; `rota submit` starts one for you, and so does `rota serve --background`. Another is named by --socket or "
         "ROTA_SOCKET.";
}

bool machine_has_service() { return ::access(kMachineConfiguration, F_OK) == 0; }

bool may_start() {
  const char* start = std::getenv("ROTA_START");
  return start == nullptr || std::string_view(start) != "no";
}

}  // namespace rota::cli
