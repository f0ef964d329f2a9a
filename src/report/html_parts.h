// The parts of the page that stand without scripts: tables and what was granted.
#pragma once

#include <iosfwd>
#include <span>

#include "report/comparison.h"
#include "report/html.h"
#include "report/outcome.h"

namespace rota::report {

inline constexpr std::size_t kMostGrants = 1000;  // listed for each policy

// One <table>, a row for each summary, the best figures marked.
void write_figures(std::ostream& out, std::span<const Figure> all, std::span<const Summary> summaries,
                   const char* caption);

// One <table> for the sites of each summary: a row for all of them, then one for each. Nothing is marked.
void write_sites(std::ostream& out, std::span<const Summary> summaries);

// <dt> and <dd> for each figure.
void write_meanings(std::ostream& out, std::span<const Figure> figures);

// What is noise, where there were copies: a table for each policy; nothing where there were none.
void write_interval_tables(std::ostream& out, std::span<const Summary> summaries);

// Every option and every file that made the page; nothing where neither is told.
void write_made_by(std::ostream& out, const MadeBy& made_by);

// What was left out or assumed when the log was made or read; open where that may be why the rehearsal cannot be
// trusted.
void write_left_out(std::ostream& out, std::span<const Summary> summaries);

// Nothing if no outcome has a grant.
void write_grants(std::ostream& out, std::span<const Outcome> outcomes);

}  // namespace rota::report
