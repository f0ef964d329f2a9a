#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/convert_output.h"
#include "cli/time_zone_flag.h"
#include "log/accounted_jobs.h"
#include "log/attribute_table.h"
#include "log/json_batsim.h"
#include "log/json_lines.h"
#include "log/log.h"
#include "log/lsf.h"
#include "log/packed_output.h"
#include "log/packing.h"
#include "log/pbs.h"
#include "log/sacct.h"
#include "log/swf_reader.h"

namespace rota::cli {
namespace {

using log::AttributeTable;
using log::ImportReport;
using log::JobAttributes;
using log::LineBlocks;
using log::LogFormat;
using log::LogTop;
using log::SwfField;
using log::SwfRow;

struct ConvertFlags {
  std::string input;
  std::string output = "-";
  std::string from = "auto";
  std::string to = "auto";
  std::string attributes;        // a sidecar to read; empty: none
  std::string write_attributes;  // a sidecar to write; empty: none
  bool skip_bad_rows = false;
  bool keep_cancelled = false;
  bool anonymous = false;
  std::string time_zone;  // of local times; empty: not told
};

// "; User: 1 anna"
bool names_people(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("; \t"), comment.size()));
  return comment.starts_with("User:") || comment.starts_with("Group:");
}

// One conversion: what is read, where it goes, and what is told of it.
class Conversion {
 public:
  Conversion(const ConvertFlags& flags, const std::optional<AttributeTable>& beside, const log::PackedOutput& file)
      : flags_(flags), beside_(beside), file_(file) {}

  ImportReport& report() { return report_; }

  Result<void> run(LineBlocks blocks, LogFormat format, ConvertOutput& out) {
    const std::string shown = blocks.shown();
    const bool of_sacct = format == LogFormat::sacct || format == LogFormat::sacct_json;
    auto done = of_sacct                          ? from_sacct(std::move(blocks), out)
                : format == LogFormat::json_lines ? from_json_lines(std::move(blocks), out)
                : format == LogFormat::pbs
                    ? from_accounts(log::read_pbs_log(std::move(blocks), options()), "the accounting of PBS", out)
                : format == LogFormat::lsf
                    ? from_accounts(log::read_lsf_log(std::move(blocks), options()), "the accounting of LSF", out)
                : format == LogFormat::batsim ? from_batsim(std::move(blocks), out)
                                              : from_swf(std::move(blocks), out);
    if (!done || report_.kept > 0 || file_.failed()) return done;
    return fail(
        "{}: it has no job to convert{}. Is it a job log in SWF, in JSON lines, written by sacct -X -P, or of PBS, LSF "
        "or Batsim?",
        shown, report_.rows > 0 ? log::why_none(report_, "rows") : std::string());
  }

 private:
  // Row by row: comments as they are, where SWF is written, and every row in the 18 fields of the standard.
  Result<void> from_swf(LineBlocks blocks, ConvertOutput& out) {
    log::SwfReader reader(std::move(blocks), flags_.skip_bad_rows, report_);
    reader.on_comment = [&](std::string_view line) {
      if (!flags_.anonymous || !names_people(line)) out.comment(line);
    };
    SwfRow row;
    LogTop top;
    while (!file_.failed()) {
      const auto more = TRY(reader.next(row));
      if (!more) break;
      if (dropped(row)) continue;
      if (report_.kept == 0) out.top(top = named(reader.header()));
      if (auto done = put(row, said_of(row), out); !done) return done;
    }
    return {};
  }

  Result<void> from_json_lines(LineBlocks blocks, ConvertOutput& out) {
    const std::string shown = blocks.shown();
    log::JsonLinesReader reader(std::move(blocks), flags_.skip_bad_rows, report_);
    SwfRow row;
    JobAttributes attributes;
    LogTop top;
    while (!file_.failed()) {
      const auto more = TRY(reader.next(row, attributes));
      if (!more) break;
      if (dropped(row)) continue;
      if (beside_ && attributes != JobAttributes{}) {
        return fail(
            "{}:{}: job {} has attributes here already, so that {} has no say; leave --attributes out. (To write one, "
            "give --write-attributes.)",
            shown, row.line, row[SwfField::number], flags_.attributes);
      }
      if (report_.kept == 0) {
        top = named(reader.top());
        out.top(flags_.anonymous ? top : reader.top());
      }
      if (flags_.anonymous) {  // names that have turned up
        if (top.partitions.size() < reader.top().partitions.size()) top.partitions = reader.top().partitions;
        if (top.queues.size() < reader.top().queues.size()) top.queues = reader.top().queues;
      }
      if (auto done = put(row, beside_ ? said_of(row) : attributes, out); !done) return done;
    }
    return {};
  }

