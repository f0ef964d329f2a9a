#include "base/text.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rota {
namespace {

using std::string_literals::operator""s;
using Pieces = std::vector<std::string_view>;

std::string sentence(const auto& result) { return result ? "no error" : result.error().message; }

TEST(Trimmed, TakesBlanksOffBothEndsOnly) {
  EXPECT_EQ(trimmed(" \t a b \r\n"), "a b");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("", ','), (Pieces{""}));
  EXPECT_EQ(split("a,,b,", ','), (Pieces{"a", "", "b", ""}));
}

TEST(Quoted, ShowsWhatCannotBePrintedAsHex) {
  EXPECT_EQ(rota::quoted("easy"), "\"easy\"");
  EXPECT_EQ(rota::quoted("a\nb\x1b[31m\x7f"), R"("a\x0ab\x1b[31m\x7f")");
  EXPECT_EQ(rota::quoted("a\0b"s), R"("a\x00b")");
  EXPECT_EQ(rota::quoted("say \"no\" \\"), R"("say \"no\" \\")");
}

TEST(Quoted, KeepsUtf8AndEscapesEverythingElseAboveAscii) {
  EXPECT_EQ(rota::quoted("Klus\u00e1\u010dek"), "\"Klus\u00e1\u010dek\"");
  EXPECT_EQ(rota::quoted("Klus\xe1"), R"("Klus\xe1")");
  EXPECT_EQ(rota::quoted("\u009b"), R"("\xc2\x9b")");  // a control character that terminals obey
}

TEST(Quoted, ShowsFortyCharactersAtMost) {
  EXPECT_EQ(rota::quoted(std::string(40, 'x')), fmt::format("\"{}\"", std::string(40, 'x')));
  EXPECT_EQ(rota::quoted(std::string(41, 'x')), fmt::format("\"{}\"...", std::string(40, 'x')));
}

TEST(Escaped, LeavesAloneWhatCanBePrinted) {
  EXPECT_EQ(escaped("caf\u00e9 \"a\\b\", \u20ac 5"), "caf\u00e9 \"a\\b\", \u20ac 5");
  EXPECT_EQ(escaped("a\x1b[31m\nb\u009b\x7f\xe9"), "a\\x1b[31m\\x0ab\\xc2\\x9b\\x7f\\xe9");
  EXPECT_EQ(escaped(quoted("\x1b")), quoted("\x1b"));
}

TEST(Escaped, ShowsWhatWouldTurnTheDirectionOfWriting) {
  for (const char* turns : {"\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    const std::string text = fmt::format("a{}b", turns);
    EXPECT_EQ(escaped(text).substr(0, 5), "a\\xe2");
    EXPECT_EQ(escaped(text).find(turns), std::string::npos);
    EXPECT_EQ(one_line(text), "a?b");
  }
  for (const char* plain : {"\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a", "\u05d0\u05d1"})
    EXPECT_EQ(escaped(plain), plain);
}

TEST(Amount, IsOfOneThingOrOfSeveral) {
  EXPECT_EQ(amount(0, "job"), "0 jobs");
  EXPECT_EQ(amount(1, "job"), "1 job");
  EXPECT_EQ(amount(2000, "job"), "2,000 jobs");
}

TEST(OneLine, LeavesNoControlCharacter) {
  EXPECT_EQ(one_line("batch\n\x1b[1m \u009b\x7f caf\u00e9"), "batch??[1m ?? caf\u00e9");
}

TEST(WithoutMiddle, LeavesTheBeginningAndTheEndOfALongText) {
  EXPECT_EQ(without_middle("0123456789abcdef", 16), "0123456789abcdef");
  EXPECT_EQ(without_middle("0123456789abcdefg", 16), "0123456 ... defg");
  for (std::size_t most = 16; most < 40; ++most) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "\u20ac";
    const std::string cut = without_middle(text, most);
    EXPECT_LE(cut.size(), most);
    EXPECT_GT(cut.size() + 6, most);
    EXPECT_TRUE(is_utf8(cut)) << cut;
  }
}

TEST(ParseInteger, ReadsTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "+", "-", "+-7", "4 2", "42 ", "4.0", "0x10", "abc"})
    EXPECT_NE(sentence(parse_integer(bad)).find("is not a whole number"), std::string::npos) << bad;
  EXPECT_EQ(sentence(parse_integer("9223372036854775808")), "\"9223372036854775808\" is too large a number.");
}

