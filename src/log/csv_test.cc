#include "log/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"

namespace rota::log {
namespace {

using Strings = std::vector<std::string>;

Strings cells_of(std::string_view line) {
  CsvCells cells;
  const auto read = cells.read(line);
  if (!read) return {"error: " + read.error().message};
  return {(*read)->begin(), (*read)->end()};
}

TEST(Csv, PartsCellsAtCommas) {
  EXPECT_EQ(cells_of("a, b ,,d"), (Strings{"a", "b", "", "d"}));
  EXPECT_EQ(cells_of("a,\r"), (Strings{"a", ""}));
  EXPECT_EQ(cells_of(""), (Strings{""}));
}

TEST(Csv, KeepsWhatIsQuoted) {
  EXPECT_EQ(cells_of(R"("a, b" , "c ""d"" e","",f)"), (Strings{"a, b", "c \"d\" e", "", "f"}));
  EXPECT_EQ(cells_of(R"(5" disk,b)"), (Strings{"5\" disk", "b"}));
}

TEST(Csv, RefusesQuotesWithoutEnd) {
  EXPECT_TRUE(cells_of("\"a,b")[0].starts_with("error: the cell \"\\x22a,b\"") ||
              cells_of("\"a,b")[0].find("no quote") != std::string::npos);
  EXPECT_NE(cells_of("\"a\"b,c")[0].find("and no comma"), std::string::npos);
}

RC_GTEST_PROP(Csv, ReadsWhatItWrites, (const std::vector<std::string>& texts)) {
  Strings wanted;
  std::string line;
  for (const std::string& text : texts) {
    wanted.push_back(one_line(text));
    line += (wanted.size() > 1 ? "," : "") + csv_text(wanted.back());
  }
  RC_PRE(!wanted.empty());
  RC_ASSERT(cells_of(line) == wanted);
}

}  // namespace
}  // namespace rota::log
