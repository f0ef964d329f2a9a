#include "log/swf.h"

#include <utility>

#include "log/job_builder.h"
#include "log/line_blocks.h"
#include "log/swf_reader.h"

namespace rota::log {
namespace {

Result<Workload> read_rows(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  const std::string shown = blocks.shown();
  JobBuilder builder(options);
  SwfReader reader(std::move(blocks), options.skip_bad_rows, builder.report());
  reader.on_progress = options.progress;
  SwfRow row;
  for (;;) {
    const auto more = TRY(reader.next(row));
    if (!more) break;
    if (builder.full()) builder.make_room(reader.offset(), reader.input().size());
    builder.add(row);
  }
  auto workload = builder.finish(shown);
  if (!workload) return workload;
  take_top(*workload, reader.header());
  workload->name = workload_name(path);
  return workload;
}

}  // namespace

Result<Workload> read_swf(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  return read_rows(std::move(blocks), path, options);
}

Result<Workload> read_swf(const std::string& path, const SwfOptions& options) {
  auto blocks = TRY(LineBlocks::open(path));
  return read_rows(std::move(blocks), path, options);
}

Result<Workload> parse_swf(std::string_view text, const std::string& name, const SwfOptions& options) {
  return read_rows(LineBlocks::over(text, name), name, options);
}

}  // namespace rota::log
