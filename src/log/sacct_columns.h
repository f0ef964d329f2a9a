// The columns of sacct's output that Rota reads, and the cells of one row under them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::log {

enum class SacctColumn : std::uint8_t {
  cluster,
  job_id,
  job_id_raw,
  user,
  group,
  account,
  partition,
  qos,
  submit,
  eligible,
  start,
  end,
  elapsed,
  elapsed_raw,
  suspended,
  timelimit,
  timelimit_raw,
  state,
  alloc_cpus,
  ncpus,
  req_cpus,
  alloc_tres,
  req_tres,
  req_gres,
  nnodes,
  alloc_nodes,
  req_nodes,
  req_mem,
  throttle,  // of an array; sacct has no such column
  submit_line,
  node_list,
  constraints
};
inline constexpr std::size_t kSacctColumns = 32;

// What sacct is best asked for, as its --format takes it.
inline constexpr const char* kSacctFormat =
    "JobIDRaw,JobID,Cluster,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,State,"
    "AllocCPUS,ReqCPUS,NNodes,ReqNodes,ReqMem,ReqTRES,AllocTRES,NodeList,Constraints";

// The cells of one row, by column, wherever they came from.
class SacctCells {
 public:
  bool has(SacctColumn column) const { return there_[static_cast<std::size_t>(column)]; }
  std::string_view cell(SacctColumn column) const { return cells_[static_cast<std::size_t>(column)]; }  // "": missing

  // parse(cell), its error completed by the names of column and value.
  template <class T>
  Result<T> read(SacctColumn column, Result<T> (*parse)(std::string_view)) const {
    auto value = parse(cell(column));
    if (!value) return fail(complaint(column, value.error().message));
    return value;
  }
  std::string complaint(SacctColumn column, const std::string& what) const;  // `column End is "x", which is ...`

  void set(SacctColumn column, std::string_view cell) {  // must outlive it
    there_[static_cast<std::size_t>(column)] = true;
    cells_[static_cast<std::size_t>(column)] = cell;
  }
  void clear() {
    there_.fill(false);
    cells_.fill({});
  }

 private:
  std::array<bool, kSacctColumns> there_{};
  std::array<std::string_view, kSacctColumns> cells_{};
};

class SacctColumns {
 public:
  // Reads a line with the names of the columns, and finds out what stands between them: a bar, or what sacct was given
  // as --delimiter. The error says what is missing and how to ask sacct for it.
  Result<void> read_names(std::string_view line);

  // Whether a line names columns, as the first one does and those of further exports in the same text.
  bool names_columns(std::string_view line) const;

  // What is not known of jobs for want of columns: "Eligible: jobs wait from ...". Empty: nothing that matters.
  std::vector<std::string> lacks() const;

  // Splits a row; its cells are valid as long as the line is. A cell of free text, such as JobName, takes what has the
  // delimiter in it. Fails if a row has more or fewer cells than there are columns.
  Result<void> read_row(std::string_view line);

  // Whether a row has too few cells and may go on in the next line: a name may have a newline in it.
  bool may_go_on(std::string_view line) const;

  // Whether a line is what a name with a newline, in the last column of the row before, has behind it: it has too few
  // cells, and does not begin with the number of a job, as rows do.
  bool is_rest_of_name(std::string_view line) const;

  // Whether a line is a row by itself, with the number of a job and a time of submission where they belong; its cells
  // are those of read_row() then.
  bool is_row(std::string_view line);

  // Those of the row that was read last; valid as long as its line is.
  const SacctCells& row() const { return row_; }

 private:
  void split(std::string_view line);
  void join_next(std::size_t first);
  void join_lists();
  void join_constraints();
  bool has(SacctColumn column) const { return place_[static_cast<std::size_t>(column)] >= 0; }
  Result<void> check_needed() const;

  std::string delimiter_ = "|";
  std::array<int, kSacctColumns> place_{};  // in cells_; -1: missing
  std::size_t columns_ = 0;
  bool closed_ = false;                 // lines end with a delimiter, as sacct -p writes them
  std::vector<std::size_t> free_text_;  // columns in which anything may stand
  std::vector<std::string_view> cells_;
  SacctCells row_;
};

// Whether a log begins as sacct's output does: used to tell the formats apart.
bool looks_like_sacct(std::string_view first_line);

}  // namespace rota::log
