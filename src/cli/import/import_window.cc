#include "cli/import/import_window.h"

#include <algorithm>

namespace rota::cli {
namespace {

using log::SwfField;
using log::SwfRow;

std::optional<std::int64_t> end_of(const SwfRow& row) {
  if (row[SwfField::wait] < 0 || row[SwfField::run] < 0) return std::nullopt;
  const Duration took = Duration{row.milli(SwfField::run)} + row.suspended + row.earlier;
  return row[SwfField::submit] + row[SwfField::wait] + took / seconds(1);
}

}  // namespace

std::optional<Straddlers> straddlers(const log::SacctLog& log) {
  constexpr std::int64_t kLittle = 50;  // one part in so many
  std::optional<std::int64_t> first;
  for (const SwfRow& row : log.rows)
    if (const auto end = end_of(row)) first = std::min(first.value_or(*end), *end);
  if (!first) return std::nullopt;
  const auto jobs = static_cast<double>(log.rows.size());
  const auto before = static_cast<double>(
      std::ranges::count_if(log.rows, [&](const SwfRow& row) { return row[SwfField::submit] < *first; }));
  const std::int64_t last = log.rows.back()[SwfField::submit], rest = last - *first;
  if (rest <= 0 || *first <= rest / kLittle) return std::nullopt;
  if (before * static_cast<double>(rest) * 2 > (jobs - before) * static_cast<double>(*first)) return std::nullopt;
  return Straddlers{static_cast<std::int64_t>(before), *first};
}

}  // namespace rota::cli
