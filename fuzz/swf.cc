// Any bytes as a job log in SWF, plain or gzipped: never a crash; what is read holds what the headers promise, the two
// row parsers agree, and what is written is read back as the same jobs.
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "log/gzip.h"
#include "log/line_blocks.h"
#include "log/swf.h"
#include "log/swf_row.h"

namespace {

using namespace rota;
using namespace rota::log;

constexpr std::size_t kMostText = std::size_t{16} << 20U;

void check_rows(std::string_view text) {
  auto blocks = LineBlocks::over(text, "fuzz.swf");
  for (;;) {
    const auto block = blocks.next();
    if (!block || block->empty()) return;
    for (std::string_view rest = *block; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      SwfRow fast, strict;
      if (const char* const stop = scan_swf_row(rest.data(), fast)) {
        CHECK(stop == rest.data() + end, "the scanner stops at the end of the line");
        CHECK(read_swf_row(rest.substr(0, end), strict), "the strict parser takes what the scanner takes");
        CHECK(fast.value == strict.value, "both parsers read the same");
      }
      rest.remove_prefix(end + 1);
    }
  }
}

void check_jobs(const Workload& w) {
  CHECK(w.jobs.size() == w.run_times.size() && !w.jobs.empty(), "every job has a run time");
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    const JobSpec& job = w.jobs[i];
    CHECK(job.limit.count() > 0 && job.limit <= kLongest, "limits are possible");
    CHECK(w.run_times[i].count() > 0 && w.run_times[i] <= kLongest, "run times are possible");
    CHECK(job.submit >= kEpoch && job.submit <= kEpoch + kLongest, "submit times are possible");
    CHECK(job.processors > 0 && job.number >= 0, "numbers and processors are possible");
    CHECK(i == 0 || w.jobs[i - 1].submit <= job.submit, "jobs are in order");
  }
}

void check_round_trip(const Workload& w) {
  std::ostringstream out;
  write_swf(out, w);
  const auto again = parse_swf(out.str(), "again.swf");
  CHECK(again.has_value() && again->jobs.size() == w.jobs.size(), "what was written can be read");
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    CHECK(again->jobs[i].number == w.jobs[i].number && again->jobs[i].submit == w.jobs[i].submit, "the same job");
    CHECK(again->jobs[i].limit == w.jobs[i].limit && again->run_times[i] == w.run_times[i], "the same times");
    CHECK(again->jobs[i].processors == w.jobs[i].processors && again->jobs[i].user == w.jobs[i].user, "the same size");
  }
  CHECK(again->partitions == w.partitions && again->processors == w.processors, "the same header");
}

void check_text(std::string_view text) {
  check_rows(text);
  const auto strict = parse_swf(text, "fuzz.swf");
  const auto lenient = parse_swf(text, "fuzz.swf", {.skip_bad_rows = true, .keep_cancelled = true});
  CHECK(!strict || lenient, "skipping bad rows reads no less");
  if (!strict)
    CHECK(is_utf8(strict.error().message) &&
              strict.error().message.find_last_of(".?") + 1 == strict.error().message.size(),
          "errors are sentences");
  if (!lenient) return;
  check_jobs(*lenient);
  check_round_trip(*lenient);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  if (!is_gzip(bytes)) {
    check_text(bytes);
    return 0;
  }
  GzipReader reader(bytes, "fuzz.swf.gz", kMostText);
  std::string text;
  while (!reader.done() && reader.append_to(text)) {
  }
  check_text(text);
  return 0;
}
