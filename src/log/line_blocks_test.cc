#include "log/line_blocks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "log/gzip.h"

namespace rota::log {
namespace {

// Everything that the blocks give, having checked that each is whole lines and may be read a little past its end.
std::string all_of(LineBlocks& blocks) {
  std::string out;
  for (;;) {
    const auto block = blocks.next();
    if (!block) return block.error().message;
    if (block->empty()) return out;
    EXPECT_EQ(block->back(), '\n');
    std::size_t past = 0;
    for (std::size_t i = 0; i < LineBlocks::kPadding; ++i) past += block->data()[block->size() + i] == '\0' ? 1U : 0U;
    EXPECT_LE(past, LineBlocks::kPadding);
    out += *block;
  }
}

class LineBlocksTest : public testing::Test {
 protected:
  LineBlocksTest() : path_(std::filesystem::temp_directory_path() / ("rota-lines-" + std::to_string(::getpid()))) {}
  ~LineBlocksTest() override { std::filesystem::remove(path_); }

  std::string through_file(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    auto blocks = LineBlocks::open(path_);
    return blocks ? all_of(*blocks) : blocks.error().message;
  }

  std::string path_;
};

TEST_F(LineBlocksTest, GivesTheTextAndEndsItsLastLine) {
  EXPECT_EQ(through_file(""), "");
  EXPECT_EQ(through_file("a"), "a\n");
  EXPECT_EQ(through_file("a\n"), "a\n");
  EXPECT_EQ(through_file("a\n\nb"), "a\n\nb\n");
  EXPECT_EQ(through_file("\n"), "\n");
}

TEST_F(LineBlocksTest, CarriesLinesOverTheEdgesOfBlocks) {
  std::string text;
  for (int i = 0; text.size() < 1'500'000; ++i) text += std::string(static_cast<std::size_t>(i % 301), 'x') + "\n";
  EXPECT_EQ(through_file(text), text);
  EXPECT_EQ(through_file(gzip(text)), text);
  auto blocks = LineBlocks::over(text, "text");
  EXPECT_EQ(all_of(blocks), text);
  EXPECT_EQ(blocks.share(), 1.0);
  EXPECT_FALSE(blocks.cut());
}

TEST_F(LineBlocksTest, CarriesLinesOverTheEdgesOfGzipMembers) {
  EXPECT_EQ(through_file(gzip("a\nb") + gzip("") + gzip("c") + gzip("d\ne")), "a\nbcd\ne\n");
}

TEST_F(LineBlocksTest, HoldsLinesLongerThanABlock) {
  const std::string text = fmt::format("short\n{}\nshort\n", std::string(3'000'000, 'y'));
  EXPECT_EQ(through_file(text), text);
}

TEST_F(LineBlocksTest, RefusesALineWithoutEnd) {
  std::filesystem::resize_file((std::ofstream(path_) << "", path_), std::uintmax_t{80} << 20U);
  auto blocks = LineBlocks::open(path_);
  EXPECT_EQ(blocks->next().error().message,
            path_ + ": a line is longer than 64 MiB; that is no job log. Is it the right file?");
}

TEST_F(LineBlocksTest, GivesALineOfAnyLengthInPiecesOfWholeCharacters) {
  std::string text = "short\n";
  while (text.size() < (std::size_t{70} << 20U)) text += "abc\u00e9\u20ac\U0001f600";
  text += "\nend";
  std::ofstream(path_, std::ios::binary) << text;
  auto blocks = LineBlocks::open(path_);
  std::string all;
  for (;;) {
    EXPECT_EQ(blocks->peek_piece().value().size() > 0, all.size() < text.size());
    const std::string_view piece = blocks->next_piece().value();
    if (piece.empty()) break;
    EXPECT_LT(piece.size(), std::size_t{4} << 20U);
    EXPECT_TRUE(is_utf8(piece));
    all += piece;
  }
  EXPECT_EQ(all.size(), text.size() + 1);
  EXPECT_TRUE(all == text + "\n");
}

TEST_F(LineBlocksTest, KnowsThatTheTextWasCut) {
  auto cut = LineBlocks::over("a\nb", "text");
  EXPECT_EQ(all_of(cut), "a\nb\n");
  EXPECT_TRUE(cut.cut());
}

TEST_F(LineBlocksTest, RefusesTextInUtf16) {
  const auto wide = [](std::string_view text, bool high_first) {
    std::string out;
    for (const char c : text) out += high_first ? std::string{'\0', c} : std::string{c, '\0'};
    return out;
  };
  const std::string little = wide("; a log\n", false), big = wide("; a log\n", true);
  for (const auto& [text, encoding] : {std::pair{"\xff\xfe" + little, "UTF-16"},
                                       {"\xfe\xff" + big, "UTF-16"},
                                       {little, "UTF-16LE"},
                                       {big, "UTF-16BE"}}) {
    const auto said = [&](const std::string& shown) {
      return fmt::format(
          "{} is text in UTF-16, as PowerShell and some editors on Windows save it; `iconv -f {} -t UTF-8 OLD > NEW` "
          "converts it.",
          shown, encoding);
    };
    EXPECT_EQ(through_file(text), said(path_));
    EXPECT_EQ(through_file(gzip(text)), said(path_));
    auto blocks = LineBlocks::over(text, "text");
    EXPECT_EQ(all_of(blocks), said("text"));
  }
  EXPECT_EQ(through_file(std::string("a\0b\n", 4)), std::string("a\0b\n", 4));
}

TEST_F(LineBlocksTest, PassesErrorsOn) {
  EXPECT_NE(through_file(gzip("a\nb\n").substr(0, 15)).find("cut off or damaged"), std::string::npos);
  EXPECT_FALSE(LineBlocks::open("/no/such/file"));
}

TEST_F(LineBlocksTest, TellsTheSizeOfTheText) {
  const std::string text(100'000, '\n');
  through_file(text);
  EXPECT_EQ(LineBlocks::open(path_)->size(), 100'000);
  through_file(gzip(text));
  EXPECT_EQ(LineBlocks::open(path_)->size(), 100'000);
  through_file(gzip(text) + gzip(text));
  auto blocks = LineBlocks::open(path_).value();
  ASSERT_TRUE(blocks.next());
  EXPECT_NEAR(static_cast<double>(blocks.size()), 200'000, 100) << "judged by the first member";
}

TEST(WorkloadName, LeavesOutFoldersAndEndings) {
  EXPECT_EQ(workload_name("logs/KTH-SP2.swf.gz"), "KTH-SP2");
  EXPECT_EQ(workload_name("KTH.1996.swf"), "KTH.1996");
  EXPECT_EQ(workload_name("/a/.swf"), ".swf");
  EXPECT_EQ(workload_name("-"), "standard input");
}

}  // namespace
}  // namespace rota::log
