// Any bytes as a workload of Batsim: never a crash, every job is accounted for, and what is written reads the same.
#include <cstdint>
#include <sstream>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "log/json_batsim.h"
#include "log/line_blocks.h"

namespace {

using namespace rota;
using namespace rota::log;

void check_round_trip(const BatsimLog& log) {
  std::ostringstream out;
  {
    BatsimWriter writer(out);
    writer.processors(log.processors);
    for (const SwfRow& row : log.rows) writer.job(row);
  }
  const auto back = read_batsim_log(LineBlocks::over(out.view(), "back.json"), {});
  CHECK(back && back->rows.size() == log.rows.size(), "what is written is read");
  for (std::size_t i = 0; i < log.rows.size(); ++i) {
    for (const SwfField field :
         {SwfField::number, SwfField::submit, SwfField::run, SwfField::processors, SwfField::requested_time}) {
      CHECK(back->rows[i].milli(field) == log.rows[i].milli(field), "what is written is read as it was");
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto strict = read_batsim_log(LineBlocks::over(text, "fuzz.json"), {});
  if (!strict)
    CHECK(is_utf8(strict.error().message) &&
              strict.error().message.find_last_of(".?") + 1 == strict.error().message.size(),
          "errors are sentences");
  const auto log = read_batsim_log(LineBlocks::over(text, "fuzz.json"), {.skip_bad_rows = true});
  CHECK(!strict || log, "skipping bad jobs reads no less");
  if (!log) return 0;
  CHECK(log->report.rows == log->report.kept + log->report.dropped(), "jobs are kept, or are told to be dropped");
  check_round_trip(*log);
  return 0;
}
