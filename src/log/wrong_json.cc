#include "log/wrong_json.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::size_t kQuoted = 40;
constexpr std::size_t kLongestCharacter = 4;  // of UTF-8, in bytes

std::size_t first_character(std::string_view text) {
  for (std::size_t size = 1; size <= std::min(kLongestCharacter, text.size()); ++size)
    if (is_utf8(text.substr(0, size))) return size;
  return 0;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (is_utf8(text)) return text.size();
  std::string_view rest = text;
  while (const std::size_t size = first_character(rest)) rest.remove_prefix(size);
  return text.size() - rest.size();
}

std::string wrong_json(JsonCharacters::Source& source, std::size_t taken) {
  const std::string line = fmt::format(":{}: ", source.filled);
  const std::size_t good = utf8_length(source.block);
  if (good < source.block.size() && taken > source.before + good)
    return fmt::format("{}byte {} of the text, at {}, is not UTF-8. Save the file as UTF-8.", line,
                       source.before + good + 1, rota::quoted(source.block.substr(good, kQuoted)));
  const std::string rest(source.stumbled_over(taken).substr(0, kQuoted));
  bool early = trimmed(rest).empty();
  for (; early && source.more(); source.advance()) early = JsonCharacters::Source::is_blank(*JsonCharacters(source));
  if (early) return line + "the JSON ends too early (is the file cut off?).";
  return fmt::format("{}from {} on this is no JSON (byte {} of the text). Mend the file.", line, rota::quoted(rest),
                     taken);
}

}  // namespace rota::log
