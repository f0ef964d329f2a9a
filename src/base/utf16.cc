#include "base/utf16.h"

namespace rota {
namespace {

// Its name for iconv; "": it is another one. Without a byte-order mark two characters of ASCII tell.
std::string_view encoding_of(std::string_view begin) {
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff")) return "UTF-16";
  if (begin.size() < 4) return "";
  const auto pairs = [&](std::size_t high, std::size_t low) {
    return begin[high] == '\0' && begin[high + 2] == '\0' && begin[low] > '\0' && begin[low + 2] > '\0';
  };
  return pairs(1, 0) ? "UTF-16LE" : pairs(0, 1) ? "UTF-16BE" : "";
}

}  // namespace

Result<void> refuse_utf16(std::string_view begin, const std::string& shown) {
  const std::string encoding(encoding_of(begin));
  if (encoding.empty()) return {};
  return fail(
      "{} is text in UTF-16, as PowerShell and some editors on Windows save it; `iconv -f {} -t UTF-8 OLD > NEW` "
      "converts it.",
      shown, encoding);
}

}  // namespace rota
