#include "log/json_names.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::uint32_t kAmbiguous = UINT32_MAX;

std::string mixed(const std::string& others) {
  return fmt::format(", and other jobs have {} there: number the names in the header, or write one kind of them only",
                     others);
}

}  // namespace

void JsonNames::learn() {
  for (const auto& [number, name] : names_) {
    const auto [at, fresh] = numbers_.emplace(name, number);
    if (!fresh) at->second = kAmbiguous;
    next_ = first_new_ = std::max(next_, number + 1);
  }
}

bool JsonNames::in_header(std::int64_t number) const {
  return number < first_new_ && names_.contains(static_cast<std::uint32_t>(number));
}

Result<void> JsonNames::check(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) {
    if (found->second != kAmbiguous) return {};
    return fail("is {}, which is the name of several numbers in the header: write the number", quoted(name));
  }
  if (own_numbers_) return fail("is the name {}{}", quoted(name), mixed("numbers"));
  if (next_ == UINT32_MAX) return fail("is {}, and no number is left for another name", quoted(name));
  return {};
}

Result<void> JsonNames::check(std::int64_t number) const {
  if (number < 0 || !own_names_ || in_header(number)) return {};
  return fail("is the number {}{}", number, mixed("names"));
}

std::uint32_t JsonNames::number_of_name(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  own_names_ = true;
  const std::uint32_t number = next_++;
  names_.emplace(number, name);
  numbers_.emplace(name, number);
  return number;
}

void JsonNames::number_of_name(std::int64_t number) {
  if (own_numbers_ || number < 0 || in_header(number)) return;
  own_numbers_ = true;
}

}  // namespace rota::log
