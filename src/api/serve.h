// The whole service: `rota serve` in one call.
#pragma once

#include <functional>
#include <string>

#include "serve/service.h"

namespace rota::api {

struct ServeOptions {
  serve::ServiceOptions service;
  std::string socket;                           // path
  std::function<void(const std::string&)> say;  // a line about what goes on
  std::function<void()> ready = [] {};          // called once it answers
};

// Answers at the socket until SIGTERM or SIGINT comes or the service cannot go on; then an error says why. Jobs that
// run go on in either case, and are found again. Tells systemd when it is ready (NOTIFY_SOCKET) and takes a socket from
// it (LISTEN_FDS).
Result<void> serve_until_stopped(const ServeOptions& options);

}  // namespace rota::api
