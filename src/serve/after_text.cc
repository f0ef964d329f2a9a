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

constexpr std::string_view kSingleton = "singleton", kAny = "any";
constexpr std::array<std::pair<std::string_view, When>, 5> kWords{{{"after", When::started},
                                                                   {"afterok", When::succeeded},
                                                                   {"afterany", When::ended},
                                                                   {"afternotok", When::failed},
                                                                   {"aftercorr", When::succeeded}}};

Result<AfterName> parse_name(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  const std::string_view whole = text;
  const auto plus = text.find('+');
  constexpr std::int64_t kMostMinutes = 5'000'000;
  const auto minutes = plus == std::string_view::npos ? Result<std::int64_t>(0) : parse_integer(text.substr(plus + 1));
  text = text.substr(0, plus);
  const auto bar = text.find('_');
  const auto number = parse_integer(text.substr(0, bar));
  const auto task = bar == std::string_view::npos ? Result<std::int64_t>(-1) : parse_integer(text.substr(bar + 1));
  if (!minutes || *minutes < 0 || *minutes > kMostMinutes)
    return fail("a job waits for {}, where minutes are to stand behind +, as in after:12+5, up to {}.",
                rota::quoted(whole), grouped(kMostMinutes));
  if (text.size() > kLongest || !number || !task || *number < 1 || (bar != std::string_view::npos && *task < 0))
    return fail("a job waits for {}, which is no job; name one by its id, as 12 or 12_3.", rota::quoted(text));
  return AfterName{.number = *number, .index = *task, .later = seconds(60) * *minutes};
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
    return fail("a job waits for {} names at most; name arrays instead of their tasks.", grouped(kMostNames));
  };
  for (const std::string& text : texts) {
    if (text == kSingleton) {
      after.singleton = true;
      if (++count > kMostNames) return too_many();
      continue;
    }
    if (text == kAny) {
      after.any = true;
      continue;
    }
    // Counted before they are taken apart: a text may be as long as a request.
    count += static_cast<std::size_t>(std::ranges::count(text, ':'));
    if (count > kMostNames) return too_many();
    const auto pieces = split(text, ':');
    const auto word = std::ranges::find(kWords, pieces.front(), [](const auto& w) { return w.first; });
    if (word == kWords.end() || pieces.size() < 2) {
      return fail(
          "the dependency {} makes no sense; write after:12, afterok:12, afterany:12, afternotok:12, aftercorr:12 or "
          "singleton.",
          rota::quoted(text));
    }
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      auto name = TRY(parse_name(pieces[i]));
      name.when = word->second;
      if (name.later > Duration{0} && name.when != When::started)
        return fail("minutes stand behind + of after: alone, which counts from a start; leave them out of {}.",
                    rota::quoted(text));
      name.same_index = word->first == "aftercorr" && name.index < 0;
      if (known.insert(name).second) after.names.push_back(name);
    }
  }
  const auto several = [](const AfterName& name) { return name.same_index; };
  if (after.any && (after.singleton || std::ranges::any_of(after.names, several)))
    return fail("one of several to wait for is a job or a task by its id; leave out singleton and aftercorr.");
  if (after.any && after.names.empty()) return fail("any goes with jobs to wait for, such as afterok:12; name them.");
  return after;
}

}  // namespace rota::serve
