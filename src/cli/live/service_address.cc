#include "cli/live/service_address.h"

#include <fmt/core.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/live/own_place.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

constexpr std::size_t kLongestToken = 4096;

std::unexpected<Error> no_url(const std::string& url) {
  return fail(rota::quoted(url) + " is no address of a service; write it as https://HOST:PORT.");
}

bool is_this_computer(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<void> read_url(const std::string& url, ServiceAddress& into) {
  std::string_view rest = url;
  into.tls = rest.starts_with("https://");
  if (!into.tls && !rest.starts_with("http://")) return no_url(url);
  rest.remove_prefix(into.tls ? 8 : 7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto bracket = rest.starts_with('[') ? rest.find(']') : std::string_view::npos;
  const auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = rest.substr(0, colon);
  if (bracket != std::string_view::npos) host = host.substr(1, host.size() - 2);
  into.host = std::string(host);
  into.port = colon == std::string_view::npos ? (into.tls ? "443" : "80") : std::string(rest.substr(colon + 1));
  const auto port = parse_integer(into.port);
  const bool odd = std::ranges::any_of(into.host, [](char c) { return c <= ' ' || c == '/' || c == '@' || c == 127; });
  if (into.host.empty() || odd || !port || *port < 1 || *port > 65535) return no_url(url);
  if (!into.tls && !is_this_computer(into.host))
    return fail("With http:// others on the network could read the token on its way to {}; write https://{}:{}.",
                into.host, into.host, into.port);
  return {};
}

Result<std::string> token_of(const AddressFlags& flags) {
  std::string text = environment_variable("ROTA_TOKEN");
  std::string file = flags.token_file;
  if (file.empty() && text.empty()) file = environment_variable("ROTA_TOKEN_FILE");
  if (!file.empty()) {
    auto read = TRY(read_file(file, kLongestToken));
    text = std::move(read);
    struct stat found{};
    if (::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & (S_IRGRP | S_IROTH)) != 0)
      remark(fmt::format(
          "rota: {} can be read by others, who could do with the token in it what you may; `chmod 600` closes it.",
          shown_path(file)));
  }
  text = std::string(trimmed(text));
  if (text.empty())
    return fail(
        "Over the network a service is asked with a token; put it into ROTA_TOKEN, or its file into --token-file "
        "or ROTA_TOKEN_FILE. `rota token create` makes one, on the computer of the service.");
  if (std::ranges::any_of(text, [](char c) { return c <= ' ' || c == 127; }))
    return fail("The token {} is none: it has blanks or lines in it. `rota token create` prints one.",
                file.empty() ? std::string("in ROTA_TOKEN") : "in " + shown_path(file));
  return text;
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Where nothing is named.
Result<ServiceAddress> found_address() {
  const OwnPlace here = own_place();
  std::vector<std::string> own = own_sockets(here);
  const auto safe = check_own_folder(here, own.back());
  const std::string first = own.front();
  if (!safe) own.pop_back();
  ServiceAddress address;
  for (const std::string& socket : own) {
    address.socket = socket;
    if (listener_at(socket)) return address;
  }
  address.socket = kMachineSocket;
  if (is_there(kMachineSocket)) return address;
  if (own.empty()) return std::unexpected(safe.error());
  const auto left = std::ranges::find_if(own, is_there);  // by one that may be starting again
  address.socket = left == own.end() ? first : *left;
  return address;
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string ServiceAddress::shown() const {
  if (!remote()) return shown_path(socket);
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}:{}", tls ? "https://" : "http://", v6 ? fmt::format("[{}]", host) : host, port);
}

Result<ServiceAddress> service_address(const AddressFlags& flags) {
  if (!flags.url.empty() && !flags.socket.empty())
    return fail("--socket and --url are two services; name one of them.");
  const std::string url = !flags.url.empty() ? flags.url : flags.socket.empty() ? environment_variable("ROTA_URL") : "";
  ServiceAddress address;
  if (url.empty()) {
    address.socket = named_socket(flags.socket);
    return address.socket.empty() ? found_address() : address;
  }
  TRY(read_url(url, address));
  auto token = TRY(token_of(flags));
  address.token = std::move(token);
  address.ca_file = flags.ca_file.empty() ? environment_variable("ROTA_CA_FILE") : flags.ca_file;
  return address;
}

std::string named_socket(const std::string& given) {
  return given.empty() ? environment_variable("ROTA_SOCKET") : given;
}

bool is_of_address(std::string_view variable) {
  constexpr std::array<std::string_view, 4> kNames{"ROTA_TOKEN", "ROTA_TOKEN_FILE", "ROTA_URL", "ROTA_CA_FILE"};
  return std::ranges::find(kNames, variable.substr(0, variable.find('='))) != kNames.end();
}

}  // namespace rota::cli
