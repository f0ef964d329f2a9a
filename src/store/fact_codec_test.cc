#include "store/fact_codec.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/field_codec.h"
#include "store/random_facts_test.h"

namespace rota::store {

// A thing as version 1 knew it, with what versions 2 and 3 added.
struct Thing {
  std::uint32_t first = 1;
  std::int64_t added = -7;
  std::vector<std::uint32_t> list = {};
  Instant last = kNever;
};
struct Box {
  std::vector<Thing> things = {};
  bool sealed = true;
};

}  // namespace rota::store

namespace rota {

// NOLINTBEGIN(readability-identifier-naming): members of tables go by plain names
template <>
struct Fields<store::Thing> {
  using F = store::Thing;
  static constexpr std::tuple all{Field{"first", &F::first, ""}, Field{"list", &F::list, ""},
                                  Field{"added", &F::added, "", 2}, Field{"last", &F::last, "", 3}};
};
template <>
struct Fields<store::Box> {
  static constexpr std::tuple all{Field{"things", &store::Box::things, ""},
                                  Field{"sealed", &store::Box::sealed, "", 2}};
};
// NOLINTEND(readability-identifier-naming)

}  // namespace rota

namespace rota::store {
namespace {

std::vector<std::byte> bytes_of(const std::vector<int>& numbers) {
  std::vector<std::byte> bytes(numbers.size());
  std::ranges::transform(numbers, bytes.begin(), [](int n) { return static_cast<std::byte>(n); });
  return bytes;
}

std::vector<std::byte> batch_of(const std::vector<Fact>& facts) {
  FactEncoder encoder;
  for (const Fact& fact : facts) encoder.append(ref_of(fact));
  return {encoder.bytes().begin(), encoder.bytes().end()};
}

Result<std::vector<Fact>> facts_of(ByteSpan batch) {
  FactDecoder decoder(batch, kJournalVersion);
  std::vector<Fact> facts;
  for (Fact fact;;) {
    const auto more = TRY(decoder.next(fact));
    if (!more) return facts;
    facts.push_back(fact);
  }
}

template <std::uint32_t Version, class T>
std::vector<std::byte> written(const T& value) {
  ByteBuffer out;
  FieldWriter<Version> writer(out, kEpoch);
  out.stop(writer.put(out.end(), value));
  return {out.bytes().begin(), out.bytes().end()};
}

template <class T>
std::string read(ByteSpan bytes, std::uint32_t version, T& value, Instant base = kEpoch) {
  ByteReader in(bytes);
  FieldReader reader(in, version);
  if (!reader.take(value, base)) return reader.error();
  return in.left() == 0 ? "" : "something is left";
}

TEST(FactCodec, gives_every_kind_back_with_its_defaults) {
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) {
    const Fact fact{at_seconds(5), 9, Kind{}};
    const auto again = facts_of(batch_of({fact}));
    ASSERT_TRUE(again && again->size() == 1) << Fields<Kind>::name;
    EXPECT_TRUE(same_fact(again->front(), fact)) << Fields<Kind>::name;
  });
}

TEST(FactCodec, gives_any_facts_back_and_has_one_form_for_each) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto facts = random_facts(3 * AllKinds::kCount, seed);
    const auto batch = batch_of(facts);
    const auto again = facts_of(batch);
    ASSERT_TRUE(again) << seed << ": " << again.error().message;
    ASSERT_TRUE(same_facts(*again, facts)) << seed;
    ASSERT_EQ(batch_of(*again), batch) << seed;
  }
}

TEST(FactCodec, is_compact_for_what_is_usual) {
  FactEncoder encoder;
  const Finished finished{JobId{100}, Outcome::completed, 100};
  encoder.append({at_seconds(1'000'000), 1'000'000, &finished});
  const std::size_t first = encoder.size();
  encoder.append({at_seconds(1'000'000), 1'000'001, &finished});
  EXPECT_EQ(encoder.size() - first, 10U) << "kind, time, number, job, outcome, dispatch, status, and three of its use";
  Submitted submitted{JobId{100}, {}, seconds(60)};
  submitted.spec.submit = at_seconds(1'000'000);
  const std::size_t second = encoder.size();
  encoder.append({at_seconds(1'000'000), 1'000'002, &submitted});
  EXPECT_LE(encoder.size() - second, 36U);
}

