#include "log/log.h"

#include <utility>

#include "base/text.h"
#include "log/json_lines.h"
#include "log/sacct.h"
#include "log/sacct_columns.h"

namespace rota::log {

Result<LogFormat> format_of(LineBlocks& blocks) {
  auto text = blocks.peek();
  if (!text) return std::unexpected(text.error());
  if (looks_like_json(*text)) return LogFormat::json_lines;
  const std::string_view line = trimmed(text->substr(0, text->find('\n')));
  return looks_like_sacct(line) ? LogFormat::sacct : LogFormat::swf;
}

Result<Workload> read_log(const std::string& path, const SwfOptions& options) {
  auto blocks = LineBlocks::open(path);
  if (!blocks) return std::unexpected(blocks.error());
  const auto format = format_of(*blocks);
  if (!format) return std::unexpected(format.error());
  switch (*format) {
    case LogFormat::sacct:
      return read_sacct(std::move(*blocks), path, options);
    case LogFormat::json_lines:
      return read_json_lines(std::move(*blocks), path, options);
    default:
      return read_swf(std::move(*blocks), path, options);
  }
}

}  // namespace rota::log
