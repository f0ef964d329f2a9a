// What another such stretch of weeks might bring: figures of a rehearsal over weeks of its log that are drawn anew
// (report/blocks.h). Copies of a log (report/intervals.h) say something else: what hangs on a minute.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "report/metrics.h"

namespace rota::report {

// A block for each policy whose weeks are kept: each rule with its interval, and by how much it is better than the
// first one, week by week.
void write_weeks(std::ostream& out, std::span<const Summary> rows);

// Whether the mean waits of two policies differ by more than other weeks might; "" where their weeks are not kept.
std::string weeks_sentence(const Summary& better, const Summary& other);

// How far the rehearsal of what the site has now is from what was recorded in the first half of the log and in the
// second, and how far off the second is once it is corrected by the first; "" where that is not known.
std::string trust_over_time(std::span<const Summary> rows);

}  // namespace rota::report
