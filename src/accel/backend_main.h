// The other side of accel/backend_process.h: what the process of a backend does. It ends with its container.
#pragma once

#include <string>

namespace rota::accel {

// Opens the backend (as in Device::open()) and serves it over the sockets that are standard input and output. Gives the
// exit code once the container has closed them.
int run_backend(const std::string& named);

}  // namespace rota::accel