  Result<void> from_sacct(LineBlocks blocks, ConvertOutput& out) {
    const auto zone = TRY(zone_of(flags_.time_zone));
    log::SwfOptions how = options();
    how.zone = zone;
    return from_accounts(log::read_sacct_log(std::move(blocks), how), "sacct", out);
  }

  Result<void> from_accounts(Result<log::AccountedLog> log, const std::string& what, ConvertOutput& out) {
    if (!log) return std::unexpected(log.error());
    report_ = std::move(log->report);
    report_.kept = 0;
    LogTop top;
    top.rows = static_cast<std::int64_t>(log->rows.size());
    top.unix_start = log->unix_start;
    top.processors = most_processors(*log);
    top.notes = {fmt::format("converted from {}; MaxProcs is the most processors that were in use at once", what)};
    for (const std::string& sentence : log::sentences_of(report_))
      top.notes.push_back(std::string(log::kLeftOut) + sentence);
    top.partitions = std::move(log->partitions);
    top.queues = std::move(log->queues);
    top.users = std::move(log->users);
    top.groups = std::move(log->groups);
    top.node_lists = std::move(log->node_lists);
    out.top(top = named(std::move(top)));
    return put_all(log->rows, log->attributes.get(), out);
  }

  Result<void> from_batsim(LineBlocks blocks, ConvertOutput& out) {
    auto log = TRY(log::read_batsim_log(std::move(blocks), options()));
    report_ = std::move(log.report);
    report_.kept = 0;
    LogTop top;
    top.rows = static_cast<std::int64_t>(log.rows.size());
    top.processors = log.processors;
    top.notes = {"converted from a workload of Batsim"};
    out.top(top);
    return put_all(log.rows, nullptr, out);
  }

  // `of_log`: what the log says beyond the rows; nullptr: nothing. A sidecar comes before it.
  Result<void> put_all(const std::vector<SwfRow>& rows, const AttributeTable* of_log, ConvertOutput& out) {
    std::optional<AttributeTable> both;
    if (beside_ && of_log != nullptr) both = AttributeTable::together(*beside_, *of_log);
    const AttributeTable* const table = both ? &*both : beside_ ? &*beside_ : of_log;
    for (const SwfRow& row : rows) {
      const auto attributes = table != nullptr ? table->attributes_of(row[SwfField::number]) : JobAttributes{};
      if (auto done = put(row, attributes, out); !done) return done;
    }
    return {};
  }

  log::SwfOptions options() const {
    return {.skip_bad_rows = flags_.skip_bad_rows, .keep_cancelled = flags_.keep_cancelled};
  }

  bool dropped(const SwfRow& row) {
    if (flags_.keep_cancelled || row[SwfField::status] != log::kSwfCancelled || row.milli(SwfField::run) > 0)
      return false;
    report_.drop(log::kCancelled, row.line);
    return true;
  }

  Result<void> put(const SwfRow& row, const JobAttributes& attributes, ConvertOutput& out) {
    ++report_.kept;
    return out.job(row, attributes);
  }

  LogTop named(LogTop top) const {
    if (flags_.anonymous) {
      top.users.clear();
      top.groups.clear();
      top.node_lists.reset();
    }
    return top;
  }

  JobAttributes said_of(const SwfRow& row) const {
    return beside_ ? beside_->attributes_of(row[SwfField::number]) : JobAttributes{};
  }

  const ConvertFlags& flags_;
  const std::optional<AttributeTable>& beside_;
  const log::PackedOutput& file_;
  ImportReport report_;
};

Result<LogFormat> wanted_format(const ConvertFlags& flags, LineBlocks& blocks) {
  if (flags.from == "swf") return LogFormat::swf;
  if (flags.from == "sacct") return LogFormat::sacct;
  if (flags.from == "jsonl") return LogFormat::json_lines;
  if (flags.from == "pbs") return LogFormat::pbs;
  if (flags.from == "lsf") return LogFormat::lsf;
  if (flags.from == "batsim") return LogFormat::batsim;
  return log::format_of(blocks);
}

bool writes_json_lines(const ConvertFlags& flags) {
  if (flags.to != "auto") return flags.to == "jsonl";
  return log::without_packing(flags.output).ends_with(".jsonl");
}

bool writes_batsim(const ConvertFlags& flags) {
  if (flags.to != "auto") return flags.to == "batsim";
  return log::without_packing(flags.output).ends_with(".json");
}

