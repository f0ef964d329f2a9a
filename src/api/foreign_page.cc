#include "api/foreign_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace rota::api {
namespace {

// "localhost:8080" without what stands behind its last colon; "[::1]:8080" as "[::1]".
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_address(std::string_view name) {
  return name.starts_with('[') || std::ranges::all_of(name, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

// Or it has none.
bool has_a_port(std::string_view host) {
  const std::string_view port = host.substr(name_of(host).size());
  return port.empty() || (port[0] == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// A name with a dot is resolved by its owner's DNS server: an attacker's may lead to this very computer.
bool is_ours(std::string_view host) {
  const std::string_view name = name_of(host);
  if (!has_a_port(host)) return false;
  return !name.contains('.') || is_address(name) || name.ends_with(".localhost");
}

}  // namespace

std::string foreign_page(const Request& request) {
  const std::string_view name = name_of(request.host);
  const bool here = name == "127.0.0.1" || name == "localhost" || name == "[::1]";
  if (request.page_port && !(here && has_a_port(request.host)))
    return fmt::format("the host {} is not answered at this port; ask for 127.0.0.1.", rota::quoted(request.host));
  if (request.by_token && request.page_key == PageKey::none) return {};  // a token no browser has of the page
  if (!request.by_token && !is_ours(request.host))
    return fmt::format(
        "the host {} is not answered here; ask for localhost, or have the proxy in front send `Host: localhost`.",
        rota::quoted(request.host));
  const bool page = request.method == "GET" && request.path == "/";
  const bool other_site =
      !request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none";
  const auto scheme = request.origin.find("://");
  const bool other_origin =
      !request.origin.empty() && (scheme == std::string::npos || request.origin.substr(scheme + 3) != request.host);
  if (!page && (other_site || other_origin)) return "a page of another site asks; only the service's own page may.";
  return {};
}

}  // namespace rota::api
