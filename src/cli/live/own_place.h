// Where a user's own service is, where nothing names one. Commands and `rota serve` go by this list alone, so that they
// find each other, also where only one of them knows XDG_RUNTIME_DIR (as with `su`, cron and in containers).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace rota::cli {

inline constexpr const char* kMachineSocket = "/run/rota/socket";            // of root's service, for all users
inline constexpr const char* kMachineConfiguration = "/etc/rota/rota.toml";  // a computer with it has a service

struct OwnPlace {
  uid_t user = 0;
  std::string runtime_folder;  // XDG_RUNTIME_DIR; empty: there is none
  std::string run_users = "/run/user";
  std::string temporary = "/tmp";
};
OwnPlace own_place();  // those of this process

// The sockets at which a service of this user's own may answer; a new one listens at the first. Never empty.
// rota/socket in XDG_RUNTIME_DIR and in /run/user/UID, as far as these are folders of the user's; /tmp/rota-UID/socket.
// For root, kMachineSocket alone.
std::vector<std::string> own_sockets(const OwnPlace& at);

// The folder of a socket in /tmp has to be this user's alone, since any user can make one there: else fails with a
// sentence. All others are fine, and so is one that is not there yet.
Result<void> check_own_folder(const OwnPlace& at, const std::string& socket);

// The socket at which a service listens that is told none; its folder is made.
Result<std::string> own_socket_to_listen(const OwnPlace& at);

// The process that listens at a socket; nothing where none does.
std::optional<ucred> listener_at(const std::string& socket);

// Whether a command asks this socket without being told to.
bool is_usual_socket(const std::string& socket);

// What to do where no service answers there; the end of a sentence.
std::string how_to_start(const OwnPlace& at);

// Whether this computer has a service of its own, running or not.
bool machine_has_service();
// Whether commands may start one: unless ROTA_START=no.
bool may_start();

}  // namespace rota::cli
