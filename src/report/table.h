// The comparison that `rota simulate` prints: one row a policy, figures aligned, units in the headings, in two blocks
// so that it fits 120 columns,
// or in more where the terminal is narrower.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>

#include "report/metrics.h"
#include "report/parties.h"

namespace rota::report {

struct TableStyle {
  bool colour = false;      // the best figure of each column in bold green (ANSI): for terminals
  std::size_t columns = 0;  // of the terminal: columns that do not fit stand below the others; 0: as wide as it gets
};

// Rows in the order given; a new table where the workload changes. UTF-8 only in names that the user gave.
void write_table(std::ostream& out, std::span<const Summary> summaries, const TableStyle& style = {});

// The first block of it once more for each party.
void write_parties(std::ostream& out, std::span<const PartySummaries> parties, const TableStyle& style = {});

}  // namespace rota::report
