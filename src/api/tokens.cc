#include "api/tokens.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "api/secret.h"
#include "base/file.h"
#include "base/text.h"
#include "store/number_json.h"
#include "store/sha256.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPrefix = "rota_";  // by which tokens that went astray can be searched for
constexpr std::size_t kIdDigits = 12;
constexpr std::size_t kSecretBytes = 32;

// Looks at all of both, wherever they differ first.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) apart |= static_cast<unsigned>(a[i]) ^ static_cast<unsigned>(b[i]);
  return apart == 0;
}

Json json_of(const Token& token) {
  return {{"id", token.id},     {"sha256", token.sha256},     {"user", token.user},
          {"uid", token.uid},   {"operator", token.operates}, {"read_only", token.read_only},
          {"made", token.made}, {"expires", token.expires},   {"comment", token.comment}};
}

std::optional<Token> token_of(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    Token token;
    token.id = json.at("id").get<std::string>();
    token.sha256 = json.at("sha256").get<std::string>();
    token.user = json.at("user").get<std::string>();
    token.operates = json.at("operator").get<bool>();
    token.read_only = json.at("read_only").get<bool>();
    token.comment = json.at("comment").get<std::string>();
    const bool numbers = store::whole(json.at("uid"), token.uid) && store::whole(json.at("made"), token.made) &&
                         store::whole(json.at("expires"), token.expires);
    if (!numbers || token.id.empty() || token.sha256.size() != 2 * store::Sha256{}.size()) return std::nullopt;
    return token;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Result<Tokens> Tokens::open(const std::string& folder) {
  Tokens tokens(folder + "/tokens");
  struct stat file{};
  if (::stat(tokens.path_.c_str(), &file) != 0 && errno == ENOENT) return tokens;
  if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail("the tokens in {} are open to others; close them with `chmod 600`.", shown_path(tokens.path_));
  const auto text = TRY(read_file(tokens.path_));
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    auto token = token_of(line);
    if (!token)
      return fail("{}:{}: this is no token; take the line out, and make another with `rota token create`.",
                  shown_path(tokens.path_), number);
    tokens.tokens_.push_back(std::move(*token));
  }
  return tokens;
}

Result<std::string> Tokens::add(Token& token, std::size_t most) {
  auto with = tokens_;
  std::erase_if(with, [&](const Token& each) { return each.expires <= token.made; });
  if (with.size() >= kMostTokens)
    return fail("there are {} tokens; revoke some with `rota token revoke`.", grouped(kMostTokens));
  if (std::ranges::count(with, token.uid, &Token::uid) >= static_cast<std::ptrdiff_t>(most))
    return fail("{} has {}, the most that a user who is no operator may have; revoke one with `rota token revoke`.",
                rota::quoted(token.user), amount(static_cast<std::int64_t>(most), "token"));
  const auto secret = secret_text(kSecretBytes);
  if (!secret) return secret;
  std::string text = std::string(kPrefix) + *secret;
  token.sha256 = hash_of_secret(text);
  token.id = token.sha256.substr(0, kIdDigits);
  with.push_back(token);
  TRY(write(with));
  tokens_ = std::move(with);
  return text;
}

Result<void> Tokens::remove(const std::string& id) {
  std::erase_if(tokens_, [&](const Token& token) { return token.id == id; });
  return write(tokens_);
}

const Token* Tokens::find(const std::string& id) const {
  const auto found = std::ranges::find(tokens_, id, &Token::id);
  return found == tokens_.end() ? nullptr : &*found;
}

const Token* Tokens::shown(std::string_view text, std::int64_t now) const {
  const std::string hash = hash_of_secret(text);
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (same(token.sha256, hash)) found = &token;
  }
  return found && now < found->expires ? found : nullptr;
}

Result<void> Tokens::write(const std::vector<Token>& tokens) {
  const mode_t before = ::umask(0077);
  auto file = OutputFile::create(path_);
  ::umask(before);
  if (!file) return std::unexpected(file.error());
  for (const Token& token : tokens)
    file->stream() << json_of(token).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  const mode_t again = ::umask(0077);
  auto done = file->commit();
  ::umask(again);
  return done;
}

}  // namespace rota::api
