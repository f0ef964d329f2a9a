// Anything that has a table of fields as bytes and back. Fields follow each other in the order of the table, without
// names or lengths: what is there is said by the version alone, for each field has the version since which it is there.
//
//   whole numbers, durations   as bytes.h has them; those that can be negative with the sign folded in
//   yes or no, one of several  a whole number below two, or below how many there are
//   ids                        one more than the id, 0: none
//   instants                   0: never; else 2 more than the signed distance from the fact's own time, its sign folded
//                              in; 1: the distance would not leave room for that and follows
//   figures with a point       their bits, least first
//   lists                      how many, then each; some hold a few only
//   parts                      their fields; those that need not be there: 1 before them, or 0 alone
//
// Every value has one form, and others are refused.
#pragma once

#include <fmt/core.h>

#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "store/bytes.h"
#include "store/field_kinds.h"

namespace rota::store {

// The signed distance, for all instants that there are.
constexpr std::uint64_t distance(Instant from, Instant to) {
  return fold_sign(static_cast<std::int64_t>(static_cast<std::uint64_t>(to.time_since_epoch().count()) -
                                             static_cast<std::uint64_t>(from.time_since_epoch().count())));
}
constexpr Instant at_distance(Instant from, std::uint64_t folded) {
  return Instant{Duration{static_cast<std::int64_t>(static_cast<std::uint64_t>(from.time_since_epoch().count()) +
                                                    static_cast<std::uint64_t>(unfold_sign(folded)))}};
}

inline constexpr std::uint64_t kNeverCode = 0;
inline constexpr std::uint64_t kFarCode = 1;
inline constexpr std::uint64_t kFirstDistanceCode = 2;
inline constexpr std::uint64_t kFarthest = UINT64_MAX - kFirstDistanceCode;  // that needs no kFarCode

// The most bytes of a value without what is in its lists.
template <class T>
constexpr std::size_t most_bytes() {
  if constexpr (AStruct<T>) {
    std::size_t sum = 0;
    for_each_field<T>([&](const auto& field) {
      sum += most_bytes<std::remove_cvref_t<decltype(std::declval<T>().*field.member)>>();
    });
    return sum;
  } else {
    return kMostNumberBytes + 1;
  }
}

// Writes values of journals of one version.
template <std::uint32_t Version>
class FieldWriter {
 public:
  // Instants are told from `base` on.
  FieldWriter(ByteBuffer& out, Instant base) : out_(out), base_(base) {}

