// Figures over several copies of one workload: each with Student's 95 % interval, and its difference to the first
// policy, copy by copy, so that what all copies have in common does not blur it.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/mean.h"

namespace rota::report {

struct Summary;

struct Interval {
  std::string figure;                   // "wait before the start: mean"
  Mean mean = {};                       // in seconds, shares, processor-seconds, kilowatt-hours
  std::optional<Mean> difference = {};  // to the first policy; absent for that one itself
  std::string shown = {};               // "15 min 39 s ±1 min 2 s"
  std::string difference_shown = {};
  std::string unit = {};  // of what is shown ("%"); empty: that says its own, or is a count

  std::string heading() const { return unit.empty() ? figure : fmt::format("{}, {}", figure, unit); }

  // The difference may as well be none.
  bool noise() const;
};

using Measure = std::function<double(const Summary&)>;  // NaN: there is none

// Over the copies of a policy, the mean; without copies that of the one rehearsal.
double typical(const Summary& summary, const Measure& measure);

// The mean of a less b, copy by copy; of no values where they do not have the same number of copies.
Mean paired_difference(const Summary& a, const Summary& b, const Measure& measure);

// The two differ over their copies, and it may as well be chance. False without copies.
bool differ_by_noise(const Summary& a, const Summary& b, const Measure& measure);

// "8 copies", "8 streams": what the means of this policy are of.
std::string copies_told(const Summary& summary);

// What the policies come to, each over the same copies (rows: policies, as the table has them; columns: copies). A
// figure that some copy does not have is left out.
std::vector<std::vector<Interval>> intervals_of(std::span<const std::vector<Summary>> policies);

// Text of UTF-8 with blanks behind it, up to so many columns.
std::string padded(std::string text, std::size_t width);

// A block for each policy; nothing where there are no copies.
void write_intervals(std::ostream& out, std::span<const Summary> rows);

}  // namespace rota::report
