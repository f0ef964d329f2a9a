#include "cli/rehearse/window_flags.h"

#include <fmt/core.h>

#include <optional>

#include "base/text.h"
#include "log/sacct_cell.h"
#include "log/window.h"
#include "site/date.h"

namespace rota::cli {
namespace {

constexpr Duration kDay = seconds(86'400);

// "2024-03-01", "2024-03-01T12:00" or with seconds, or with a zone ("2024-03-01T12:00:00+01:00"): Unix time.
std::optional<Duration> date(std::string text) {
  if (const auto zoned = site::unix_milliseconds_of(text)) return Duration{*zoned};
  constexpr std::string_view kMidnight = "2024-01-01T00:00:00";
  if (text.size() < 10 || text.size() > kMidnight.size() || text[4] != '-') return std::nullopt;
  if (text.size() > 10 && text[10] == ' ') text[10] = 'T';
  text += kMidnight.substr(text.size());
  const auto time = log::parse_sacct_time(text);
  if (!time || !*time) return std::nullopt;
  return seconds(**time);
}

Result<Instant> instant(const char* option, const std::string& text, const log::Workload& workload) {
  if (const auto unix_time = date(text)) {
    if (workload.unix_start == 0)
      return fail(
          "{}: the log does not say when it began (UnixStartTime), so that {} takes the time since its beginning, such "
          "as 7d, and no date.",
          workload.name, option);
    return kEpoch + (*unix_time - seconds(workload.unix_start));
  }
  const auto since = parse_duration(text);
  if (!since)
    return fail(
        "{}: {} is no time. Write a date such as 2024-03-01, 2024-03-01T12:00 (UTC) or 2024-03-01T12:00+01:00, or the "
        "time since the log's beginning: 86400, 7d, 12h.",
        option, rota::quoted(text));
  return kEpoch + *since;
}

}  // namespace

void WindowFlags::declare(Command command) {
  command
      .add_option("--from", from,
                  "leave out jobs submitted before: a date (UTC, or with a zone such as +01:00), or the time since the "
                  "log's beginning such as 7d")
      .type_name("TIME");
  command.add_option("--until", until, "leave out jobs submitted then or later").type_name("TIME");
  command
      .add_option("--warm-up", warm_up,
                  "jobs submitted for so long from the beginning (or --from) on fill the cluster, and are not counted")
      .type_name("DURATION");
}

Result<void> WindowFlags::apply(log::Workload& workload) const {
  log::Window window;
  if (!from.empty()) {
    window.from = TRY(instant("--from", from, workload));
  }
  if (!until.empty()) {
    window.until = TRY(instant("--until", until, workload));
  }
  if (!warm_up.empty()) {
    const auto length = parse_duration(warm_up);
    if (!length) return fail("--warm-up: " + length.error().message);
    window.warm_up = *length;
  }
  if (window.until <= window.from) return fail("--until is not after --from: no time is left between them.");
  return log::cut(workload, window);
}

std::string WindowFlags::note(const log::Workload& workload) const {
  if (!log::cut_before(workload) || workload.warm_up > 0) return "";
  const bool days = workload.jobs.back().submit - workload.jobs.front().submit > 2 * kDay;
  return fmt::format(
      "{}: the window begins with an empty cluster, as no site's day does, so that its first waits are too short; "
      "--warm-up {}would fill it first",
      workload.name, days ? "1d " : "");
}

}  // namespace rota::cli