TEST(ParseNumber, ReadsFiniteDecimalsOnly) {
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("-1e3"), -1000.0);
  EXPECT_EQ(parse_number("+2.25"), 2.25);
  for (const char* bad : {"", "nan", "inf", "-inf", "1,5", "1.5x", " 1"})
    EXPECT_NE(sentence(parse_number(bad)).find("is not a number"), std::string::npos) << bad;
  EXPECT_NE(sentence(parse_number("1e999")).find("too large"), std::string::npos);
}

TEST(ParseDuration, CountsBareNumbersAsSeconds) {
  EXPECT_EQ(parse_duration("90"), seconds(90));
  EXPECT_EQ(parse_duration("0"), seconds(0));
  EXPECT_EQ(parse_duration("1.5"), Duration{1500});
}

TEST(ParseDuration, AddsUnitsFromLargeToSmall) {
  EXPECT_EQ(parse_duration("90s"), seconds(90));
  EXPECT_EQ(parse_duration("1.5h"), seconds(5400));
  EXPECT_EQ(parse_duration("2d12h"), seconds(216'000));
  EXPECT_EQ(parse_duration("250ms"), Duration{250});
  EXPECT_EQ(parse_duration("1w2d3h4m5s6ms"), Duration{788'645'006});
  EXPECT_EQ(parse_duration("0.1h"), seconds(360));
  EXPECT_EQ(parse_duration("0.0004"), Duration{0});
  EXPECT_EQ(parse_duration("0.0005"), Duration{1});
}

TEST(ParseDuration, ReadsSlurmsForms) {
  EXPECT_EQ(parse_duration("05:30"), seconds(330));
  EXPECT_EQ(parse_duration("01:02:03"), seconds(3723));
  EXPECT_EQ(parse_duration("1-12"), seconds(129'600));
  EXPECT_EQ(parse_duration("1-12:30"), seconds(131'400));
  EXPECT_EQ(parse_duration("1-12:30:15"), seconds(131'415));
  EXPECT_EQ(parse_duration("0-36:00"), seconds(129'600));
  EXPECT_EQ(parse_duration("00:00.250"), Duration{250});
  EXPECT_EQ(parse_duration("UNLIMITED"), kLongest);
  EXPECT_EQ(parse_duration("infinite"), kLongest);
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
  for (const char* bad :
       {"",      "abc",  "-5",  "-1:30", "1-",   "-",   ":",   "1:",    ":1",     "1:2:3:4", "1h30",
        "30m1h", "1h1h", "5x",  "1.",    ".5",   "1e3", " 90", "90 ",   "1.5:30", "1-1.5",   "1d04:05",
        "+5",    "1 h",  "0x5", "1--2",  "1d 5", "s",   "ms",  "1-2-3", "\xff"})
    EXPECT_NE(sentence(parse_duration(bad)).find("is not a duration"), std::string::npos) << bad;
}

TEST(ParseDuration, RefusesWhatIsTooLong) {
  EXPECT_EQ(parse_duration("100000000000"), kLongest);
  for (const char* bad : {"100000000001", "100000000000.001", "99999999999999999999", "1157408d", "9999999999-00",
                          "99999999999:00:00", "100000000000s1ms"})
    EXPECT_NE(sentence(parse_duration(bad)).find("too long a duration"), std::string::npos) << bad;
}

TEST(FormatDuration, WritesClockTimes) {
  EXPECT_EQ(format_duration(seconds(0)), "00:00");
  EXPECT_EQ(format_duration(Duration{245'250}), "04:05.250");
  EXPECT_EQ(format_duration(seconds(11'045)), "03:04:05");
  EXPECT_EQ(format_duration(seconds(183'845)), "2d 03:04:05");
  EXPECT_EQ(format_duration(seconds(-5)), "-00:05");
  EXPECT_EQ(format_duration(Duration::min()).front(), '-');
}

RC_GTEST_PROP(FormatDuration, IsReadBackAsTheSame, ()) {
  const Duration d{*rc::gen::inRange<std::int64_t>(0, kLongest.count() + 1)};
  RC_ASSERT(parse_duration(format_duration(d)).value() == d);
}

TEST(ParseSize, ReadsBytesAndBinaryUnits) {
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("64kB"), 65536);
  EXPECT_EQ(parse_size("2.5GiB"), 2'684'354'560);
  EXPECT_EQ(parse_size("1T"), 1'099'511'627'776);
  EXPECT_EQ(parse_size("7E"), std::int64_t{7} << 60U);
  EXPECT_EQ(parse_size("0.5E"), std::int64_t{1} << 59U);
  EXPECT_EQ(parse_size("10B"), 10);
  for (const char* bad : {"", "K", "-1K", "1Q", "1KK", "1iB", "1 K", "1.K", "nan"})
    EXPECT_NE(sentence(parse_size(bad)).find("is not a size"), std::string::npos) << bad;
  EXPECT_NE(sentence(parse_size("8E")).find("too large a size"), std::string::npos);
  EXPECT_GT(parse_size("7.9999999999E").value(), std::int64_t{7} << 60U) << "nothing may overflow on the way";
}

TEST(FormatSize, WritesOneDecimalAtMost) {
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(1023), "1023");
  EXPECT_EQ(format_size(1536), "1.5K");
  EXPECT_EQ(format_size(std::int64_t{64} << 30U), "64G");
  EXPECT_EQ(format_size((std::int64_t{1} << 20U) - 1), "1023.9K");
  EXPECT_EQ(format_size(-2048), "-2K");
}

TEST(ParseHostList, SpellsOutRangesWithTheirZeros) {
  EXPECT_EQ(parse_host_list("n[01-03,07],login"), (std::vector<std::string>{"n01", "n02", "n03", "n07", "login"}));
  EXPECT_EQ(parse_host_list("r[1-2]n[8-9]x"), (std::vector<std::string>{"r1n8x", "r1n9x", "r2n8x", "r2n9x"}));
  EXPECT_EQ(parse_host_list(" a , b "), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse_host_list("n[8-11]"), (std::vector<std::string>{"n8", "n9", "n10", "n11"}));
}

TEST(ParseHostList, RefusesWhatIsNoHostList) {
  for (const char* bad : {"", ",", "a,", "n[1", "n1]", "n[[1]]", "n[]", "n[1-]", "n[a-b]", "n[3-1]", "n[1,,2]", "a b",
                          "n[-1]", "n[1-99999999999999999999]"})
    EXPECT_NE(sentence(parse_host_list(bad)).find("is not a host list"), std::string::npos) << bad;
}

TEST(ParseHostList, RefusesTooManyHosts) {
  EXPECT_EQ(parse_host_list("n[1-10]", 10)->size(), 10U);
  for (const char* bad : {"n[1-11]", "n[1-999999999]", "a,n[1-10]", "n[1-4][1-4]"})
    EXPECT_NE(sentence(parse_host_list(bad, 10)).find("more than 10 hosts"), std::string::npos) << bad;
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(295'540), "295,540");
  EXPECT_EQ(grouped(-1'000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(grouped(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Nearest, FindsTypingErrors) {
  const Pieces policies{"fcfs", "easy", "easy-sjbf", "conservative"};
  EXPECT_EQ(nearest("esay", policies), "easy");
  EXPECT_EQ(nearest("EASY", policies), "easy");
  EXPECT_EQ(nearest("conservativ", policies), "conservative");
  EXPECT_EQ(nearest("cons", policies), "conservative");
  EXPECT_EQ(nearest("fcsf", policies), "fcfs");
  EXPECT_EQ(nearest("lottery", policies), "");
  EXPECT_EQ(nearest("", policies), "");
  EXPECT_EQ(nearest(std::string(1000, 'e'), policies), "");
}

TEST(IsUtf8, KnowsEveryIllFormedSequence) {
  EXPECT_TRUE(is_utf8("caf\u00e9 \u20ac \U0001f600"));
  EXPECT_TRUE(is_utf8(""));
  for (const std::string& bad :
       {"\xff"s, "\x80"s, "\xc3"s, "\xc0\x80"s, "\xe0\x80\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s,
        "\xf0\x80\x80\x80"s, "\xe2\x82"s, "\xf5\x80\x80\x80"s, "caf\xe9!"s})
    EXPECT_FALSE(is_utf8(bad)) << rota::quoted(bad);
}

// A value, or a sentence that can be shown.
bool answered(const auto& result) {
  return result.has_value() || (is_utf8(result.error().message) && result.error().message.ends_with("."));
}

RC_GTEST_PROP(TextParsers, AnswerAnyBytes, (const std::string& text)) {
  RC_ASSERT(answered(parse_integer(text)));
  RC_ASSERT(answered(parse_number(text)));
  RC_ASSERT(answered(parse_duration(text)));
  RC_ASSERT(answered(parse_size(text)));
  RC_ASSERT(answered(parse_host_list(text, 100)));
  RC_ASSERT(is_utf8(rota::quoted(text)));
}

}  // namespace
}  // namespace rota
