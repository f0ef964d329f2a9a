// /: the page of the service. It is the same for everybody; what it shows it asks for as anybody else does.
#include <sstream>
#include <string>
#include <vector>

#include "api/routes.h"
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
  return "'sha256-" + out.str() + "'";
}

Response page_response() {
  report::LivePage page = report::live_page();
  const std::string allowed = "default-src 'none'; connect-src 'self'; img-src data:; script-src " +
                              hash_of(page.script) + "; style-src " + hash_of(page.style) +
                              "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {200,
          "text/html; charset=utf-8",
          std::move(page.html),
          {{"Content-Security-Policy", allowed},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Referrer-Policy", "no-referrer"}}};
}

}  // namespace

void answer_page(const Ask& ask) {
  static const Response page = page_response();
  ask.reply->send(page);
}

}  // namespace rota::api
