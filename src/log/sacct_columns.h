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
  timelimit,
  timelimit_raw,
  state,
  alloc_cpus,
  ncpus,
  req_cpus,
  alloc_tres,
  req_tres,
  nnodes,
  alloc_nodes,
  req_mem
};
inline constexpr std::size_t kSacctColumns = 24;

class SacctColumns {
 public:
  // Reads the first line. The error says what is missing and how to ask sacct for it.
  Result<void> read_names(std::string_view line);

  // Splits a row; its cells are valid as long as the line is. Fails if it has more or fewer than there are columns.
  Result<void> read_row(std::string_view line);

  bool has(SacctColumn column) const { return place_[static_cast<std::size_t>(column)] >= 0; }
  std::string_view cell(SacctColumn column) const;  // "" where the column is missing

  // parse(cell), its error completed by the names of column and value.
  template <class T>
  Result<T> read(SacctColumn column, Result<T> (*parse)(std::string_view)) const {
    auto value = parse(cell(column));
    if (!value) return fail(complaint(column, value.error().message));
    return value;
  }
  std::string complaint(SacctColumn column, const std::string& what) const;  // `column End is "x", which is ...`

 private:
  std::array<int, kSacctColumns> place_{};  // in cells_; -1: missing
  std::size_t columns_ = 0;
  std::vector<std::string_view> cells_;
};

// Whether a log begins as sacct's output does: used to tell the formats apart.
bool looks_like_sacct(std::string_view first_line);

}  // namespace rota::log
