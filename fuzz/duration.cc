// Any bytes as a duration, a size, a number, a host list: never a crash, and what is written is read back.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  const std::string text(data, data + size);
  if (const auto d = parse_duration(text)) {
    CHECK(d->count() >= 0 && *d <= kLongest, "durations are possible");
    CHECK(parse_duration(format_duration(*d)) == *d, "a duration that is written is read back");
  } else {
    CHECK(is_utf8(d.error().message) && d.error().message.ends_with("."), "errors are sentences");
  }
  if (const auto bytes = parse_size(text)) CHECK(*bytes >= 0 && parse_size(format_size(*bytes)), "sizes are possible");
  if (const auto hosts = parse_host_list(text, 1000)) CHECK(!hosts->empty() && hosts->size() <= 1000, "some hosts");
  const auto integer = parse_integer(text);
  const auto number = parse_number(text);
  CHECK(!integer || number, "a whole number is a number");
  CHECK(is_utf8(rota::quoted(std::string_view(text))), "what is quoted can be shown");
  return 0;
}
