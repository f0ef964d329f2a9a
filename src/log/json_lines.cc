#include "log/json_lines.h"

#include <utility>

#include "base/text.h"
#include "log/job_builder.h"
#include "log/json_header.h"

namespace rota::log {
namespace {

constexpr const char* kBadLine = "lines that cannot be read: dropped";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<Workload> read_lines(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  const std::string shown = blocks.shown();
  JobBuilder builder(options);
  auto table = std::make_shared<AttributeTable>(shown);
  JsonLinesReader reader(std::move(blocks), options.skip_bad_rows, builder.report());
  reader.on_progress = options.progress;
  SwfRow row;
  JobAttributes attributes;
  for (;;) {
    const auto more = TRY(reader.next(row, attributes));
    if (!more) break;
    if (builder.full()) builder.make_room(reader.offset(), reader.input().size());
    builder.add(row);
    attributes.nodes = 0;  // the job itself has them
    attributes.memory = 0;
    if (attributes != JobAttributes{}) table->add(row[SwfField::number], attributes, row.line);
  }
  auto workload = builder.finish(shown);
  if (!workload) return workload;
  if (builder.dropped_doubled() && !table->empty()) {
    return fail(shown +
                ": some jobs have the same number, so that it is not clear whose attributes are whose. Give each "
                "job a number of its own.");
  }
  table->finish();
  take_top(*workload, reader.top());
  workload->name = reader.top().workload.empty() ? workload_name(path) : reader.top().workload;
  if (!table->empty()) workload->attributes = std::move(table);
  return workload;
}

}  // namespace

bool looks_like_json(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

JsonLinesReader::JsonLinesReader(LineBlocks blocks, bool skip_bad_rows, ImportReport& report)
    : blocks_(std::move(blocks)), report_(report), skip_bad_rows_(skip_bad_rows) {}

std::unexpected<Error> JsonLinesReader::wrong(const std::string& what) const {
  return fail("{}:{}: {}", blocks_.shown(), line_, what);
}

// The next line that is not blank, or false at the end.
Result<bool> JsonLinesReader::next_line(std::string_view& line) {
  for (;;) {
    if (block_.empty()) {
      const auto block = TRY(blocks_.next());
      if (block.empty()) return false;
      block_ = block;
      taken_ += static_cast<std::int64_t>(block_.size());
      if (on_progress) on_progress(blocks_.share());
    }
    const std::size_t end = block_.find('\n');
    line = block_.substr(0, end);
    block_.remove_prefix(end + 1);
    ++line_;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return true;
  }
}

Result<bool> JsonLinesReader::next(SwfRow& row, JobAttributes& attributes) {
  for (;;) {
    std::string_view line;
    const auto more = next_line(line);
    if (!more || !*more) return more;
    if (!std::exchange(begun_, true)) {
      if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
      if (is_json_header(line)) {
        auto top = read_json_header(line);
        if (!top) return wrong(top.error().message);
        *top_ = std::move(*top);
        parser_->learn();
        continue;
      }
    }
    ++report_.rows;
    row.line = line_;
    const auto parsed = parser_->parse(line, row, attributes);
    if (parsed) return true;
    if (!skip_bad_rows_) {
      return wrong(parsed.error().message + " Mend the line, or drop such lines with --skip-bad-rows.");
    }
    report_.drop(kBadLine, line_);
  }
}

Result<Workload> read_json_lines(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  return read_lines(std::move(blocks), path, options);
}

Result<Workload> parse_json_lines(std::string_view text, const std::string& name, const SwfOptions& options) {
  return read_lines(LineBlocks::over(text, name), name, options);
}

}  // namespace rota::log
