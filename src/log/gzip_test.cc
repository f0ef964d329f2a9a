#include "log/gzip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"

namespace rota::log {
namespace {

Result<std::string> unpack(std::string_view packed, std::size_t most = std::size_t{1} << 30U) {
  GzipReader reader(packed, "log.gz", most);
  std::string out;
  while (!reader.done()) {
    TRY(reader.append_to(out));
  }
  return out;
}

std::string noise(std::size_t size) {
  Random random(7);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random.bits());
  return out;
}

TEST(Gzip, UnpacksWhatItPacked) {
  for (const std::string& text : {std::string(), std::string("1 2 3\n"), std::string(3'000'000, 'a'), noise(500'000)})
    EXPECT_EQ(unpack(gzip(text)), text);
}

TEST(Gzip, IsRecognisedByItsFirstBytes) {
  EXPECT_TRUE(is_gzip(gzip("")));
  EXPECT_FALSE(is_gzip("; Version"));
  EXPECT_FALSE(is_gzip("\x1f"));
}

TEST(Gzip, JoinsMembersAndIgnoresZerosAtTheEnd) {
  EXPECT_EQ(unpack(gzip("one\n") + gzip("") + gzip(std::string(200'000, 'b')) + std::string(512, '\0')),
            "one\n" + std::string(200'000, 'b'));
}

TEST(Gzip, FailsOnDataCutOffAnywhere) {
  const std::string packed = gzip("some text that is cut off");
  for (std::size_t size = 1; size < packed.size(); ++size)
    EXPECT_EQ(unpack(packed.substr(0, size)).error().message,
              "log.gz: the gzip data is cut off or damaged. Fetch the file again, and test it with gzip -t.");
}

TEST(Gzip, FailsOnDamageAndOnJunkAfterIt) {
  std::string packed = gzip(noise(1000));
  packed[500] = static_cast<char>(packed[500] + 1);
  EXPECT_FALSE(unpack(packed));
  EXPECT_FALSE(unpack(gzip("text") + "junk"));
}

TEST(Gzip, RefusesToUnpackMoreThanItMay) {
  const std::string bomb = gzip(std::string(8'000'000, '\0'), 12);
  EXPECT_EQ(unpack(bomb, 1 << 20U).error().message, "log.gz: the gzip data unpacks to more than 1M; split the log.");
  EXPECT_EQ(unpack(bomb, 8'000'000)->size(), 8'000'000U);
  EXPECT_FALSE(unpack(gzip(std::string(600, 'x')) + gzip(std::string(600, 'x')), 1000));
}

TEST(Gzip, DoesNotBelieveALyingSize) {
  std::string packed = gzip(std::string(300'000, 'c'));
  EXPECT_EQ(GzipReader(packed, "log.gz").expected(), 300'000U);
  for (std::size_t i = 1; i <= 4; ++i) packed[packed.size() - i] = '\xff';
  EXPECT_LE(GzipReader(packed, "log.gz").expected(), packed.size() * 1032);
  EXPECT_FALSE(unpack(packed)) << "the size is part of the check";
}

RC_GTEST_PROP(Gzip, NeverCrashesOnAnyBytes, (const std::string& text)) {
  const auto junk = unpack("\x1f\x8b\x08" + text, 1 << 20U);
  RC_ASSERT(junk.has_value() || junk.error().message.starts_with("log.gz: the gzip data "));
  RC_ASSERT(unpack(gzip(text)).value() == text);
}

}  // namespace
}  // namespace rota::log
