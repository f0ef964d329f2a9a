#include "serve/selector.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "serve/state_words.h"

namespace rota::serve {
namespace {

using Kind = SelectorPart::Kind;

std::unexpected<Error> bad(std::string_view text) {
  return fail(
      "no jobs can be meant by {}; write 12, 12_3, 14_[1-5], 20-25, last, all, user=NAME, name=NAME, partition=NAME or "
      "state=STATE.",
      rota::quoted(text));
}

// At commas that are not within brackets.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] != ',' || depth > 0) continue;
    pieces.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

std::optional<std::pair<std::int64_t, std::int64_t>> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto from = parse_integer(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : parse_integer(text.substr(dash + 1));
  if (!from || !to || *from < 0 || *to < *from) return std::nullopt;
  return std::pair{*from, *to};
}

std::optional<SelectorPart> parse_tasks(std::string_view array, std::string_view indexes) {
  const auto number = parse_integer(array);
  if (!number || *number < 1) return std::nullopt;
  SelectorPart part{Kind::tasks, *number, *number, {}, {}};
  if (indexes.starts_with('[') && indexes.ends_with(']')) {
    indexes = indexes.substr(1, indexes.size() - 2);
    // As lists of the queue show it: how many run at a time selects no job.
    if (const auto most = indexes.find('%'); most != std::string_view::npos && parse_integer(indexes.substr(most + 1)))
      indexes = indexes.substr(0, most);
  }
  for (const std::string_view piece : split(indexes, ',')) {
    const auto range = parse_range(piece);
    if (!range) return std::nullopt;
    part.indexes.push_back(*range);
  }
  return part;
}

std::optional<SelectorPart> parse_part(std::string_view piece) {
  if (piece == "last") return SelectorPart{Kind::last, 0, 0, {}, {}};
  if (piece == "all") return SelectorPart{Kind::all, 0, 0, {}, {}};
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kWords{
      {{"user=", Kind::user}, {"name=", Kind::name}, {"partition=", Kind::partition}, {"state=", Kind::state}}};
  for (const auto& [word, kind] : kWords) {
    if (piece.starts_with(word) && piece.size() > word.size())
      return SelectorPart{kind, 0, 0, {}, std::string(piece.substr(word.size()))};
  }
  if (const auto bar = piece.find('_'); bar != std::string_view::npos)
    return parse_tasks(piece.substr(0, bar), piece.substr(bar + 1));
  const auto range = parse_range(piece);
  if (!range || range->first < 1) return std::nullopt;
  return SelectorPart{Kind::numbers, range->first, range->second, {}, {}};
}

}  // namespace

Result<std::vector<SelectorPart>> parse_selector(std::string_view text) {
  std::vector<SelectorPart> parts;
  std::set<std::tuple<Kind, std::int64_t, std::int64_t, std::string>> known;
  std::map<std::int64_t, std::size_t> part_of_array;
  std::size_t count = 0;
  for (const std::string_view piece : pieces_of(text)) {
    auto part = parse_part(trimmed(piece));
    if (!part) return bad(piece);
    if (part->kind == Kind::state) {
      const StateWord* const state = state_called(part->word);
      if (state == nullptr) return fail(no_state(part->word));
      part->word = state->name;
    }
    count += std::max<std::size_t>(part->indexes.size(), 1);
    if (count > kMostParts)
      return fail("jobs are named in {} parts at most; name ranges, as 20-25 or 14_[1-5].", grouped(kMostParts));
    if (part->kind == Kind::tasks) {
      const auto [at, is_new] = part_of_array.emplace(part->from, parts.size());
      if (!is_new) {
        Ranges& indexes = parts[at->second].indexes;
        indexes.insert(indexes.end(), part->indexes.begin(), part->indexes.end());
        continue;
      }
    } else if (!known.emplace(part->kind, part->from, part->to, part->word).second) {
      continue;
    }
    parts.push_back(std::move(*part));
  }
  for (SelectorPart& part : parts) part.indexes = merged(std::move(part.indexes));
  return parts;
}

Ranges merged(Ranges ranges) {
  std::ranges::sort(ranges);
  Ranges merged;
  for (const auto& [from, to] : ranges) {
    if (merged.empty() || from - 1 > merged.back().second) {
      merged.emplace_back(from, to);
    } else {
      merged.back().second = std::max(merged.back().second, to);
    }
  }
  return merged;
}

bool within(const Ranges& merged, std::int64_t number) {
  const auto behind = std::ranges::upper_bound(merged, number, {}, &Ranges::value_type::first);
  return behind != merged.begin() && number <= std::prev(behind)->second;
}

Ranges numbers_of(const std::vector<SelectorPart>& parts) {
  Ranges ranges;
  for (const SelectorPart& part : parts) {
    if (part.kind == Kind::numbers) ranges.emplace_back(part.from, part.to);
  }
  return merged(std::move(ranges));
}

}  // namespace rota::serve
