#include "api/listen_address.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/text.h"

namespace rota::api {

using boost::asio::ip::tcp;

Result<std::vector<tcp::endpoint>> endpoints_of(boost::asio::io_context& io, const std::string& listen) {
  const auto colon = listen.rfind(':');
  const auto port = colon == std::string::npos ? fail("") : parse_integer(listen.substr(colon + 1));
  std::string host = listen.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || *port < 0 || *port > 65535 || host.empty() || (!bracketed && host.find(':') != std::string::npos))
    return fail("`listen` in [service] takes HOST:PORT, as 127.0.0.1:8443, [::1]:8443 or box.example:8443, not {}.",
                rota::quoted(listen));
  boost::system::error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(*port), tcp::resolver::passive, error);
  if (error)
    return fail("`listen` in [service] names {}, which is no address of this computer: {}.", rota::quoted(host),
                error.message());
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : found) {
    if (std::ranges::find(endpoints, entry.endpoint()) == endpoints.end()) endpoints.push_back(entry.endpoint());
  }
  // A port that is chosen is chosen once.
  if (*port == 0) endpoints.resize(1);
  return endpoints;
}

std::string peer_at(const boost::asio::ip::address& address) {
  if (!address.is_v6() || address.to_v6().is_v4_mapped()) return address.to_string();
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), static_cast<unsigned char>(0));
  return boost::asio::ip::address_v6(bytes, address.to_v6().scope_id()).to_string() + "/64";
}

std::string shown_endpoint(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return fmt::format("{}:{}", endpoint.address().is_v6() ? fmt::format("[{}]", address) : address, endpoint.port());
}

std::string browser_address(const std::string& listen, const std::string& address) {
  std::string host = listen.substr(0, listen.rfind(':'));
  std::array<char, HOST_NAME_MAX + 1> name{};
  if ((host == "0.0.0.0" || host == "[::]") && ::gethostname(name.data(), name.size() - 1) == 0) host = name.data();
  return address.substr(0, address.find("//") + 2) + host + address.substr(address.rfind(':'));
}

std::string needs_tls(const std::string& listen) {
  return fmt::format(
      "the service is to listen at {}, which other computers reach, without TLS: others on the network could read "
      "tokens and scripts. Name a certificate and its key with `tls_certificate` and `tls_key` in [service], or listen "
      "at 127.0.0.1.",
      rota::quoted(listen));
}

}  // namespace rota::api
