// Any bytes as a schedule: never a crash, and what is read is one.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "log/schedule_jobs.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  const auto schedule = log::parse_schedule_jobs({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  if (!schedule) {
    CHECK(is_utf8(schedule.error().message) &&
              schedule.error().message.find_last_of(".?") + 1 == schedule.error().message.size(),
          "errors are sentences");
    return 0;
  }
  Instant last = Instant::min();
  for (const Job& job : schedule->jobs) {
    CHECK(job.spec.submit >= last && job.spec.processors > 0 && job.spec.limit.count() > 0,
          "jobs are in order and possible");
    last = job.spec.submit;
    if (job.ended()) CHECK(job.spec.submit <= job.start && job.start <= job.end, "times are in order");
  }
  return 0;
}
