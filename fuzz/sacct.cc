// Any bytes as the output of sacct: never a crash, and what is read holds what the headers promise.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "log/line_blocks.h"
#include "log/sacct.h"

namespace {

using namespace rota;
using namespace rota::log;

void check_rows(const SacctLog& log) {
  std::int64_t last = 0;
  for (const SwfRow& row : log.rows) {
    CHECK(row[SwfField::submit] >= last, "rows are in order of submit time, from 0");
    last = row[SwfField::submit];
    CHECK(row[SwfField::number] >= 0 && row.milli(SwfField::run) >= 0, "numbers and run times are possible");
    CHECK(row[SwfField::user] <= static_cast<std::int64_t>(log.users.size()), "every user has a name");
    CHECK(row.node_memory >= 0 && row[SwfField::requested_memory] >= -1, "memory is possible");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto strict = read_sacct_log(LineBlocks::over(text, "fuzz.txt"), {});
  if (strict) check_rows(*strict);
  if (!strict)
    CHECK(is_utf8(strict.error().message) &&
              strict.error().message.find_last_of(".?") + 1 == strict.error().message.size(),
          "errors are sentences");
  const auto workload = parse_sacct(text, "fuzz.txt", {.skip_bad_rows = true, .keep_cancelled = true});
  CHECK(!strict || workload, "skipping bad rows reads no less");
  if (!workload) return 0;
  for (std::size_t i = 0; i < workload->jobs.size(); ++i)
    CHECK(workload->run_times[i].count() > 0 && workload->jobs[i].limit.count() > 0, "times are possible");
  return 0;
}
