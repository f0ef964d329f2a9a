#include "cli/live/service.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/json_bytes.h"
#include "base/text.h"

namespace rota::cli {
namespace {

constexpr std::size_t kPage = 1000;  // rows of a list at once

std::unexpected<Error> not_understood(const std::string& service, const std::string& what) {
  return fail("The service at {} answered with {}; `rota doctor` says whether it is of this version.", service, what);
}

// The sentence of a refusal: its detail as it is.
std::unexpected<Error> refused(const std::string& service, const HttpAnswer& answer) {
  const Json problem = json_from<Json>(answer.body);
  const std::string detail = text_of(problem, "detail");
  if (!detail.empty()) return fail(detail);
  const std::string title = text_of(problem, "title");
  return not_understood(service, fmt::format("HTTP status {}{} and no reason", answer.status,
                                             title.empty() ? "" : fmt::format(" ({})", title)));
}

bool done(const HttpAnswer& answer) { return answer.status >= 200 && answer.status < 300; }

}  // namespace

void ServiceFlags::declare(Command command) {
  command
      .add_option(
          "--socket", address.socket,
          "the service's socket; without: what ROTA_SOCKET names, else that of your own service where one "
          "answers (rota/socket in XDG_RUNTIME_DIR or /run/user/UID, or /tmp/rota-UID/socket), else /run/rota/socket")
      .type_name("FILE");
  command
      .add_option("--url", address.url,
                  "a service on another computer, as https://box:8443; without: what ROTA_URL names, else the socket")
      .type_name("URL");
  command
      .add_option("--token-file", address.token_file,
                  "with a URL: the file of the token; without: ROTA_TOKEN, or the file that ROTA_TOKEN_FILE names")
      .type_name("FILE");
  command
      .add_option("--ca-file", address.ca_file,
                  "with a URL: certificates to trust beside this computer's own; without: what ROTA_CA_FILE names")
      .type_name("FILE");
}

void ServiceFlags::declare_json(Command command) {
  command.add_flag("--json", json, "print JSON, as the service gives it");
  declare(command);
}

Result<Json> Service::json(const HttpRequest& request) const {
  auto answer = TRY(client_.exchange(request));
  if (!done(answer)) return refused(shown(), answer);
  Json out = json_from<Json>(answer.body);
  if (out.is_discarded()) return not_understood(shown(), "what is no JSON");
  if (!out.is_object() && !out.is_array()) return not_understood(shown(), "JSON that is no object");
  return out;
}

Result<Json> Service::get(const std::string& target) const {
  return json({.verb = "GET", .target = target, .body = {}, .key = {}});
}

Result<Json> Service::post(const std::string& target, const Json& body, const std::string& key) const {
  return json({.verb = "POST", .target = target, .body = json_text(body), .key = key});
}

Result<Json> Service::put(const std::string& target, const Json& body) const {
  return json({.verb = "PUT", .target = target, .body = json_text(body), .key = {}});
}

Result<Json> Service::remove(const std::string& target) const {
  return json({.verb = "DELETE", .target = target, .body = {}, .key = {}});
}

Result<HttpAnswer> Service::text(const std::string& target) const {
  auto answer = client_.exchange({.verb = "GET", .target = target, .body = {}, .key = {}});
  if (answer && !done(*answer)) return refused(shown(), *answer);
  return answer;
}

Result<Json> Service::rows(const std::string& path, std::map<std::string, std::string> query, const std::string& name,
                           std::size_t most, Json* unknown) const {
  Json all = Json::array();
  while (all.size() < most) {
    query["limit"] = std::to_string(std::min(most - all.size(), kPage));
    auto page = get(target_of(path, query));
    if (!page) return page;
    const auto rows = page->find(name);
    if (rows == page->end() || !rows->is_array()) return not_understood(shown(), "no list of " + name);
    for (Json& row : *rows) all.push_back(std::move(row));
    if (unknown != nullptr && unknown->empty()) *unknown = list_of(*page, "unknown");
    const std::string next = text_of(*page, "next");
    if (next.empty() || next == query["after"]) break;
    query["after"] = next;
  }
  return all;
}

std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool has_number(const Json& object, const char* name) {
  if (!object.is_object()) return false;
  const auto found = object.find(name);
  return found != object.end() && found->is_number();
}

double number_of(const Json& object, const char* name, double otherwise) {
  return has_number(object, name) ? object.find(name)->get<double>() : otherwise;
}

bool flag_of(const Json& object, const char* name) {
  if (!object.is_object()) return false;
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

const Json& list_of(const Json& object, const char* name) {
  static const Json none = Json::array();
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : none;
}

std::string words_of(const Json& object, const char* name, const char* between) {
  std::string out;
  for (const Json& word : list_of(object, name)) {
    if (word.is_string()) out += (out.empty() ? "" : between) + word.get<std::string>();
  }
  return out;
}

namespace {

bool plain(char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); }

// A character that is whole UTF-8 and not beyond U+FFFF, as JSON escapes it.
std::string json_escape(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  unsigned code = character.size() == 1 ? lead : lead & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  std::array<char, 8> out{};
  std::snprintf(out.data(), out.size(), "\\u%04x", code & 0xFFFFU);
  return out.data();
}

}  // namespace

// What could drive a terminal is escaped: JSON alone leaves DEL, C1 controls and marks of direction as they are.
std::string shown_json(const Json& json) {
  const std::string dumped = json_text(json, 2) + "\n";
  std::string out;
  for (std::string_view left = dumped; !left.empty();) {
    const auto special = std::ranges::find_if_not(left, plain);
    out.append(left.begin(), special);
    left.remove_prefix(static_cast<std::size_t>(special - left.begin()));
    if (left.empty()) break;
    std::size_t size = 1;
    while (size < left.size() && (static_cast<unsigned char>(left[size]) & 0xC0U) == 0x80) ++size;
    const std::string_view character = left.substr(0, size);
    out += escaped(character) == character ? std::string(character) : json_escape(character);
    left.remove_prefix(size);
  }
  return out;
}

std::string target_of(const std::string& path, const std::map<std::string, std::string>& query) {
  std::string out = path;
  char before = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    out += fmt::format("{}{}={}", std::exchange(before, '&'), name, percent_encoded(value));
  }
  return out;
}

}  // namespace rota::cli
