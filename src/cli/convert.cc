#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "cli/command.h"
#include "trace/gzip.h"
#include "trace/log.h"
#include "trace/sacct.h"
#include "trace/swf_reader.h"
#include "trace/swf_writer.h"

namespace rota::cli {
namespace {

using trace::ImportReport;
using trace::LineBlocks;
using trace::LogFormat;
using trace::SwfField;
using trace::SwfRow;
using trace::SwfWriter;

constexpr std::int64_t kCancelled = 5;  // status in SWF

struct ConvertFlags {
  std::string input;
  std::string output = "-";
  std::string from = "auto";
  bool skip_bad_rows = false;
  bool keep_cancelled = false;
  bool anonymous = false;
};

// Passes a log in SWF through row by row: comments as they are, every row in the 18 fields of the standard.
Result<ImportReport> convert_swf(LineBlocks blocks, const ConvertFlags& flags, const OutputFile& file, SwfWriter& out) {
  ImportReport report;
  const std::string shown = blocks.shown();
  trace::SwfReader reader(std::move(blocks), flags.skip_bad_rows, report);
  bool headed = false;
  reader.on_comment = [&](std::string_view line) {
    headed = true;
    out.comment(line);
  };
  SwfRow row;
  while (!file.failed()) {
    const auto more = reader.next(row);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    if (!flags.keep_cancelled && row[SwfField::status] == kCancelled && row.milli(SwfField::run) <= 0) {
      report.note("cancelled before they started: dropped", row.line);
      continue;
    }
    if (!std::exchange(headed, true)) out.top({});
    out.row(row);
    ++report.kept;
  }
  if (report.kept > 0 || file.failed()) return report;
  return fail(shown + ": it has no job to convert" + std::string(report.rows > 0 ? "; all its rows were dropped" : "") +
              ". Is it a job log in SWF, or written by sacct -X -P?");
}

Result<ImportReport> convert_sacct(LineBlocks blocks, const ConvertFlags& flags, SwfWriter& out) {
  auto log = trace::read_sacct_log(std::move(blocks),
                                   {.skip_bad_rows = flags.skip_bad_rows, .keep_cancelled = flags.keep_cancelled});
  if (!log) return std::unexpected(log.error());
  trace::SwfTop top;
  top.rows = static_cast<std::int64_t>(log->rows.size());
  top.unix_start = log->unix_start;
  top.processors = log->most_processors;
  top.note = "converted from sacct; MaxProcs is the most processors that were in use at once";
  top.partitions = std::move(log->partitions);
  top.queues = std::move(log->queues);
  if (!flags.anonymous) {
    top.users = std::move(log->users);
    top.groups = std::move(log->groups);
  }
  out.top(top);
  for (const SwfRow& row : log->rows) out.row(row);
  return std::move(log->report);
}

Result<LogFormat> wanted_format(const ConvertFlags& flags, LineBlocks& blocks) {
  if (flags.from == "swf") return LogFormat::swf;
  if (flags.from == "sacct") return LogFormat::sacct;
  return trace::format_of(blocks);
}

Result<int> convert(const ConvertFlags& flags) {
  auto blocks = LineBlocks::open(flags.input);
  if (!blocks) return std::unexpected(blocks.error());
  const auto format = wanted_format(flags, *blocks);
  if (!format) return std::unexpected(format.error());
  auto file = OutputFile::create(flags.output);
  if (!file) return std::unexpected(file.error());
  std::optional<trace::GzipStream> packed;
  if (flags.output.ends_with(".gz")) packed.emplace(file->stream());
  Result<ImportReport> report;
  {
    SwfWriter writer(packed ? *packed : file->stream());
    report = *format == LogFormat::sacct ? convert_sacct(std::move(*blocks), flags, writer)
                                         : convert_swf(std::move(*blocks), flags, *file, writer);
  }
  if (!report) return std::unexpected(report.error());
  if (packed) packed->finish();
  const auto written = file->commit();
  if (!written) return std::unexpected(written.error());
  std::fputs(trace::describe(*report).c_str(), stderr);
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command = app.add_subcommand("convert", "write a job log as plain SWF, whatever it was before");
  command
      ->add_option("INPUT", flags->input,
                   "job log: SWF in any dialect, or written by sacct -X -P; gzip is recognised; "
                   "- is standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", flags->output,
                   "where to write it; packed if the name ends in .gz; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--from", flags->from, "format of the input; auto: told from its first line")
      ->check(CLI::IsMember({"auto", "swf", "sacct"}))
      ->capture_default_str();
  command->add_flag("--skip-bad-rows", flags->skip_bad_rows,
                    "drop rows that cannot be read, and count them, instead of stopping at the first");
  command->add_flag("--keep-cancelled", flags->keep_cancelled, "keep jobs that were cancelled before they started");
  command->add_flag("--anonymous", flags->anonymous,
                    "leave the names of users and groups out of the header (from sacct)");
  command->footer(
      "Rows that were dropped or mended are counted on standard error, with the first line of each kind. A file "
      "appears whole or not at all.\n\nExamples:\n"
      "  TZ=UTC sacct -X -P --allusers -S 2024-01-01 -E 2024-07-01 \\\n"
      "    --format=JobIDRaw,User,Group,Partition,QOS,Submit,Start,End,ElapsedRaw,"
      "TimelimitRaw,State,AllocCPUS,ReqCPUS,NNodes,ReqMem > log.txt\n"
      "  rota convert log.txt -o log.swf.gz");
  command->callback([&action, flags] { action = [flags] { return convert(*flags); }; });
}

}  // namespace rota::cli
