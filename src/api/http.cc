#include "api/http.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace rota::api {
namespace {

std::string_view title_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Internal Server Error";
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool take_query(std::string_view text, Request& request) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    std::string name;
    std::string value;
    if (!decode_url(pair.substr(0, equals), name)) return false;
    if (equals != std::string_view::npos && !decode_url(pair.substr(equals + 1), value)) return false;
    if (!name.empty() && !request.query.emplace(name, value).second && request.twice.empty()) request.twice = name;
  }
  return true;
}

}  // namespace

Response problem(int status, const std::string& detail) {
  const nlohmann::json json{
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  return {status, "application/problem+json", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {}};
}

Response busy(const std::string& detail) {
  Response response = problem(503, detail);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

bool decode_url(std::string_view text, std::string& into) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      into += ' ';
    } else if (text[i] != '%') {
      into += text[i];
    } else {
      if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return false;
      into += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    }
  }
  return true;
}

bool take_apart(std::string_view target, Request& request) {
  if (!target.starts_with('/')) return false;
  const auto question = target.find('?');
  if (!decode_url(target.substr(0, question), request.path)) return false;
  return question == std::string_view::npos || take_query(target.substr(question + 1), request);
}

}  // namespace rota::api
