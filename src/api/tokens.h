// Bearer tokens: what a person away from this computer shows to be taken for one of its users. A file in the state
// folder has a line for each, with the SHA-256 of the token and not the token: a reader of the file can show nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::api {

struct Token {
  std::string id;      // by which it is listed and revoked
  std::string sha256;  // in hexadecimal digits
  std::string user;
  std::uint32_t uid = 0;
  bool operates = false;   // its user's rights as an operator go with it
  bool read_only = false;  // it changes nothing
  std::int64_t made = 0;   // Unix times in seconds
  std::int64_t expires = 0;
  std::string comment;
};

inline constexpr std::size_t kMostTokens = 10'000;
inline constexpr std::size_t kMostTokensOfOne = 50;  // of a user that is no operator
inline constexpr std::size_t kLongestComment = 200;  // bytes

// Not thread-safe. Errors are sentences.
class Tokens {
 public:
  // The tokens of a state folder; none where there is no file yet. Fails where the file makes no sense or others may
  // read it.
  static Result<Tokens> open(const std::string& folder);

  // Keeps it under a new id and gives the text to show, which is not kept. Those that have run out when it is made are
  // dropped. Fails where its user has `most` or more then.
  Result<std::string> add(Token& token, std::size_t most = kMostTokens);
  // The one with this id no longer counts, from now on. Fails where it cannot be written down.
  Result<void> remove(const std::string& id);

  const std::vector<Token>& all() const { return tokens_; }
  const Token* find(const std::string& id) const;
  // The one that this text shows, if it has not run out at `now`. Takes as long for any text.
  const Token* shown(std::string_view text, std::int64_t now) const;

 private:
  explicit Tokens(std::string path) : path_(std::move(path)) {}
  Result<void> write(const std::vector<Token>& tokens);

  std::string path_;
  std::vector<Token> tokens_;
};

}  // namespace rota::api
