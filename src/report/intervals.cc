#include "report/intervals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>

#include "base/text.h"
#include "report/comparison.h"

namespace rota::report {
namespace {

std::vector<const Figure*> compared() {
  std::vector<const Figure*> all;
  for (const auto& figures : {service_figures(), promise_figures(), fairness_figures(), power_figures()}) {
    for (const Figure& figure : figures) {
      const std::string_view name = figure.name;
      if (name != "jobs" || *figure.group != '\0') all.push_back(&figure);
    }
  }
  std::erase_if(all, [](const Figure* figure) { return std::string_view(figure->name) == "CPU"; });
  return all;
}

std::string name_of(const Figure& figure) {
  return *figure.group == '\0' ? figure.name : fmt::format("{}: {}", figure.group, figure.name);
}

std::string with_interval(const Figure& figure, const Mean& mean) {
  return fmt::format("{} \u00b1{}", figure.text(mean.mean), figure.text(mean.margin));
}

Mean paired(std::span<const Summary> a, std::span<const Summary> b, const Measure& measure) {
  std::vector<double> differences;
  differences.reserve(a.size());
  for (std::size_t copy = 0; copy < a.size(); ++copy) differences.push_back(measure(a[copy]) - measure(b[copy]));
  return mean_of(differences);
}

std::vector<double> values_of(const Figure& figure, const std::vector<Summary>& copies) {
  std::vector<double> values;
  values.reserve(copies.size());
  for (const Summary& copy : copies) values.push_back(figure.value(copy));
  return values;
}

bool tells(const std::vector<double>& values) {
  return !values.empty() && std::ranges::none_of(values, [](double value) { return std::isnan(value); });
}

// For an interval that has a difference.
const char* judged(const Interval& interval) {
  if (interval.noise()) return "noise";
  return interval.difference->mean < 0 ? "less" : "more";
}

}  // namespace

std::string padded(std::string text, std::size_t width) {
  const auto columns = static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  text.append(width - std::min(width, columns), ' ');
  return text;
}

double typical(const Summary& summary, const Measure& measure) {
  if (summary.copies.empty()) return measure(summary);
  double sum = 0;
  for (const Summary& copy : summary.copies) sum += measure(copy);
  return sum / static_cast<double>(summary.copies.size());
}

Mean paired_difference(const Summary& a, const Summary& b, const Measure& measure) {
  return a.copies.size() == b.copies.size() ? paired(a.copies, b.copies, measure) : Mean{};
}

bool differ_by_noise(const Summary& a, const Summary& b, const Measure& measure) {
  const Mean difference = paired_difference(a, b, measure);
  return difference.margin > 0 && std::abs(difference.mean) <= difference.margin;
}

std::string copies_told(const Summary& summary) {
  return grouped(static_cast<std::int64_t>(summary.copies.size())) +
         (summary.copies_are_streams ? " streams" : " copies");
}

bool Interval::noise() const { return difference && std::abs(difference->mean) <= difference->margin; }

std::vector<std::vector<Interval>> intervals_of(std::span<const std::vector<Summary>> policies) {
  std::vector<std::vector<Interval>> all(policies.size());
  for (const Figure* figure : compared()) {
    const std::vector<double> first = values_of(*figure, policies.front());
    for (std::size_t p = 0; p < policies.size(); ++p) {
      const std::vector<double> values = values_of(*figure, policies[p]);
      if (!tells(values)) continue;
      Interval& interval = all[p].emplace_back(name_of(*figure), mean_of(values));
      interval.unit = figure->unit;
      interval.shown = with_interval(*figure, interval.mean);
      if (p == 0 || !tells(first)) continue;
      interval.difference = paired(policies[p], policies.front(), figure->value);
      interval.difference_shown = with_interval(*figure, *interval.difference);
    }
  }
  return all;
}

void write_intervals(std::ostream& out, std::span<const Summary> rows) {
  const auto minute = [](const Summary& row) { return !row.intervals.empty() && !row.copies_are_streams; };
  if (std::ranges::any_of(rows, minute)) {
    out << "\nIn the copies each job comes up to a minute later. Their intervals tell what hangs on that, and not what "
           "another\n  month would bring: --weeks does.\n";
  }
  for (const Summary& row : rows) {
    if (row.intervals.empty()) continue;
    out << '\n'
        << row.name() << ", over " << copies_told(row) << ": mean, 95 % interval; difference to the first policy, "
        << (row.copies_are_streams ? "stream by stream" : "copy by copy") << '\n';
    for (const Interval& interval : row.intervals) {
      std::string line = fmt::format("  {}{}", padded(interval.heading(), 38), padded(interval.shown, 28));
      if (interval.difference) line += padded(interval.difference_shown, 30) + judged(interval);
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
    }
  }
}

}  // namespace rota::report
