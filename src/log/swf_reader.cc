#include "log/swf_reader.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr std::size_t kMostNotes = 1000;

constexpr const char* kBadRow = "rows that cannot be read: dropped";
constexpr const char* kShortRow = "rows with fewer than 18 fields: the missing ones taken as unknown";
constexpr const char* kLongRow = "rows with more than 18 fields: the others ignored";
constexpr const char* kBadComment = "comments that are not UTF-8: ignored";
constexpr const char* kBadHeader = "header values that are not numbers: ignored";
constexpr const char* kImpossibleHeader = "header values that cannot be: ignored";

bool blank_line(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

constexpr std::int64_t kMostWaiting = UINT32_MAX;  // a workload has fewer jobs

// "1,024" as "1024": commas before three digits and no fourth.
std::string without_grouping(std::string_view value) {
  const auto digit = [&](std::size_t i) { return i < value.size() && value[i] >= '0' && value[i] <= '9'; };
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool groups = value[i] == ',' && i > 0 && digit(i - 1) && digit(i + 1) && digit(i + 2) && digit(i + 3);
    if (!groups || digit(i + 4)) out += value[i];
  }
  return out;
}

// "42 (of 50)" gives 42: logs have remarks behind the numbers. Else what is wrong with it, as a finding: "1.5" and
// "80+8" are no numbers of processors.
const char* read_header_number(std::string_view given, std::int64_t most, std::int64_t& out) {
  const std::string value = without_grouping(given);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range) return kImpossibleHeader;
  if (error != std::errc{}) return kBadHeader;
  if (end != value.data() + value.size() && std::string_view(" \t(;").find(*end) == std::string_view::npos)
    return kBadHeader;
  if (number < 0 || number > most) return kImpossibleHeader;
  out = number;
  return nullptr;
}

// "1 pbatch" or "1 - pbatch" into names[1].
void read_header_name(std::string_view value, NumberedNames& names) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || number == UINT32_MAX) return;
  std::string_view name = trimmed(value.substr(static_cast<std::size_t>(end - value.data())));
  while (name.starts_with("- ") || name.starts_with(": ")) name = trimmed(name.substr(1));
  if (!name.empty()) names[number] = one_line(name);
}

}  // namespace

SwfReader::SwfReader(LineBlocks blocks, bool skip_bad_rows, ImportReport& report)
    : blocks_(std::move(blocks)), report_(report), skip_bad_rows_(skip_bad_rows) {}

Result<bool> SwfReader::next(SwfRow& row) {
  for (;;) {
    if (at_ == end_) [[unlikely]] {
      auto more = refill();
      if (!more || !*more) return more;
    }
    if (const char* const end = scan_swf_row(at_, row)) [[likely]] {
      at_ = end + 1;
      row.line = ++line_;
      last_columns_ = kSwfFields;
      ++report_.rows;
      return true;
    }
    auto odd = take_odd_row(row);
    if (!odd || *odd) return odd;
  }
}

Result<bool> SwfReader::refill() {
  before_ += end_ - begin_;
  const auto block = TRY(blocks_.next());
  begin_ = at_ = block.data();
  end_ = begin_ + block.size();
  if (on_progress) on_progress(blocks_.share());
  return !block.empty();
}

// A comment, a blank line, or a row that is not plain. True: row is a row.
Result<bool> SwfReader::take_odd_row(SwfRow& row) {
  const char* const end = static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
  const std::string_view line(at_, static_cast<std::size_t>(end - at_));
  at_ = end + 1;
  row.line = ++line_;
  if (blank_line(line)) return false;
  if (trimmed(line).front() == ';') {
    if (!is_utf8(line)) {
      if (!skip_bad_rows_)
        return fail(
            "{}:{}: the comment {} is not UTF-8 text. Convert the log (iconv -f LATIN1 -t UTF-8), or ignore such "
            "comments with --skip-bad-rows.",
            blocks_.shown(), line_, quoted(line));
      report_.note(kBadComment, line_);
      return false;
    }
    read_header_line(trimmed(line));
    if (on_comment) on_comment(line);
    return false;
  }
  ++report_.rows;
  auto read = read_swf_row(line, row);
  const bool last = blocks_.cut() && at_ == end_;
  if (read && last && row.columns < last_columns_ && row.columns < kSwfFields)
    read = fail("the last row has {} fields and no end of line: the log is cut off", row.columns);
  if (!read) {
    if (!skip_bad_rows_)
      return fail("{}:{}: {}. Mend the row, or drop such rows with --skip-bad-rows.", blocks_.shown(), line_,
                  read.error().message);
    report_.drop(kBadRow, line_);
    return false;
  }
  last_columns_ = row.columns;
  if (row.columns < kSwfFields) report_.note(kShortRow, line_);
  if (row.columns > kSwfFields) report_.note(kLongRow, line_);
  return true;
}

void SwfReader::read_header_line(std::string_view line) {
  line = trimmed(line.substr(std::min(line.find_first_not_of(';'), line.size())));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
  const char* wrong = nullptr;
  if (key == "MaxProcs") wrong = read_header_number(value, kMostProcessors, header_.processors);
  if (key == "MaxNodes") wrong = read_header_number(value, kMostProcessors, header_.nodes);
  if (key == "UnixStartTime") wrong = read_header_number(value, kLongest / seconds(1), header_.unix_start);
  if (key == "QueueFloor") wrong = read_header_number(value, kMostWaiting, header_.queue_floor);
  if (key == "Partition") read_header_name(value, header_.partitions);
  if (key == "User") read_header_name(value, header_.users);
  if (key == "Queue") read_header_name(value, header_.queues);
  if (key == "Group") read_header_name(value, header_.groups);
  if (key == "Computer") header_.computer = one_line(value);
  if ((key == "Note" || key == "Information") && !value.empty() && header_.notes.size() < kMostNotes) {
    header_.notes.push_back(one_line(value));
  }
  if (wrong) report_.note(wrong, line_);
}

}  // namespace rota::log
