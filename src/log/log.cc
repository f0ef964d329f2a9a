#include "log/log.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "log/accounted_jobs.h"
#include "log/json_batsim.h"
#include "log/json_lines.h"
#include "log/json_sacct.h"
#include "log/lsf.h"
#include "log/pbs.h"
#include "log/sacct.h"
#include "log/sacct_columns.h"
#include "log/searched_line.h"

namespace rota::log {

namespace {

// The first line that is no comment of LSF.
std::string_view first_record(std::string_view text) {
  while (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<LogFormat> format_of(LineBlocks& blocks) {
  const auto begin = TRY(blocks.peek_piece());
  if (looks_like_batsim(begin)) return LogFormat::batsim;
  if (looks_like_json_sacct(begin)) return LogFormat::sacct_json;
  if (looks_like_json(begin)) return LogFormat::json_lines;
  auto text = TRY(blocks.peek());
  const std::string_view line = trimmed(text.substr(0, text.find('\n')));
  if (looks_like_pbs(behind_file_name(line, looks_like_pbs))) return LogFormat::pbs;
  if (looks_like_lsf(behind_file_name(first_record(text), looks_like_lsf))) return LogFormat::lsf;
  return looks_like_sacct(line) ? LogFormat::sacct : LogFormat::swf;
}

namespace {

// What begins neither as a row nor as a comment of SWF. Fails with what it rather looks like.
Result<void> check_begin(LineBlocks& blocks) {
  auto text = TRY(blocks.peek());
  const std::string_view begin = trimmed(text);
  if (begin.empty() || begin.front() == ';' || parse_number(begin.substr(0, begin.find_first_of(" \t\r\n")))) return {};
  const std::string_view line = begin.substr(0, begin.find('\n'));
  std::string why = "this is no job log in SWF, JSON lines or as sacct -P prints them, of PBS, LSF or Batsim";
  if (begin.starts_with("rota-journal ")) {
    why = "this is a journal, which rota replay reads";
  } else if (line.starts_with('[') || line.find(" = ") != std::string_view::npos) {
    why += "; a cluster file goes to --cluster";
  } else if (line.find("JobID") != std::string_view::npos) {
    why += "; sacct's columns are parted by bars if it is called with -P";
  } else if (line.find(',') != std::string_view::npos) {
    why += "; the columns of SWF are parted by blanks";
  }
  return fail("{}:1: {}.", blocks.shown(), why);
}

// A log of another system, once it has been read.
template <class Log>
Result<Workload> made_of(Result<Log> log, const std::string& path, const SwfOptions& options) {
  if (!log) return std::unexpected(log.error());
  return workload_of(std::move(*log), path, options);
}

}  // namespace

Result<Workload> read_log(const std::string& path, const SwfOptions& options) {
  auto blocks = TRY(LineBlocks::open(path));
  const auto format = TRY(format_of(blocks));
  switch (format) {
    case LogFormat::sacct:
    case LogFormat::sacct_json:
      return read_sacct(std::move(blocks), path, options);
    case LogFormat::pbs:
      return made_of(read_pbs_log(std::move(blocks), options), path, options);
    case LogFormat::lsf:
      return made_of(read_lsf_log(std::move(blocks), options), path, options);
    case LogFormat::batsim:
      return made_of(read_batsim_log(std::move(blocks), options), path, options);
    case LogFormat::json_lines:
      return read_json_lines(std::move(blocks), path, options);
    default:
      if (!options.skip_bad_rows) {
        TRY(check_begin(blocks));
      }
      return read_swf(std::move(blocks), path, options);
  }
}

}  // namespace rota::log
