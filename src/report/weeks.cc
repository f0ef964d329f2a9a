#include "report/weeks.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <ostream>

#include "report/intervals.h"
#include "report/readable.h"
#include "report/trust.h"

namespace rota::report {
namespace {

std::string between(const Rule& rule, const Drawn& drawn) {
  return fmt::format("{} ({} to {})", rule.text(drawn.value), rule.text(drawn.low), rule.text(drawn.high));
}

const char* judged(const Drawn& gain) {
  return gain.holds_nothing() ? "may be chance" : gain.value > 0 ? "better" : "worse";
}

void write_rule(std::ostream& out, const Rule& rule, const Summary& row, const Summary& first) {
  const Drawn figure = drawn(rule, *row.weeks);
  if (!std::isfinite(figure.low) || !std::isfinite(figure.high)) return;
  std::string line = fmt::format("  {:<16}{}", rule.heading, padded(between(rule, figure), 44));
  if (&row != &first) {
    const Drawn gain = drawn_gain(rule, *first.weeks, *row.weeks);
    if (std::isfinite(gain.low)) line += padded(between(rule, gain), 44) + judged(gain);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

// Times the recorded mean wait, in the blocks from `begin` to `end`; NaN where no job really waited.
double times_recorded(const Blocks& blocks, std::size_t begin, std::size_t end) {
  double wait = 0;
  double recorded = 0;
  for (std::size_t i = begin; i < end; ++i) {
    wait += blocks[i].wait_of_recorded;
    recorded += blocks[i].recorded_wait;
  }
  return recorded > 0 ? wait / recorded : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void write_weeks(std::ostream& out, std::span<const Summary> rows) {
  const Summary* first = nullptr;
  for (const Summary& row : rows) {
    if (!row.weeks || row.weeks->size() < kFewestBlocks) continue;
    if (first == nullptr) {
      first = &row;
      out << "\nWhat another such stretch of time might bring: " << row.weeks_told << " of the log, drawn anew.\n";
    }
    out << '\n' << row.name() << ": figure (95 % interval)";
    if (&row != first) out << "; better than " << first->name() << " by (95 % interval)";
    out << '\n';
    for (const Rule& rule : rules()) write_rule(out, rule, row, *first);
  }
}

std::string trust_over_time(std::span<const Summary> rows) {
  const Summary* const own = row_of_site(rows);
  if (own == nullptr || !own->weeks || own->weeks->size() < 2) return "";
  const std::size_t half = own->weeks->size() / 2;
  const double first = times_recorded(*own->weeks, 0, half);
  const double second = times_recorded(*own->weeks, half, own->weeks->size());
  if (!(first > 0) || std::isnan(second)) return "";
  return fmt::format(
      "Over time: {} has {} times the recorded mean wait in the first half of the log and {} times in the second; "
      "corrected by what the first half teaches, the second is {} % off.",
      own->name(), readable_number(first, 2), readable_number(second, 2),
      readable_percent(std::abs(second / first - 1), 1));
}

std::string weeks_sentence(const Summary& better, const Summary& other) {
  if (!better.weeks || !other.weeks || better.weeks->size() < kFewestBlocks) return "";
  const Rule& rule = rules().front();
  const Drawn gain = drawn_gain(rule, *other.weeks, *better.weeks);
  if (!std::isfinite(gain.low) || !std::isfinite(gain.high)) return "";
  const std::string what = fmt::format("Over {} drawn anew {} is less under {} than under {} by {}", better.weeks_told,
                                       rule.what, better.name(), other.name(), between(rule, gain));
  return what + (gain.holds_nothing() ? ": that may be chance." : ".");
}

}  // namespace rota::report
