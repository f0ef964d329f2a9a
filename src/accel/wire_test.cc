// Frames, and what checks them.
#include "accel/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace rota::accel {
namespace {

TEST(Wire, HasTheChecksumOfRfc3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8a9136aaU);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Wire, RefusesMoreThanAFrameMayHave) {
  FrameHeader header{.type = FrameType::data, .length = kMostChunk};
  EXPECT_TRUE(decode(encoded(header), header));
  header.length = kMostChunk + 1;
  EXPECT_FALSE(decode(encoded(header), header));
  header = {.type = FrameType::submit, .length = kMostMessage + 1};
  EXPECT_FALSE(decode(encoded(header), header));
}

RC_GTEST_PROP(Wire, HeadersComeBackAndOneWrongBitIsSeen, (std::uint64_t task, std::uint32_t attempt)) {
  FrameHeader header{.type = static_cast<FrameType>(*rc::gen::inRange(1, 15)),
                     .flags = *rc::gen::arbitrary<std::uint16_t>(),
                     .task = task,
                     .attempt = attempt,
                     .length = *rc::gen::inRange<std::uint32_t>(0, kMostMessage),
                     .payload_crc = *rc::gen::arbitrary<std::uint32_t>()};
  HeaderBytes bytes = encoded(header);
  FrameHeader back;
  RC_ASSERT(decode(bytes, back));
  RC_ASSERT(encoded(back) == bytes);
  const int bit = *rc::gen::inRange(0, 256);
  bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::byte>(1U << static_cast<unsigned>(bit % 8));
  RC_ASSERT(!decode(bytes, back));
}

RC_GTEST_PROP(Wire, BodiesComeBackAndAnyBytesAreRead, (std::uint64_t number)) {
  Hello hello;
  RC_ASSERT(decode(encoded(Hello{.epoch = number}), hello));
  RC_ASSERT(hello.epoch == number);
  Submit sent;
  sent.header.payload_bytes = number;
  sent.header.parameters[5] = -1;
  std::copy_n("lu", 2, sent.header.operation);
  Submit submit;
  RC_ASSERT(decode(encoded(sent), submit));
  RC_ASSERT(encoded(submit) == encoded(sent));
  const auto any = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  Welcome welcome;
  Refusal refusal;
  decode(bytes_of(any), hello);
  decode(bytes_of(any), welcome);
  decode(bytes_of(any), submit);
  if (decode(bytes_of(any), refusal)) RC_ASSERT(refusal.outcome != ROTA_ACCEL_DONE);
}

}  // namespace
}  // namespace rota::accel