Result<void> check(const ConvertFlags& flags) {
  const bool json = writes_json_lines(flags);
  if (writes_batsim(flags) && !(flags.attributes + flags.write_attributes).empty())
    return fail("a workload of Batsim has no fields for attributes: leave --attributes and --write-attributes out.");
  if (!flags.attributes.empty() && !json) {
    return fail(
        "--attributes says what to put into JSON lines, and SWF has no fields for it: write --to jsonl, or give {} to "
        "rota simulate beside the log. (To write one, give --write-attributes.)",
        flags.attributes);
  }
  if (!flags.write_attributes.empty() && json) {
    return fail("JSON lines have the attributes in them: leave --write-attributes out, or write --to swf.");
  }
  if (!flags.write_attributes.empty() &&
      (flags.write_attributes == flags.output || same_file(flags.write_attributes, flags.output))) {
    return fail(
        "the log and its attributes would go to the same place; give --output and --write-attributes two names.");
  }
  return {};
}

Result<int> convert(const ConvertFlags& flags) {
  TRY(check(flags));
  auto blocks = TRY(LineBlocks::open(flags.input));
  const auto format = TRY(wanted_format(flags, blocks));
  std::optional<AttributeTable> beside;
  if (!flags.attributes.empty()) {
    beside = TRY(AttributeTable::read(flags.attributes));
  }
  auto file = TRY(log::PackedOutput::create(flags.output));
  std::optional<log::PackedOutput> sidecar;
  if (!flags.write_attributes.empty()) {
    sidecar = TRY(log::PackedOutput::create(flags.write_attributes));
  }
  Conversion conversion(flags, beside, file);
  {
    const auto out = writes_json_lines(flags) ? json_output(file.stream())
                     : writes_batsim(flags)
                         ? batsim_output(file.stream(), conversion.report())
                         : swf_output(file.stream(), sidecar ? &sidecar->stream() : nullptr, conversion.report());
    TRY(conversion.run(std::move(blocks), format, *out));
  }
  if (sidecar) {
    TRY(sidecar->commit());
  }
  TRY(file.commit());
  std::fputs(log::describe(conversion.report()).c_str(), stderr);
  return kDone;
}

}  // namespace

void add_convert(Command app, Action& action) {
  auto flags = std::make_shared<ConvertFlags>();
  Command command =
      app.add_subcommand("convert", "write a job log as plain SWF or as JSON lines, whatever it was before");
  command
      .add_option("INPUT", flags->input,
                  "job log: SWF in any dialect, JSON lines, written by sacct -X -P or sacct --json, accounting of PBS "
                  "or LSF, or "
                  "a workload of Batsim; gzip, zstd and xz are recognised; "
                  "- is standard input")
      .required()
      .type_name("FILE");
  command
      .add_option("-o,--output", flags->output,
                  "where to write it; packed if the name ends in .gz, .zst or .xz; - is standard output")
      .type_name("FILE")
      .capture_default_str();
  command.add_option("--from", flags->from, "format of the input; auto: told from its beginning")
      .one_of({"auto", "swf", "sacct", "jsonl", "pbs", "lsf", "batsim"})
      .capture_default_str();
  command
      .add_option(
          "--to", flags->to,
          "format of the output; auto: JSON lines if its name ends in .jsonl (or .jsonl.gz and so on), a workload of "
          "Batsim if in .json, else SWF")
      .one_of({"auto", "swf", "jsonl", "batsim"})
      .capture_default_str();
  command
      .add_option("--attributes", flags->attributes,
                  "what the log does not say of its jobs (CSV), to go into the JSON lines")
      .type_name("FILE.csv");
  command
      .add_option("--write-attributes", flags->write_attributes,
                  "also write what SWF has no fields for (CSV), from JSON lines or sacct")
      .type_name("FILE.csv");
  command.add_flag("--skip-bad-rows", flags->skip_bad_rows,
                   "drop rows that cannot be read, and count them, instead of stopping at the first");
  command.add_flag("--keep-cancelled", flags->keep_cancelled, "keep jobs that were cancelled before they started");
  declare_time_zone(command, flags->time_zone);
  command.add_flag(
      "--anonymous", flags->anonymous,
      "leave the names of users and groups (accounts) out; their numbers stay. And on which nodes jobs ran");
  command.footer(
      "Rows that were dropped or mended are counted on standard error, with the first line of each kind. A file "
      "appears whole or not at all.\n\nExamples:\n"
      "  TZ=UTC sacct -X -P --allusers -S 2024-01-01 -E 2024-07-01 \\\n"
      "    --format=JobIDRaw,User,Group,Partition,QOS,Submit,Start,End,ElapsedRaw,"
      "TimelimitRaw,State,AllocCPUS,ReqCPUS,NNodes,ReqMem > log.txt\n"
      "  rota convert log.txt -o log.swf.gz\n"
      "  rota convert log.swf --attributes log.csv -o log.jsonl");
  command.callback([&action, flags] { action = [flags] { return convert(*flags); }; });
}

}  // namespace rota::cli
