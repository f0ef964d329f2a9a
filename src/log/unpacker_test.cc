#include "log/unpacker.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"
#include "log/gzip.h"
#include "log/packed_output.h"

namespace rota::log {
namespace {

constexpr std::array kAll{Packing::gzip, Packing::zstd, Packing::xz};

std::string packed(std::string_view text, Packing packing) {
  std::ostringstream out;
  PackingStream stream(out, packing);
  stream << text;
  stream.finish();
  return std::move(out).str();
}

Result<std::string> unpacked(std::string bytes) {
  const Packing packing = packing_of(bytes);
  const auto from = unpacker(packing, PackedInput(std::move(bytes), std::nullopt, "log"));
  std::string text;
  for (;;) {
    const auto more = TRY(from->append_to(text));
    if (!more) return text;
  }
}

std::string noise(std::size_t size) {
  Random random(5);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random.bits());
  return out;
}

TEST(Unpacker, UnpacksWhatWasPacked) {
  for (const Packing packing : kAll) {
    for (const std::string& text :
         {std::string(), std::string("1 2 3\n"), std::string(5'000'000, 'a'), noise(3'000'000)}) {
      const std::string bytes = packed(text, packing);
      EXPECT_EQ(packing_of(bytes), packing);
      EXPECT_TRUE(unpacked(bytes) == text) << static_cast<int>(packing) << " " << text.size();
    }
  }
}

TEST(Unpacker, JoinsWhatWasPackedInParts) {
  for (const Packing packing : kAll)
    EXPECT_EQ(unpacked(packed("one\n", packing) + packed("", packing) + packed("two\n", packing)).value(),
              "one\ntwo\n");
}

TEST(Unpacker, FailsOnDataCutOffAnywhere) {
  for (const Packing packing : kAll) {
    const std::string bytes = packed("some text that is cut off", packing);
    for (std::size_t size = kLongestMagic; size < bytes.size(); ++size)
      EXPECT_FALSE(unpacked(bytes.substr(0, size))) << static_cast<int>(packing) << " " << size;
  }
}

TEST(Unpacker, FailsOnDamage) {
  for (const Packing packing : kAll) {
    std::string bytes = packed(noise(10'000), packing);
    bytes[5000] = static_cast<char>(bytes[5000] + 1);
    EXPECT_NE(unpacked(bytes).error().message.find("data is cut off or damaged"), std::string::npos);
  }
}

// What says that it is larger than may be held is streamed, and comes out the same.
TEST(Unpacker, StreamsAMemberThatSaysItIsLarge) {
  const std::string text(700'000, 'x');
  std::string bytes = gzip(text) + gzip("end");
  EXPECT_EQ(unpacked(bytes).value(), text + "end");
  bytes += std::string(512, '\0');  // as tapes pad
  EXPECT_EQ(unpacked(bytes).value(), text + "end");
}

TEST(Packing, GoesByTheEndingOfTheName) {
  EXPECT_EQ(packing_named("a.swf.gz"), Packing::gzip);
  EXPECT_EQ(packing_named("a.zst"), Packing::zstd);
  EXPECT_EQ(packing_named("a.xz"), Packing::xz);
  EXPECT_EQ(packing_named("a.gz.swf"), Packing::none);
  EXPECT_EQ(without_packing("a.jsonl.xz"), "a.jsonl");
}

}  // namespace
}  // namespace rota::log