TEST(FactCodec, cut_anywhere_gives_what_was_before_or_a_sentence) {
  const auto facts = random_facts(2 * AllKinds::kCount, 3);
  const auto batch = batch_of(facts);
  std::size_t whole = 0;
  for (std::size_t size = 0; size < batch.size(); ++size) {
    const auto again = facts_of(ByteSpan(batch).first(size));
    if (!again) {
      ASSERT_TRUE(again.error().message.starts_with("fact ")) << again.error().message;
      continue;
    }
    ++whole;
    ASSERT_LT(again->size(), facts.size());
    for (std::size_t i = 0; i < again->size(); ++i) ASSERT_TRUE(same_fact((*again)[i], facts[i]));
  }
  EXPECT_EQ(whole, facts.size()) << "at the beginning and after each fact but the last";
}

TEST(FactCodec, takes_any_bytes) {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = batch_of(random_facts(3, static_cast<std::uint64_t>(i)));
    for (std::int64_t flips = random.between(1, 4); flips > 0; --flips) {
      const auto place = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(bytes.size()) - 1));
      bytes[place] ^= static_cast<std::byte>(1U << random.between(0, 7));
    }
    const auto facts = facts_of(bytes);
    if (facts) {
      ASSERT_EQ(batch_of(*facts), bytes) << "what is read has one form";
    }
  }
}

TEST(FactCodec, says_what_it_cannot_read) {
  const auto error = [](const std::vector<int>& numbers) {
    const auto bytes = bytes_of(numbers);
    const auto facts = facts_of(bytes);
    return facts ? "nothing" : facts.error().message;
  };
  EXPECT_EQ(error({12, 0, 0, 4, 0, 198, 1, 0, 0}),
            fmt::format("fact 2 of the batch is of kind 99, and there are {}", AllKinds::kCount));
  EXPECT_EQ(error({12, 0}), "fact 1 of the batch ends too early");
  EXPECT_EQ(error({22, 0, 0, 4, 7}), "fact 1 of the batch, finished, cannot be read; outcome: there is no such value");
  EXPECT_EQ(error({14, 0, 0, 4, 2}),
            "fact 1 of the batch, launch_failed, cannot be read; again: it is neither yes nor no");
  EXPECT_EQ(error({42, 0, 0, 4, 0, 3, 1}),
            "fact 1 of the batch, promised, cannot be read; where.shares: the list is longer than all that is left");
  EXPECT_EQ(error({42, 0, 0, 4, 0, 2, 1, 1, 1}),
            "fact 1 of the batch, promised, cannot be read; where.shares[1].processors: the bytes end in it, or are no "
            "whole number");
  EXPECT_EQ(error({13, 0, 0}), "fact 1 of the batch does not say when it happened");
}

TEST(FactCodec, has_room_for_every_instant) {
  const std::vector<Instant> bases{kEpoch, kNever, Instant::min(), Instant::max(), at_seconds(-5)};
  std::vector<Instant> values = bases;
  for (const Instant base : bases) {
    for (const std::int64_t step : {-2, -1, 1, 2}) {
      const auto sum = static_cast<std::uint64_t>(base.time_since_epoch().count()) + static_cast<std::uint64_t>(step);
      values.emplace_back(Duration{static_cast<std::int64_t>(sum)});
    }
  }
  for (const Instant base : bases) {
    for (const Instant value : values) {
      ByteBuffer out;
      FieldWriter<1> writer(out, base);
      out.stop(writer.put(out.end(), value));
      Instant again;
      ASSERT_EQ(read(out.bytes(), 1, again, base), "");
      ASSERT_EQ(again, value);
    }
  }
}

TEST(FactCodec, refuses_numbers_that_take_more_bytes_than_they_need) {
  for (const std::vector<int>& numbers : std::vector<std::vector<int>>{
           {0x80, 0x00}, {0xff, 0x80, 0x00}, {0x80}, {}, {255, 255, 255, 255, 255, 255, 255, 255, 255, 2}}) {
    const auto bytes = bytes_of(numbers);
    std::uint64_t n = 0;
    EXPECT_FALSE(ByteReader(bytes).number(n));
  }
}

TEST(FactCodec, reads_older_versions_with_defaults_for_what_they_do_not_have) {
  const Box box{{{5, 6, {7, 8}, at_seconds(9)}, {10, 11, {}, kEpoch}}, false};
  Box again;
  ASSERT_EQ(read(written<1>(box), 1, again), "");
  EXPECT_TRUE(same(again, Box{{{5, -7, {7, 8}, kNever}, {10, -7, {}, kNever}}, true}));
  ASSERT_EQ(read(written<2>(box), 2, again), "");
  EXPECT_TRUE(same(again, Box{{{5, 6, {7, 8}, kNever}, {10, 11, {}, kNever}}, false}));
  ASSERT_EQ(read(written<3>(box), 3, again), "");
  EXPECT_TRUE(same(again, box));
}

}  // namespace
}  // namespace rota::store
