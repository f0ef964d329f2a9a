// /v1/tokens: which users may come over the network. Asked for at the Unix socket alone, where the kernel names the
// user: a token that went astray makes no others.
#include <pwd.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "api/tokens.h"
#include "base/text.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kDefaultLife = 90 * 86'400;  // seconds
constexpr std::int64_t kLongestLife = 10 * 366 * 86'400;

std::int64_t seconds_now(const Ask& ask) {
  return ask.answers().clock().unix_milliseconds(ask.answers().clock().now()) / 1000;
}

Json token_json(const Token& token, std::int64_t now) {
  Json json{{"id", token.id},
            {"user", token.user},
            {"uid", token.uid},
            {"operator", token.operates},
            {"read_only", token.read_only},
            {"made", token.made},
            {"expires", token.expires},
            {"expired", token.expires <= now}};
  if (!token.comment.empty()) json["comment"] = token.comment;
  return json;
}

// Whose token it is to be. Root's would let its bearer do anything as root, and another user's act as that one: each
// user makes their own, and only root and the service's user, which could act as others anyway, make those of others.
Result<Token> token_for(const Ask& ask, const TokenRequest& request) {
  const serve::Caller& caller = ask.request.caller;
  Token token;
  token.user = caller.user;
  token.uid = caller.uid;
  if (!request.user.empty() && request.user != caller.user) {
    const passwd* user = ::getpwnam(request.user.c_str());
    if (user == nullptr) return fail("there is no user {} on this computer.", rota::quoted(request.user));
    token.user = user->pw_name;
    token.uid = user->pw_uid;
  }
  if (token.uid != caller.uid && caller.uid != 0 && caller.uid != ::geteuid())
    return fail("only root may make a token for another user; {} makes it.", rota::quoted(token.user));
  if (request.operates && !ask.service.operators().include(token.uid))
    return fail(rota::quoted(token.user) + " is no operator; `operators` in [service] names them.");
  token.operates = request.operates;
  token.read_only = request.read_only;
  token.comment = request.comment;
  token.made = seconds_now(ask);
  token.expires = token.made + request.life.value_or(kDefaultLife);
  return token;
}

void make_token(const Ask& ask) {
  const auto request = read_token_request(ask.request.body, kLongestLife);
  if (!request) return ask.reply->send(problem(400, request.error().message));
  if (request->comment.size() > kLongestComment)
    return ask.reply->send(problem(400, fmt::format("`comment` has {} bytes at most.", kLongestComment)));
  auto token = token_for(ask, *request);
  if (!token) return ask.reply->send(problem(403, token.error().message));
  const auto text = ask.tokens.add(*token, ask.request.caller.operates ? kMostTokens : kMostTokensOfOne);
  if (!text) return ask.reply->send(problem(503, text.error().message));
  Json json = token_json(*token, token->made);
  json["token"] = *text;
  ask.reply->send({201, "application/json", dumped(json), {{"Cache-Control", "no-store"}}});
}

void revoke(const Ask& ask) {
  const std::string id(ask.path[2]);
  const Token* token = ask.tokens.find(id);
  const serve::Caller& caller = ask.request.caller;
  if (token == nullptr || (!caller.operates && token->uid != caller.uid))
    return ask.reply->send(
        problem(404, fmt::format("there is no token {}; `rota token list` has yours.", rota::quoted(id))));
  if (auto removed = ask.tokens.remove(id); !removed)
    return ask.reply->send(
        problem(503, "the token counts no longer, but would again after a restart: " + removed.error().message));
  ask.reply->send({200, "application/json", "{}", {}});
}

}  // namespace

void answer_tokens(const Ask& ask) {
  if (ask.request.by_token)
    return ask.reply->send(
        problem(403, "tokens are made, listed and revoked on the computer of the service, and not with a token."));
  if (ask.request.method == "POST") return make_token(ask);
  if (ask.request.method == "DELETE") return revoke(ask);
  Json rows = Json::array();
  const serve::Caller& caller = ask.request.caller;
  const std::int64_t now = seconds_now(ask);
  for (const Token& token : ask.tokens.all()) {
    if (caller.operates || token.uid == caller.uid) rows.push_back(token_json(token, now));
  }
  ask.reply->send({200, "application/json", dumped({{"tokens", std::move(rows)}}), {}});
}

}  // namespace rota::api
