#include "trace/json_names.h"

#include <algorithm>

#include "base/text.h"

namespace rota::trace {
namespace {

constexpr std::uint32_t kAmbiguous = UINT32_MAX;
constexpr const char* kMixed =
    ", and other jobs have {} there: number the names in the header, or write one kind of them only";

std::string mixed(const char* others) {
  std::string text = kMixed;
  return text.replace(text.find("{}"), 2, others);
}

}  // namespace

void JsonNames::learn() {
  for (const auto& [number, name] : names_) {
    const auto [at, fresh] = numbers_.emplace(name, number);
    if (!fresh) at->second = kAmbiguous;
    next_ = first_new_ = std::max(next_, number + 1);
  }
}

Result<std::uint32_t> JsonNames::number_of(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) {
    if (found->second != kAmbiguous) return found->second;
    return fail("is " + quoted(name) + ", which is the name of several numbers in the header: write the number");
  }
  if (name.empty()) return fail("is an empty name: leave it out where it is not known");
  if (own_numbers_) return fail("is the name " + quoted(name) + mixed("numbers"));
  if (next_ == UINT32_MAX) return fail("is " + quoted(name) + ", and no number is left for another name");
  own_names_ = true;
  const std::uint32_t number = next_++;
  names_.emplace(number, name);
  numbers_.emplace(name, number);
  return number;
}

Result<void> JsonNames::check_number(std::int64_t number) {
  if (number < 0 || own_numbers_) return {};
  if (number < first_new_ && names_.contains(static_cast<std::uint32_t>(number))) return {};
  if (own_names_) return fail("is the number " + std::to_string(number) + mixed("names"));
  own_numbers_ = true;
  return {};
}

}  // namespace rota::trace
