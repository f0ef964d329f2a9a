#include "store/fact_codec.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "store/field_codec.h"

namespace rota::store {
namespace {

constexpr std::size_t kHeadBytes = 4 * kMostNumberBytes;  // kind, time, sequence number and how late it was

// Reads the fields of one kind into the fact; false: the reader says why.
template <std::size_t Kind>
bool take_fields(FieldReader& in, Fact& fact) {
  return in.take(fact.what.emplace<Kind>(), fact.at);
}

using TakeFields = bool (*)(FieldReader&, Fact&);

template <std::size_t... Kind>
constexpr std::array<TakeFields, sizeof...(Kind)> readers(std::index_sequence<Kind...> /*all*/) {
  return {take_fields<Kind>...};
}
constexpr auto kReaders = readers(std::make_index_sequence<AllKinds::kCount>{});

constexpr std::uint32_t kLateSince = 8;  // the version from which on facts say how late they came

std::string place(std::uint64_t number) { return fmt::format("fact {} of the batch", number); }

std::string_view name_of(const Fact& fact) {
  return std::visit([](const auto& what) { return Fields<std::remove_cvref_t<decltype(what)>>::name; }, fact.what);
}

}  // namespace

FactRef ref_of(const Fact& fact) {
  return std::visit([&](const auto& what) { return FactRef{fact.at, fact.sequence, &what, fact.late}; }, fact.what);
}

void FactEncoder::append(const FactRef& fact) {
  std::byte* at = out_.end();
  at = put_number(at, 2 * fact.what.index() + (fact.late > Duration{0} ? 1 : 0));
  at = put_number(at, distance(at_, fact.at));
  at = put_number(at, fold_sign(static_cast<std::int64_t>(fact.sequence - sequence_ - 1)));
  at_ = fact.at;
  if (fact.late > Duration{0}) at = put_number(at, static_cast<std::uint64_t>(fact.late.count()));
  sequence_ = fact.sequence;
  FieldWriter<kJournalVersion> fields(out_, fact.at);
  at = std::visit(
      [&](const auto* what) {
        static_assert(kHeadBytes + most_bytes<std::remove_cvref_t<decltype(*what)>>() <= ByteBuffer::kRoom);
        return fields.put(at, *what);
      },
      fact.what);
  out_.stop(at);
}

void FactEncoder::clear() {
  out_.clear();
  at_ = kEpoch;
  sequence_ = 0;
}

FactDecoder::FactDecoder(ByteSpan batch, std::uint32_t version) : in_(batch), version_(version) {}

Result<bool> FactDecoder::next(Fact& fact) {
  if (in_.left() == 0) return false;
  ++count_;
  std::uint64_t kind = 0;
  std::uint64_t time = 0;
  std::uint64_t sequence = 0;
  if (!in_.number(kind) || !in_.number(time) || !in_.number(sequence)) return fail(place(count_) + " ends too early");
  const bool is_late = version_ >= kLateSince && (kind & 1U) != 0;
  if (version_ >= kLateSince) kind /= 2;
  if (kind >= kReaders.size()) {
    return fail("{} is of kind {}, and there are {}", place(count_), kind, kReaders.size());
  }
  fact.at = at_ = at_distance(at_, time);
  std::uint64_t late = 0;
  if (is_late && (!in_.number(late) || late == 0 || late > static_cast<std::uint64_t>(kLongest.count())))
    return fail("{} does not say when it happened", place(count_));
  fact.late = Duration{static_cast<std::int64_t>(late)};
  fact.sequence = sequence_ += static_cast<std::uint64_t>(unfold_sign(sequence)) + 1;
  FieldReader fields(in_, version_);
  if (kReaders[kind](fields, fact)) return true;
  return fail("{}, {}, cannot be read; {}", place(count_), name_of(fact), fields.error());
}

}  // namespace rota::store
