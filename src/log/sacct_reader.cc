#include <algorithm>
#include <utility>

#include "base/text.h"
#include "log/json_sacct.h"
#include "log/log.h"
#include "log/sacct_reader.h"

namespace rota::log {
namespace {

constexpr int kMostLines = 64;  // of one row

// Bytes of text: of exports that have been read, and of all. Less than 0: unknown.
struct Amount {
  std::int64_t read = 0;
  std::int64_t all = 0;
};

// One export in columns.
class Reader {
 public:
  Reader(LineBlocks blocks, const SwfOptions& options, std::int64_t lines_before, Amount bytes, SacctRowTaker& taker)
      : blocks_(std::move(blocks)),
        options_(options),
        bytes_(bytes),
        taker_(taker),
        line_(lines_before),
        before_(lines_before) {}
  Result<std::int64_t> read();  // how many lines there are, with those before

 private:
  Result<void> take_line(std::string_view line);
  Result<void> take_row(std::string_view line);
  Result<void> take_whole_row(std::string_view line);
  Result<void> take_rest();
  double share() const;  // of all exports

  LineBlocks blocks_;
  const SwfOptions& options_;
  Amount bytes_;
  SacctRowTaker& taker_;
  SacctColumns columns_;
  std::string unfinished_;  // a row that may go on in the next line
  int lines_of_it_ = 0;
  std::int64_t line_;
  std::int64_t before_;
  std::int64_t first_line_ = 0;  // of the row
  bool of_row_ = false;          // what is wrong is wrong with the row, which may be one before the line
  bool named_ = false;           // the line with the names of the columns has been read
};

Result<std::int64_t> Reader::read() {
  const auto at = [&](const Error& error) {
    return fail("{}:{}: {}", blocks_.shown(), (of_row_ ? first_line_ : line_) - before_, error.message);
  };
  auto read = blocks_.each_line(
      [&](std::string_view line) -> Result<void> {
        ++line_;
        if (auto taken = take_line(line); !taken) return at(taken.error());
        return {};
      },
      options_.progress);
  if (!read) return std::unexpected(read.error());
  if (auto taken = take_rest(); !taken) return at(taken.error());
  return line_;
}

Result<void> Reader::take_line(std::string_view line) {
  if (unfinished_.empty() && trimmed(line).empty()) return {};
  if (!named_ || columns_.names_columns(line)) {
    if (auto rest = take_rest(); !rest) return rest;
    named_ = true;
    if (auto read = columns_.read_names(line); !read) return read;
    for (std::string& lack : columns_.lacks()) {
      auto& known = taker_.out().exports.back().lacks;
      if (std::ranges::find(known, lack) == known.end()) known.push_back(std::move(lack));
    }
    return {};
  }
  if (!unfinished_.empty() && columns_.is_row(line)) {  // the one before was cut off
    if (auto rest = take_rest(); !rest) return rest;
  }
  if (unfinished_.empty()) {
    if (first_line_ > before_ && columns_.is_rest_of_name(line)) return {};
    first_line_ = line_;
    if (!columns_.may_go_on(line)) return take_row(line);
    unfinished_ = line;
    lines_of_it_ = 1;
    return {};
  }
  unfinished_ += ' ';
  unfinished_ += line;
  if (columns_.may_go_on(unfinished_) && ++lines_of_it_ < kMostLines) return {};
  return take_rest();
}

Result<void> Reader::take_rest() {
  if (unfinished_.empty()) return {};
  const std::string row = std::exchange(unfinished_, "");
  return take_row(row);
}

Result<void> Reader::take_row(std::string_view line) {
  of_row_ = true;
  auto taken = take_whole_row(line);
  of_row_ = !taken;
  return taken;
}

Result<void> Reader::take_whole_row(std::string_view line) {
  if (auto cells = columns_.read_row(line); !cells) return taker_.bad_row(cells.error(), first_line_);
  if (blocks_.cut()) return taker_.bad_row({"the last row ends without a newline (is it cut off?)"}, first_line_);
  if (taker_.full()) taker_.make_room(share());
  return taker_.read_row(columns_.row(), first_line_);
}

double Reader::share() const {
  if (bytes_.all <= 0 || blocks_.size() < 0) return 0;
  return (static_cast<double>(bytes_.read) + blocks_.share() * static_cast<double>(blocks_.size())) /
         static_cast<double>(bytes_.all);
}

}  // namespace

Result<SacctRows> read_sacct_rows(std::vector<LineBlocks> exports, const SwfOptions& options) {
  SacctRowTaker taker(options);
  SacctRows& out = taker.out();
  std::int64_t lines = 0;
  Amount bytes;
  for (const LineBlocks& blocks : exports)
    bytes.all = bytes.all < 0 || blocks.size() < 0 ? -1 : bytes.all + blocks.size();
  for (LineBlocks& blocks : exports) {
    const std::int64_t size = blocks.size();
    const auto format = TRY(format_of(blocks));
    out.exports.push_back({blocks.shown(), lines, -out.report.rows});
    lines = TRY(format == LogFormat::sacct_json ? read_json_sacct(std::move(blocks), options, lines, taker)
                                                : Reader(std::move(blocks), options, lines, bytes, taker).read());
    bytes.read += size;
    out.exports.back().rows += out.report.rows;
  }
  if (!out.exports.empty()) out.shown = out.exports.front().shown;
  return std::move(out);
}

}  // namespace rota::log
