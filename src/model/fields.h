// What a table of fields is made of: fact_fields.h has that of all facts, store/journal_head.h that of a journal's
// head.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

namespace rota {

inline constexpr std::uint32_t kJournalVersion = 9;

template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::* member;
  std::string_view meaning;
  std::uint32_t since = 1;
};
template <class Owner, class T>
Field(const char*, T Owner::*, const char*) -> Field<Owner, T>;
template <class Owner, class T>
Field(const char*, T Owner::*, const char*, std::uint32_t) -> Field<Owner, T>;

enum class Origin : std::uint8_t { observed, decided, kept };

// For a fact: name, origin, meaning and fields; for a part of facts: fields.
template <class T>
struct Fields;

// Names of an enumeration's values, in order.
template <class T>
struct ValueNames;

}  // namespace rota
