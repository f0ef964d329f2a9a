// Any bytes as a job log in JSON lines, plain or gzipped: never a crash; what is read holds what the headers promise,
// and what is written is read back as the same jobs with the same attributes, from JSON lines and from SWF with a
// sidecar.
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "log/attribute_table.h"
#include "log/gzip.h"
#include "log/json_lines.h"
#include "log/line_blocks.h"
#include "log/swf_writer.h"

namespace {

using namespace rota;
using namespace rota::log;

constexpr std::size_t kMostText = std::size_t{16} << 20U;

void check_jobs(const Workload& w) {
  CHECK(w.jobs.size() == w.run_times.size() && !w.jobs.empty(), "every job has a run time");
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    const JobSpec& job = w.jobs[i];
    CHECK(job.limit.count() > 0 && job.limit <= kLongest, "limits are possible");
    CHECK(w.run_times[i].count() > 0 && w.run_times[i] <= kLongest, "run times are possible");
    CHECK(job.submit >= kEpoch && job.submit <= kEpoch + kLongest, "submit times are possible");
    CHECK(job.processors > 0 && job.number >= 0 && job.memory >= 0, "numbers, processors and memory are possible");
    CHECK(i == 0 || w.jobs[i - 1].submit <= job.submit, "jobs are in order");
  }
}

// The jobs written in both formats; false where the sidecar cannot hold a name.
bool write(std::string_view text, std::string& json, std::string& swf, std::string& sidecar) {
  ImportReport report;
  JsonLinesReader reader(LineBlocks::over(text, "fuzz.jsonl"), true, report);
  std::ostringstream json_out, swf_out, sidecar_out;
  bool held = true;
  {
    JsonLinesWriter json_writer(json_out);
    SwfWriter swf_writer(swf_out);
    SidecarWriter sidecar_writer(sidecar_out);
    SwfRow row;
    JobAttributes attributes;
    for (bool first = true;; first = false) {
      const auto more = reader.next(row, attributes);
      if (!more || !*more) break;
      if (first) json_writer.top(reader.top());
      json_writer.job(row, attributes);
      swf_writer.row(row);
      held = sidecar_writer.row(row[SwfField::number], attributes).has_value() && held;
    }
  }
  json = json_out.str();
  swf = swf_out.str();
  sidecar = sidecar_out.str();
  return held;
}

void check_same(const Workload& a, const Workload& b) {
  CHECK(a.jobs.size() == b.jobs.size(), "as many jobs");
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    CHECK(a.jobs[i].number == b.jobs[i].number && a.jobs[i].submit == b.jobs[i].submit, "the same job");
    CHECK(a.jobs[i].limit == b.jobs[i].limit && a.run_times[i] == b.run_times[i], "the same times");
    CHECK(a.jobs[i].processors == b.jobs[i].processors && a.jobs[i].user == b.jobs[i].user &&
              a.jobs[i].partition == b.jobs[i].partition,
          "the same size, user and partition");
  }
}

void check_round_trips(std::string_view text, const Workload& w, bool numbers_differ) {
  std::string json, swf, sidecar;
  const bool held = write(text, json, swf, sidecar);
  const auto again = parse_json_lines(json, "again.jsonl", {.skip_bad_rows = !numbers_differ, .keep_cancelled = true});
  CHECK(again.has_value(), "what was written can be read");
  check_same(w, *again);
  CHECK(again->partitions == w.partitions && again->users == w.users, "the same names");
  CHECK((again->attributes == nullptr) == (w.attributes == nullptr), "attributes, or none");
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    CHECK(again->jobs[i].nodes == w.jobs[i].nodes && again->jobs[i].memory == w.jobs[i].memory, "the same nodes");
    const std::int64_t number = w.jobs[i].number;
    CHECK(!w.attributes || w.attributes->attributes_of(number) == again->attributes->attributes_of(number),
          "the same attributes");
  }
  if (!held || !numbers_differ) return;
  const auto plain = parse_swf(swf, "again.swf", {.keep_cancelled = true});
  CHECK(plain.has_value(), "it can be read as SWF");
  check_same(w, *plain);
  const auto table = AttributeTable::parse(sidecar, "again.csv");
  CHECK(table.has_value(), "the sidecar can be read");
  for (const JobSpec& job : w.jobs) {
    JobAttributes said = w.attributes ? w.attributes->attributes_of(job.number) : JobAttributes{};
    said.nodes = job.nodes;
    said.memory = job.memory;
    CHECK(table->attributes_of(job.number) == said, "the sidecar says the same");
  }
}

void check_text(std::string_view text) {
  const auto strict = parse_json_lines(text, "fuzz.jsonl", {.keep_cancelled = true});
  const auto lenient = parse_json_lines(text, "fuzz.jsonl", {.skip_bad_rows = true, .keep_cancelled = true});
  CHECK(!strict || lenient, "skipping bad lines reads no less");
  if (!strict)
    CHECK(is_utf8(strict.error().message) &&
              strict.error().message.find_last_of(".?") + 1 == strict.error().message.size(),
          "errors are sentences");
  if (!lenient) return;
  check_jobs(*lenient);
  check_round_trips(text, *lenient, strict.has_value());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  if (!is_gzip(bytes)) {
    check_text(bytes);
    return 0;
  }
  GzipReader reader(bytes, "fuzz.jsonl.gz", kMostText);
  std::string text;
  while (!reader.done() && reader.append_to(text)) {
  }
  check_text(text);
  return 0;
}
