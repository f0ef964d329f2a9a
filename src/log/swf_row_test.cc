#include "log/swf_row.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "log/line_blocks.h"

namespace rota::log {
namespace {

const std::string kPlain = "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1";

std::string wrong(const std::string& line) {
  SwfRow row;
  const auto read = read_swf_row(line, row);
  return read ? "no error" : read.error().message;
}

SwfRow strict(const std::string& line) {
  SwfRow row;
  const auto read = read_swf_row(line, row);
  EXPECT_TRUE(read) << line << ": " << read.error().message;
  return row;
}

// The scanner on a line with the newline and padding that it asks for; false: not plain.
bool scan(const std::string& line, SwfRow& row) {
  const std::string text = fmt::format("{}\n{}", line, std::string(LineBlocks::kPadding, '7'));
  const char* const end = scan_swf_row(text.data(), row);
  EXPECT_TRUE(end == nullptr || end == text.data() + line.size());
  return end != nullptr;
}

TEST(SwfRow, HasTheEighteenFieldsInOrder) {
  const SwfRow row = strict(kPlain);
  EXPECT_EQ(row[SwfField::number], 7);
  EXPECT_EQ(row.milli(SwfField::submit), 100'000);
  EXPECT_EQ(row.milli(SwfField::run), 60'000);
  EXPECT_EQ(row[SwfField::processors], 8);
  EXPECT_EQ(row[SwfField::requested_processors], 16);
  EXPECT_EQ(row.milli(SwfField::requested_time), 3'600'000);
  EXPECT_EQ(row[SwfField::status], 1);
  EXPECT_EQ(row[SwfField::user], 3);
  EXPECT_EQ(row[SwfField::group], 4);
  EXPECT_EQ(row[SwfField::partition], 2);
  EXPECT_EQ(row[SwfField::think_time], -1);
  EXPECT_EQ(row.columns, 18U);
}

TEST(SwfRow, RoundsFractionsToThousandths) {
  EXPECT_EQ(strict("1 0.5 -1 1.2345 4").milli(SwfField::submit), 500);
  EXPECT_EQ(strict("1 0.5 -1 1.2345 4").milli(SwfField::run), 1235);
  EXPECT_EQ(strict("1 1e2 -1 +2.5E1 4.0").milli(SwfField::submit), 100'000);
  EXPECT_EQ(strict("1 1e2 -1 +2.5E1 4.0").milli(SwfField::run), 25'000);
  EXPECT_EQ(strict("1 0 -0.25 1 4").milli(SwfField::wait), -250);
  EXPECT_EQ(strict("1 0.0001 -1 1 4").fractions, 0U);
  EXPECT_EQ(strict("1 .5 -1 5. 4").milli(SwfField::submit), 500);
  EXPECT_EQ(strict("1 .5 -1 5. 4").milli(SwfField::run), 5000);
  EXPECT_EQ(strict("1 0 -1 1.9995 4").milli(SwfField::run), 2000);
  EXPECT_EQ(strict("1 0 -1.9996 1 4").milli(SwfField::wait), -2000);
  EXPECT_EQ(strict("0000000000000000001 0 -1 1 4")[SwfField::number], 1);
}

TEST(SwfRow, TakesMissingFieldsAsUnknown) {
  const SwfRow row = strict("1 2 3 4 5 6 7");
  EXPECT_EQ(row.columns, 7U);
  EXPECT_EQ(row[SwfField::requested_processors], -1);
  EXPECT_EQ(row[SwfField::user], -1);
  EXPECT_EQ(wrong("1 2 3 4"), "the row has 4 of the 18 fields, too few for a job");
}

TEST(SwfRow, ReadsNodesFromThe21stColumnIfTheyMakeUpTheProcessors) {
  const auto nodes = [](const std::string& request, const std::string& processors) {
    return strict(fmt::format("1 0 0 9 {} 1 1024 -1 60 -1 1 1 1 1 -1 1 1 1 {{1,2}} q_2h {}", processors, request))
        .nodes;
  };
  EXPECT_EQ(nodes("2:ppn=32:x86_64:cl_zewura", "64"), 2U);
  EXPECT_EQ(nodes("10:ppn=1", "10"), 10U);
  EXPECT_EQ(nodes("4", "4"), 4U);
  EXPECT_EQ(nodes("2:ppn=32", "63"), 0U);
  EXPECT_EQ(nodes("1:ppn=12+1:ppn=4", "16"), 0U);
  EXPECT_EQ(nodes("zewura19:ppn=12", "12"), 0U);
  EXPECT_EQ(nodes("1:ppn=1.5", "1"), 0U);
  EXPECT_EQ(nodes("4294967295:ppn=4294967295", "1"), 0U);
  EXPECT_EQ(nodes("", "1"), 0U);
}

TEST(SwfRow, SaysWhichFieldIsWrongAndHow) {
  EXPECT_EQ(wrong("1 abc -1 1 4"), "field 2 (submit time) is \"abc\", which is not a number");
  EXPECT_EQ(wrong("1 0 -1 nan 4"), "field 4 (run time) is \"nan\", which is not a number");
  EXPECT_EQ(wrong("1 0 -1 1 -2"), "field 5 (processors used) is \"-2\", but only -1 (unknown) may be negative");
  EXPECT_EQ(wrong("1 0 -1 1 -1.5"), "field 5 (processors used) is \"-1.5\", which is not a whole number");
  EXPECT_EQ(wrong("1 0 -1 -1.001 4"), "field 4 (run time) is \"-1.001\", but only -1 (unknown) may be negative");
  EXPECT_EQ(wrong("-1 0 -1 1 4"), "field 1 (job number) is \"-1\", but must not be negative");
  EXPECT_EQ(wrong("1 0 -1 1 2147483648"), "field 5 (processors used) is \"2147483648\", which is more than 2147483647");
  EXPECT_EQ(wrong("1 100000000001 -1 1 4"),
            "field 2 (submit time) is \"100000000001\", which is more than 100000000000");
  EXPECT_EQ(wrong("1 100000000000.5 -1 1 4"),
            "field 2 (submit time) is \"100000000000.5\", which is more than 100000000000");
  EXPECT_EQ(wrong("99999999999999999999 0 -1 1 4"),
            "field 1 (job number) is \"99999999999999999999\", which is too large");
  EXPECT_EQ(wrong("1 0 999999999999999.9999 1 4"),
            "field 3 (wait time) is \"999999999999999.9999\", which is too large");
  EXPECT_EQ(wrong("1 0 -1 1e999 4"), "field 4 (run time) is \"1e999\", which is too large");
  EXPECT_EQ(wrong("1 0 -1 1 4 -1 -1 -1 -1 -1 -1 4294967295"),
            "field 12 (user) is \"4294967295\", which is more than 4294967294");
  EXPECT_EQ(wrong(std::string("1 \0\x01 2", 6)),
            R"(field 2 (submit time) is "\x00\x01", which is binary data and no text)");
}

TEST(SwfScanner, ReadsPlainRowsInAnySpacing) {
  SwfRow row;
  EXPECT_TRUE(scan(kPlain, row));
  EXPECT_EQ(row.value, strict(kPlain).value);
  for (const std::string line : {"  7    100 5 60 8 55 1024 16   3600 2048 1 3 4 5 6 2   -1  -1",
                                 "7\t100\t5\t60\t8\t55\t1024\t16\t3600\t2048\t1\t3\t4\t5\t6\t2\t-1\t-1\r",
                                 "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1  \t "}) {
    ASSERT_TRUE(scan(line, row)) << line;
    EXPECT_EQ(row.value, strict(kPlain).value) << line;
  }
}

TEST(SwfScanner, LeavesEverythingElseToTheStrictParser) {
  SwfRow row;
  for (const std::string line :
       {"", " ", "7", "; comment", "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1",
        "7 1.5 5 60 8 5 1 1 3 2 1 3 4 5 6 2 -1 -1", "7 +1 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1",
        "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1 9", "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1x",
        "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 - -1", "7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 --1 -1",
        "7 100 5 -2 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1",
        "1234567890123456 0 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1",
        "7-1 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1 -1",
        "7 -1\x01-1 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1"})
    EXPECT_FALSE(scan(line, row)) << line;
  EXPECT_TRUE(scan("123456789012345 0 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1", row));
  EXPECT_EQ(row[SwfField::number], 123'456'789'012'345);
}

// A plain row with at most one odd piece and one odd gap in it, so that both parsers are at the edge of what they take.
std::string nearly_plain_row() {
  const auto pick = [](const std::vector<std::string>& from) { return *rc::gen::elementOf(from); };
  const std::vector<std::string> plain{"-1", "0", "1", "00", "12345678", "123456789", "2147483647"};
  const std::vector<std::string> odd{"-0",
                                     "-2",
                                     "2147483648",
                                     "4294967294",
                                     "4294967295",
                                     "100000000000",
                                     "100000000001",
                                     "999999999999999",
                                     "1000000000000000",
                                     "0000000000000001",
                                     "1.5",
                                     "+1",
                                     "1e3",
                                     "-1.5",
                                     "x",
                                     "-",
                                     "9:",
                                     "1;",
                                     "/1",
                                     "-1.0",
                                     "",
                                     "- 1",
                                     "1\x01",
                                     "\xff"};
  const std::vector<std::string> gaps{"  ", "   ", "\t", " \t", "\r", "", "\v", "-"};
  const auto place = rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 36));  // half of the time none
  const int odd_at = *place, gap_at = *place;
  std::string line;
  for (int i = 0; i < 18; ++i) {
    line += gap_at == i ? pick(gaps) : i == 0 ? "" : " ";
    line += odd_at == i ? pick(odd) : i == 0 ? "7" : pick(plain);
  }
  return line + pick({"", "", " ", "\r", " 5", "x"});
}

RC_GTEST_PROP(SwfScanner, AgreesWithTheStrictParserOnWhatItTakes, ()) {
  int taken = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string line = nearly_plain_row();
    SwfRow fast, slow;
    if (!scan(line, fast)) continue;
    ++taken;
    RC_ASSERT(read_swf_row(line, slow).has_value());
    RC_ASSERT(fast.value == slow.value);
    RC_ASSERT(fast.fractions == slow.fractions);
    RC_ASSERT(fast.columns == slow.columns);
    RC_ASSERT(fast.nodes == slow.nodes);
  }
  RC_CLASSIFY(taken > 0);
}

RC_GTEST_PROP(SwfScanner, TakesEveryPlainRow, ()) {
  const auto values =
      *rc::gen::container<std::vector<std::int64_t>>(18, rc::gen::inRange<std::int64_t>(-1, 2'000'000'000));
  std::string line = std::to_string(values[0] < 0 ? 0 : values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) line += " " + std::to_string(values[i]);
  SwfRow row;
  RC_ASSERT(scan(line, row));
  RC_ASSERT(row.value == strict(line).value);
}

}  // namespace
}  // namespace rota::log
