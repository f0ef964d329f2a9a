// For tests: facts of any kind with any values, made from the table of their fields.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "model/fact.h"
#include "store/field_kinds.h"

namespace rota::store {

// Numbers of all sizes, those at the ends of the type included.
template <AnInteger T>
T random_number(Random& random) {
  const std::uint64_t bits = random.bits();
  switch (random.between(0, 5)) {
    case 0:
      return std::numeric_limits<T>::max();
    case 1:
      return std::numeric_limits<T>::min();
    case 2:
      return static_cast<T>(bits);
    case 3:
      return static_cast<T>(bits % 100);
    default:
      return static_cast<T>(bits >> random.between(0, 63));
  }
}

template <class T>
T random_value(Random& random) {
  T value{};
  if constexpr (AStruct<T>) {
    for_each_field<T>([&](const auto& field) {
      value.*field.member = random_value<std::remove_cvref_t<decltype(value.*field.member)>>(random);
    });
  } else if constexpr (AList<T>) {
    const std::int64_t count = random.chance(0.02) ? 700 : random.between(0, 4);
    for (std::int64_t i = 0; i < count; ++i) value.push_back(random_value<typename T::value_type>(random));
  } else if constexpr (AShortList<T>) {
    std::vector<typename T::value_type> all = random_value<std::vector<typename T::value_type>>(random);
    all.resize(std::min(all.size(), T::kMost));
    std::erase_if(all, [](const auto& element) { return !T::takes(element); });
    for (std::int64_t i = random.between(0, 2); i > 0 && all.size() < T::kMost; --i)
      all.push_back({LicenceId{static_cast<std::uint32_t>(random.between(0, 9))}, 1});
    value.assign(all);
  } else if constexpr (AShared<T>) {
    if (random.chance(0.3)) value = std::make_shared<SharedPart<T>>(random_value<SharedPart<T>>(random));
  } else if constexpr (std::same_as<T, Instant>) {
    value = random.chance(0.2) ? kNever : Instant{Duration{random_number<std::int64_t>(random)}};
  } else if constexpr (std::same_as<T, Duration>) {
    value = Duration{random_number<std::int64_t>(random)};
  } else if constexpr (AnId<T>) {
    value.value = random_number<decltype(value.value)>(random);
  } else if constexpr (std::same_as<T, bool>) {
    value = random.chance(0.5);
  } else if constexpr (std::same_as<T, std::string>) {
    for (std::int64_t i = random.between(0, 9); i > 0; --i) value += static_cast<char>(random.between(' ', '~'));
  } else if constexpr (AnEnum<T>) {
    value = static_cast<T>(random.between(0, static_cast<std::int64_t>(ValueNames<T>::names.size()) - 1));
  } else if constexpr (std::same_as<T, double>) {
    value = std::bit_cast<double>(random.bits());
    if (std::isnan(value)) value = -0.0;
  } else if constexpr (std::same_as<T, float>) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (std::isnan(value)) value = std::numeric_limits<float>::infinity();
  } else {
    value = random_number<T>(random);
  }
  return value;
}

// A fact of the kind with this number.
inline Fact random_fact(std::size_t kind, Random& random) {
  Fact fact{random_value<Instant>(random), random_number<std::uint64_t>(random), {}};
  if (random.chance(0.3)) fact.late = Duration{random.between(1, kLongest.count())};
  std::size_t number = 0;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) {
    if (number++ == kind) fact.what = random_value<Kind>(random);
  });
  return fact;
}

// So many facts, of all kinds in turn.
inline std::vector<Fact> random_facts(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Fact> facts;
  facts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) facts.push_back(random_fact(i % AllKinds::kCount, random));
  return facts;
}

inline bool same_fact(const Fact& a, const Fact& b) {
  if (a.at != b.at || a.late != b.late || a.sequence != b.sequence || a.what.index() != b.what.index()) return false;
  return std::visit([&](const auto& what) { return same(what, std::get<std::remove_cvref_t<decltype(what)>>(b.what)); },
                    a.what);
}

inline bool same_facts(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  return std::ranges::equal(a, b, same_fact);
}

}  // namespace rota::store
