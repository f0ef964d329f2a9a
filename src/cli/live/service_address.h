// Where a service is, and as which user it is asked: its Unix socket, where the kernel names the user, or a URL with a
// token.
#pragma once

#include <string>

#include "base/result.h"

namespace rota::cli {

struct ServiceAddress {
  std::string socket;  // empty: it is asked by TCP
  std::string host;
  std::string port;
  bool tls = false;
  std::string token;
  std::string ca_file;  // authorities to trust beside those that this computer trusts; empty: none

  bool remote() const { return socket.empty(); }
  std::string shown() const;  // "/run/rota/socket", "https://box:8443"
};

// What the command line says of it; empty: it does not.
struct AddressFlags {
  std::string socket;
  std::string url;
  std::string token_file;
  std::string ca_file;
};

// --url, or --socket, or ROTA_URL, or ROTA_SOCKET. Where none of them is given: this user's own socket where one
// answers (own_place.h), else the computer's where it is there, else the user's own all the same. The token is in the
// file of --token-file, else in ROTA_TOKEN or in the file that ROTA_TOKEN_FILE names. Fails with a sentence.
Result<ServiceAddress> service_address(const AddressFlags& flags);

// The socket that --socket names, or else ROTA_SOCKET; empty: neither does.
std::string named_socket(const std::string& given);

// Whether a variable of the environment is for this alone, and is handed to no job: a token is only for Rota.
bool is_of_address(std::string_view variable);

// Empty for one that is not set.
std::string environment_variable(const char* name);

}  // namespace rota::cli
