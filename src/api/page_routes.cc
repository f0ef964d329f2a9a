// /: the page of the service. It is the same for all users; what it shows it asks for as any other client does. And the
// addresses with a code by which a user of this computer opens it.
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "api/job_json.h"
#include "api/page_door.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "report/columns.h"
#include "report/live_page.h"
#include "store/sha256.h"

namespace rota::api {
namespace {

// As a Content-Security-Policy names what may stand in a page.
std::string hash_of(const std::string& text) {
  const store::Sha256 digest = store::sha256(std::as_bytes(std::span(text)));
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : digest) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  std::ostringstream out;
  report::write_base64(out, bytes);
  return fmt::format("'sha256-{}'", out.str());
}

Response page_response() {
  report::LivePage page = report::live_page();
  const std::string allowed = fmt::format(
      "default-src 'none'; connect-src 'self'; img-src data:; script-src {}; style-src {}; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'",
      hash_of(page.script), hash_of(page.style));
  return {200,
          "text/html; charset=utf-8",
          std::move(page.html),
          {{"Content-Security-Policy", allowed},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Referrer-Policy", "no-referrer"}}};
}

// What was made: a secret, told this once, with until when it counts and whose it is.
Response made(const Ask& ask, const char* name, const std::string& secret, Instant ends, bool operates) {
  const nlohmann::json json{{name, secret},
                            {"expires", unix_seconds(ask.answers(), ends)},
                            {"user", ask.request.caller.user},
                            {"operator", operates}};
  return {201, "application/json", dumped(json), {{"Cache-Control", "no-store"}}};
}

}  // namespace

void make_page_code(const Ask& ask) {
  if (ask.request.by_token)
    return ask.reply->send(problem(403,
                                   "an address with a code is made on the computer of the service, and not with a "
                                   "token; the page at the service's own address asks for the token."));
  const auto operates = read_operator_wish(ask.request.body);
  if (!operates) return ask.reply->send(problem(400, operates.error().message));
  serve::Caller of = ask.request.caller;
  if (*operates && !of.operates)
    return ask.reply->send(
        problem(403, rota::quoted(of.user) + " is no operator; `operators` in [service] names them."));
  of.operates = *operates;
  const auto address = ask.door.address();
  if (!address) return ask.reply->send(problem(503, address.error().message));
  const Instant now = ask.answers().clock().now();
  const auto code = ask.door.codes.make(of, now);
  if (!code) return ask.reply->send(problem(503, code.error().message));
  ask.reply->send(
      made(ask, "address", fmt::format("{}/#code={}", *address, *code), now + ask.door.codes.life(), of.operates));
}

void open_page_session(const Ask& ask) {
  if (ask.request.page_key != PageKey::code)
    return ask.reply->send(
        problem(403, "a session of the page is given for the code of an address that `rota page` prints."));
  const Instant now = ask.answers().clock().now();
  const auto token = ask.door.exchange(ask.request.code, now);
  if (!token) return ask.reply->send(problem(401, "this code is not known, or not any more."));
  if (!*token) return ask.reply->send(problem(503, token->error().message));
  ask.reply->send(made(ask, "token", **token, now + ask.door.sessions.life(), ask.request.caller.operates));
}

void answer_page(const Ask& ask) {
  static const Response page = page_response();
  ask.reply->send(page);
}

}  // namespace rota::api
