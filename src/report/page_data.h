// What the page's scripts are given: for each workload one JSON object of charts, and columns of single jobs.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/outcome.h"

namespace rota::report {

struct Comparison {
  std::span<const Outcome> outcomes;  // of the same jobs on the same cluster; at least one
  std::vector<Summary> summaries;     // one each
  std::size_t drawn = 0;              // so many of them have their jobs drawn one by one
  std::string apart;                  // why it is not compared with the one before it; empty: of another workload
};

// Whether a power rule reckoned loads somewhere.
bool draws_loads(const Comparison& comparison);
bool draws_nodes(const Comparison& comparison);  // what nodes did over time
bool draws_sites(const Comparison& comparison);  // one by one

// JSON that can stand in a <script> element. page/data.js is its only reader.
std::string chart_data(const Comparison& comparison);

// <script> elements with the columns of report/columns.h in base64: "jobs-INDEX", then "jobs-INDEX-P" for policy P.
void write_job_data(std::ostream& out, const Comparison& comparison, std::size_t index);

}  // namespace rota::report
