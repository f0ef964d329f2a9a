// Any bytes as a file of tokens: it is read or refused with a sentence, and what is read stays what it is when it is
// written again.
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "api/tokens.h"
#include "base/text.h"
#include "fuzz/served_state.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  static const fuzz::Folder folder;
  const std::string path = folder.path() + "/tokens";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
  auto tokens = api::Tokens::open(folder.path());
  if (!tokens) {
    const std::string& said = tokens.error().message;
    CHECK(is_utf8(said) && (said.ends_with('.') || said.ends_with('?')), "a sentence");
    return 0;
  }
  const std::size_t before = tokens->all().size();
  api::Token token;
  token.made = INT64_MIN;  // so that none has run out yet
  token.expires = 10;
  const auto text = tokens->add(token);
  if (!text) return 0;  // there are enough
  const auto again = api::Tokens::open(folder.path());
  CHECK(again.has_value() && again->all().size() <= before + 1, "what was written is read");
  CHECK(again->shown(*text, 5) != nullptr && again->shown(*text, 10) == nullptr,
        "the token counts until it has run out");
  CHECK(again->shown("", 5) == nullptr, "nothing is no token");
  return 0;
}
