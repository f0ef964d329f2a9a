// Any request to what the service answers: each is answered once, in JSON where it says so, and a refusal is a
// sentence. An input is one request or several, with a line "====" between them. The first byte of each says which user
// asks ('-': a plain one, else an operator); then come "METHOD TARGET" ("GET!": by a token), headers, an empty line and
// the body.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "fuzz/served_state.h"

namespace {

using namespace rota;
using Json = nlohmann::json;

struct Answered final : public api::Reply {
  explicit Answered(fuzz::ServedState& of) : state(of) {}

  fuzz::ServedState& state;
  bool done = false;
  std::function<void()> when_gone;

  void send(api::Response response) override {
    CHECK(!done, "there is one answer");
    done = true;
    CHECK(response.status >= 200 && response.status < 504 && response.status != 500, "a status that is documented");
    if (response.type != "application/json" && response.type != "application/problem+json") return;
    const Json json = Json::parse(response.body, nullptr, false);
    CHECK(!json.is_discarded(), "JSON is JSON");
    if (response.status < 400) return;
    const std::string detail = json.at("detail");
    CHECK(is_utf8(detail) && (detail.ends_with('.') || detail.ends_with('?')), "a refusal is a sentence");
  }
  void stream(const std::string& /*type*/, std::function<void()> left) override {
    CHECK(!done, "there is one answer");
    done = true;
    when_gone = std::move(left);
  }
  bool write(std::string text) override { return done && is_utf8(text); }
  bool lags() const override { return false; }
  void when_out(std::function<void()> /*call*/) override {}
  void again(std::function<void()> call) override { state.soon(std::move(call)); }
  bool gone() const override { return false; }
};

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// False: what the connection would not have let through.
bool read_request(std::string_view text, api::Request& request) {
  const bool operates = !text.empty() && text.front() != '-';
  text.remove_prefix(std::min<std::size_t>(text.size(), 1));
  request.caller = fuzz::ServedState::caller(operates);
  const std::string_view first = take_line(text);
  request.method = first.substr(0, first.find(' '));
  request.by_token = request.method.ends_with('!');
  if (request.by_token) request.method.pop_back();
  if (first.find(' ') == std::string_view::npos || !api::take_apart(first.substr(first.find(' ') + 1), request))
    return false;
  while (true) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const auto colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string value(line.substr(colon + 2));
    if (line.starts_with("Idempotency-Key")) request.idempotency_key = value;
    if (line.starts_with("Last-Event-ID")) request.last_event_id = value;
    if (line.starts_with("Host")) request.host = value;
    if (line.starts_with("Origin")) request.origin = value;
    if (line.starts_with("Sec-Fetch-Site")) request.fetch_site = value;
  }
  request.body = text;
  return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ServedState& state = fuzz::ServedState::next();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "\n====\n";
  constexpr int kMostRequests = 16;
  for (int n = 0; n < kMostRequests && !rest.empty(); ++n) {
    const auto end = rest.find(kBetween);
    api::Request request;
    const bool sound = read_request(rest.substr(0, end), request);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kBetween.size());
    if (!sound) continue;
    const auto reply = std::make_shared<Answered>(state);
    state.handler()(request, reply);
    state.work_until([&] { return reply->done; });
    if (const auto gone = std::exchange(reply->when_gone, {})) gone();
  }
  return 0;
}
