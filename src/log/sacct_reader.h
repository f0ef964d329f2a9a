// The rows of sacct's output, as they stand there, with all that is asked in them read: log/sacct.h makes jobs of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "log/job_attributes.h"
#include "log/line_blocks.h"
#include "log/node_lists.h"
#include "log/sacct_columns.h"
#include "log/sacct_dispatches.h"
#include "log/swf.h"
#include "log/workload.h"

namespace rota::log {

// Numbers for names, from 1 in order of appearance.
class NumbersOfNames {
 public:
  std::int32_t number_of(std::string_view name);  // -1: of an empty name
  std::map<std::uint32_t, std::string> by_number() const;

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

// One export of several. Lines count on from export to export.
struct SacctExport {
  std::string shown;
  std::int64_t lines_before = 0;  // of the exports before it
  std::int64_t rows = 0;
  std::vector<std::string> lacks = {};  // SacctColumns::lacks()
};

struct SacctRows {
  std::string shown;  // the first file, for messages
  std::vector<SacctRow> rows;
  std::vector<JobAttributes> requests;  // accelerators, licences and wishes for nodes, by SacctRow::request
  NumbersOfNames users, groups, partitions, queues;
  NodeLists node_lists;       // by SacctRow::ran_on
  std::string cluster;        // whose jobs they are; empty: not told
  std::string other_cluster;  // whose are left out, of the first row of them; empty: there are none
  std::vector<SacctExport> exports;
  bool local_times = false;  // some times are of a clock on the wall, not seconds since 1970
  ImportReport report;
};

// Takes rows one by one, by their cells. Errors are sentences about a column, without file, line and full stop.
class SacctRowTaker {
 public:
  explicit SacctRowTaker(const SwfOptions& options) : options_(options) { out_.requests.emplace_back(); }

  // With skip_bad_rows a row that cannot be read is counted and dropped; steps of jobs are passed over.
  Result<void> read_row(const SacctCells& cells, std::int64_t line);
  Result<void> bad_row(const Error& error, std::int64_t line);            // the same of one that has no cells
  bool full() const { return out_.rows.size() == out_.rows.capacity(); }  // the next row needs room
  // Makes room for as many as there will be if all goes on as it is: `share` of the exports has been read; 0: unknown.
  void make_room(double share);
  SacctRows& out() { return out_; }

 private:
  Result<void> refuse(const Error& error, std::int64_t line);
  Result<void> read_cells(const SacctCells& cells, std::int64_t line);
  Result<bool> is_own(const SacctCells& cells);
  Result<void> read_throttle(const SacctCells& cells, const SacctId& shown, SacctRow& row);
  Result<void> read_times(const SacctCells& cells, SacctRow& row);
  Result<void> mend_start(const SacctCells& cells, SacctRow& row);
  void take_times(const SacctCells& cells, SacctRow& row);
  Result<void> read_processors(const SacctCells& cells, SacctRow& row);
  Result<void> read_limit(const SacctCells& cells, SacctRow& row);
  Result<void> read_requests(const SacctCells& cells, SacctRow& row);
  SacctTres untold_requests(const SacctCells& cells, const SacctTres& per_node, SacctRow& row) const;
  std::int64_t accelerators_on_each(std::int64_t asked, std::int64_t had_nodes, bool& uneven) const;
  Result<void> read_memory(const SacctCells& cells, SacctRow& row);
  Result<void> read_names(const SacctCells& cells, SacctRow& row);
  void read_nodes(const SacctCells& cells, SacctRow& row);
  NodeWishTexts node_wish(const SacctCells& cells, SacctRow& row) const;
  std::uint32_t place_of(const JobAttributes& asks);

  const SwfOptions& options_;
  SacctRows out_;
  SacctTres asked_, got_;
  std::map<std::tuple<std::uint8_t, std::string, std::vector<NamedLicences>, NodeWishTexts>, std::uint32_t>
      places_;  // of requests
};

// Exports of one cluster, in any of sacct's two forms, as one log. Errors name file, line and column.
Result<SacctRows> read_sacct_rows(std::vector<LineBlocks> exports, const SwfOptions& options);

}  // namespace rota::log
