#include "serve/after_text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

using When = Dependency::When;

constexpr std::string_view kSingleton = "singleton";
constexpr std::array<std::pair<std::string_view, When>, 5> kWords{{{"after", When::started},
                                                                   {"afterok", When::succeeded},
                                                                   {"afterany", When::ended},
                                                                   {"afternotok", When::failed},
                                                                   {"aftercorr", When::succeeded}}};

Result<AfterName> parse_name(std::string_view text) {
  if (text.contains('+'))
    return fail(
        "a job waits for " + rota::quoted(text) +
        ", and a time behind + is not known here; leave it out, and give the job a begin time if it is to wait.");
  constexpr std::size_t kLongest = 40;
  const auto bar = text.find('_');
  const auto number = parse_integer(text.substr(0, bar));
  const auto task = bar == std::string_view::npos ? Result<std::int64_t>(-1) : parse_integer(text.substr(bar + 1));
  if (text.size() > kLongest || !number || !task || *number < 1 || *number > UINT32_MAX - 1 ||
      (bar != std::string_view::npos && *task < 0))
    return fail("a job waits for " + rota::quoted(text) + ", which is no job; name one by its id, as 12 or 12_3.");
  return AfterName{.number = *number, .index = *task};
}

}  // namespace

std::string AfterName::text() const { return std::to_string(number) + (index < 0 ? "" : "_" + std::to_string(index)); }

bool is_singleton(const std::vector<std::string>& texts) { return std::ranges::find(texts, kSingleton) != texts.end(); }

Result<AfterText> parse_after(const std::vector<std::string>& texts) {
  AfterText after;
  std::set<AfterName> known;
  std::size_t count = 0;
  constexpr std::size_t kMostText = 16 << 10;
  std::size_t length = 0;
  for (const std::string& text : texts) length += text.size();
  if (length > kMostText)
    return fail("what a job waits for is said in 16 KiB at most; name arrays instead of their tasks.");
  const auto too_many = [] {
    return fail("a job waits for " + grouped(kMostNames) + " names at most; name arrays instead of their tasks.");
  };
  for (const std::string& text : texts) {
    if (text == kSingleton) {
      after.singleton = true;
      if (++count > kMostNames) return too_many();
      continue;
    }
    // Counted before they are taken apart: a text may be as long as a request.
    count += static_cast<std::size_t>(std::ranges::count(text, ':'));
    if (count > kMostNames) return too_many();
    const auto pieces = split(text, ':');
    const auto word = std::ranges::find(kWords, pieces.front(), [](const auto& w) { return w.first; });
    if (word == kWords.end() || pieces.size() < 2) {
      return fail("the dependency " + rota::quoted(text) +
                  " makes no sense; write after:12, afterok:12, afterany:12, afternotok:12, aftercorr:12 or "
                  "singleton.");
    }
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      auto name = parse_name(pieces[i]);
      if (!name) return std::unexpected(name.error());
      name->when = word->second;
      name->same_index = word->first == "aftercorr" && name->index < 0;
      if (known.insert(*name).second) after.names.push_back(*name);
    }
  }
  return after;
}

}  // namespace rota::serve