  // Writes at a place that has room for the value, and gives the place after it.
  template <class T>
  std::byte* put(std::byte* at, const T& value) {
    static_assert(most_bytes<T>() <= ByteBuffer::kRoom);
    if constexpr (AStruct<T>) {
      return put_fields(at, value, std::make_index_sequence<std::tuple_size_v<decltype(Fields<T>::all)>>{});
    } else if constexpr (AList<T>) {
      return put_list(at, value);
    } else if constexpr (std::same_as<T, std::string>) {
      return put_text(at, value);
    } else if constexpr (AShortList<T>) {
      return put_list(at, value.all());
    } else if constexpr (AShared<T>) {
      at = put_number(at, value ? 1U : 0U);
      return value ? out_.more(put(out_.more(at), *value)) : at;
    } else if constexpr (std::same_as<T, Instant>) {
      return put_instant(at, value);
    } else if constexpr (std::same_as<T, Duration>) {
      return put_number(at, fold_sign(value.count()));
    } else if constexpr (AnId<T>) {
      return put_number(at, static_cast<decltype(value.value)>(value.value + 1U));
    } else if constexpr (AnEnum<T>) {
      return put_number(at, static_cast<std::uint64_t>(std::to_underlying(value)));
    } else if constexpr (std::same_as<T, double>) {
      return put_fixed(at, std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<T, float>) {
      return put_fixed(at, std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::signed_integral<T>) {
      return put_number(at, fold_sign(value));
    } else {
      return put_number(at, value);
    }
  }

 private:
  template <class T, std::size_t... I>
  std::byte* put_fields(std::byte* at, const T& value, std::index_sequence<I...> /*all*/) {
    ((at = put_field<T, I>(at, value)), ...);
    return at;
  }
  template <class T, std::size_t I>
  std::byte* put_field(std::byte* at, const T& value) {
    constexpr auto field = std::get<I>(Fields<T>::all);
    if constexpr (field.since <= Version) return put(at, value.*field.member);
    return at;
  }

  template <class E>
  std::byte* put_list(std::byte* at, const std::vector<E>& list) {
    at = put_number(at, list.size());
    if (list.empty()) return at;
    for (const E& element : list) at = put(out_.more(at), element);
    return out_.more(at);
  }

  std::byte* put_text(std::byte* at, const std::string& text) {
    at = put_number(at, text.size());
    for (const char c : text) {
      at = out_.more(at);
      *at++ = static_cast<std::byte>(c);
    }
    return out_.more(at);
  }

  std::byte* put_instant(std::byte* at, Instant value) {
    if (value == kNever) return put_number(at, kNeverCode);
    const std::uint64_t far = distance(base_, value);
    if (far <= kFarthest) [[likely]]
      return put_number(at, far + kFirstDistanceCode);
    return put_number(put_number(at, kFarCode), far);
  }

  ByteBuffer& out_;
  Instant base_;
};

// Reads values of journals of one version. Any bytes give a value or a reason; what is allocated on the way is at most
// a few times as large as the bytes.
class FieldReader {
 public:
  FieldReader(ByteReader& in, std::uint32_t version) : in_(in), version_(version) {}

  // False: it cannot be read, for the reason in error().
  template <class T>
  bool take(T& value, Instant base) {
    if constexpr (AStruct<T>) {
      return all_fields<T>([&](const auto& field) {
        return field.since > version_ || take(value.*field.member, base) || inside(field.name);
      });
    } else if constexpr (AList<T>) {
      return take_list(value, base);
    } else if constexpr (std::same_as<T, std::string>) {
      return take_text(value);
    } else if constexpr (AShortList<T>) {
      std::vector<typename T::value_type> all;
      return take_list(all, base) && (value.assign(all) || wrong(": there are too many, or one is too large"));
    } else if constexpr (AShared<T>) {
      return take_shared(value, base);
    } else if constexpr (std::same_as<T, Instant>) {
      return take_instant(value, base);
    } else if constexpr (std::same_as<T, double>) {
      return take_bits<std::uint64_t>(value);
    } else if constexpr (std::same_as<T, float>) {
      return take_bits<std::uint32_t>(value);
    } else {
      return take_number(value);
    }
  }

  // ": what is wrong" after the field's name, and then the field's name before it. Empty: all is well.
  std::string error() const { return field_ + wrong_; }

 private:
  bool wrong(const char* why) {
    wrong_ = why;
    return false;
  }
  bool inside(std::string_view name) {
    field_ = std::string(name) + (field_.empty() || field_.front() == '[' ? "" : ".") + field_;
    return false;
  }

  bool take_word(std::uint64_t& word) {
    return in_.number(word) || wrong(": the bytes end in it, or are no whole number");
  }

  template <class T>
  bool take_number(T& value) {
    std::uint64_t word = 0;
    if (!take_word(word)) return false;
    if constexpr (std::same_as<T, Duration>) {
      value = Duration{unfold_sign(word)};
    } else if constexpr (AnId<T>) {
      if (word > T::kNone) return wrong(": there is no such id");
      value.value = static_cast<decltype(value.value)>(word - 1);
    } else if constexpr (std::same_as<T, bool>) {
      if (word > 1) return wrong(": it is neither yes nor no");
      value = word == 1;
    } else if constexpr (AnEnum<T>) {
      if (word >= ValueNames<T>::names.size()) return wrong(": there is no such value");
      value = static_cast<T>(word);
    } else if constexpr (std::signed_integral<T>) {
      if (!std::in_range<T>(unfold_sign(word))) return wrong(": the number is too large");
      value = static_cast<T>(unfold_sign(word));
    } else {
      if (!std::in_range<T>(word)) return wrong(": the number is too large");
      value = static_cast<T>(word);
    }
    return true;
  }

  template <class Bits, class T>
  bool take_bits(T& value) {
    Bits bits = 0;
    if (!in_.fixed(bits)) return wrong(": the bytes end in it");
    value = std::bit_cast<T>(bits);
    return true;
  }

  bool take_instant(Instant& value, Instant base) {
    std::uint64_t word = 0;
    if (!take_word(word)) return false;
    value = kNever;
    if (word == kNeverCode) return true;
    std::uint64_t far = word - kFirstDistanceCode;
    if (word == kFarCode && (!take_word(far) || far <= kFarthest)) return wrong(": it is no instant");
    value = at_distance(base, far);
    return value != kNever || wrong(": it is no instant");
  }

  template <class Part>
  bool take_shared(std::shared_ptr<const Part>& value, Instant base) {
    bool there = false;
    if (!take_number(there)) return false;
    auto part = there ? std::make_shared<Part>() : nullptr;
    if (part && !take(*part, base)) return false;
    value = std::move(part);
    return true;
  }

  bool take_text(std::string& text) {
    std::uint64_t size = 0;
    if (!take_word(size)) return false;
    return in_.text(text, size) || wrong(": the text is longer than all that is left");
  }

  template <class E>
  bool take_list(std::vector<E>& list, Instant base) {
    std::uint64_t count = 0;
    if (!take_word(count)) return false;
    if (count > in_.left()) return wrong(": the list is longer than all that is left");
    list.clear();
    list.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!take(list.emplace_back(), base)) {
        field_ = fmt::format("[{}]{}{}", i, field_.empty() ? "" : ".", field_);
        return false;
      }
    }
    return true;
  }

  ByteReader& in_;
  std::uint32_t version_;
  std::string field_;
  const char* wrong_ = "";
};

}  // namespace rota::store
