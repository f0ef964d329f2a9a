// What the commands of `rota accel` share: where a container is, and a client of it.
#pragma once

#include <memory>
#include <string>

#include "accel/client/client_abi.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/live/service.h"

namespace rota::cli {

struct CloseAccelClient {
  void operator()(rota_accel_client* client) const { rota_accel_close(client); }
};
using AccelClient = std::unique_ptr<rota_accel_client, CloseAccelClient>;

// Which container a command asks: --at, else ROTA_ACCEL, else the socket at which one of this user's own listens.
struct AccelFlags {
  std::string at;
  std::string token_file;
  std::int64_t patience = 10;  // seconds until it is said that no container answers

  void declare(Command command);
  Result<AccelClient> open() const;
};

// The socket at which `rota accel serve` listens where it is told no address; its folder is made.
Result<std::string> accel_socket_to_listen();
// What a container and its clients share: one line of 16 bytes or more.
Result<std::string> read_accel_token(const std::string& path);

// What the service knows of containers, printed.
Result<int> list_containers(const ServiceFlags& flags);

void add_accel_serve(Command group, Action& action);
void add_accel_run(Command group, Action& action);

}  // namespace rota::cli
