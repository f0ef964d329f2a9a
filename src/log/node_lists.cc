#include "log/node_lists.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/text.h"

namespace rota::log {

std::string_view NodeLists::text(std::uint32_t number) const {
  CHECK(number > 0 && number <= ends_.size(), "a host list is asked for by a number that one has");
  const std::size_t begin = number > 1 ? ends_[number - 2] : 0;
  return std::string_view(texts_).substr(begin, ends_[number - 1] - begin);
}

// Where it stands, or the free one where it would.
std::size_t NodeLists::slot_of(std::string_view list) const {
  std::size_t at = std::hash<std::string_view>{}(list) & (slots_.size() - 1);
  while (slots_[at] != 0 && text(slots_[at]) != list) at = (at + 1) & (slots_.size() - 1);
  return at;
}

void NodeLists::grow() {
  constexpr std::size_t kFirst = 64;  // a power of two, as all that follow
  slots_.assign(slots_.empty() ? kFirst : 2 * slots_.size(), 0);
  for (std::uint32_t number = 1; number <= size(); ++number) slots_[slot_of(text(number))] = number;
}

// A line of JSON has none as they are.
bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::uint32_t NodeLists::number_of(std::string_view list) {
  if (slots_.size() <= 2 * ends_.size()) grow();
  const std::size_t at = slot_of(list);
  if (slots_[at] != 0) return slots_[at];
  if (ends_.size() == UINT32_MAX - 1 || !is_utf8(list) || has_control_characters(list) || !parse_host_list(list))
    return 0;
  texts_ += list;
  ends_.push_back(texts_.size());
  return slots_[at] = size();
}

}  // namespace rota::log
