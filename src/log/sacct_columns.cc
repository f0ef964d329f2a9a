#include "log/sacct_columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "log/sacct_cell.h"

namespace rota::log {
namespace {

constexpr std::array<std::string_view, kSacctColumns> kNames{"Cluster",
                                                             "JobID",
                                                             "JobIDRaw",
                                                             "User",
                                                             "Group",
                                                             "Account",
                                                             "Partition",
                                                             "QOS",
                                                             "Submit",
                                                             "Eligible",
                                                             "Start",
                                                             "End",
                                                             "Elapsed",
                                                             "ElapsedRaw",
                                                             "Suspended",
                                                             "Timelimit",
                                                             "TimelimitRaw",
                                                             "State",
                                                             "AllocCPUS",
                                                             "NCPUS",
                                                             "ReqCPUS",
                                                             "AllocTRES",
                                                             "ReqTRES",
                                                             "ReqGRES",
                                                             "NNodes",
                                                             "AllocNodes",
                                                             "ReqNodes",
                                                             "ReqMem",
                                                             "ArrayTaskThrottle",
                                                             "SubmitLine",
                                                             "NodeList",
                                                             "Constraints"};

// Users write into these what they like.
constexpr std::array<std::string_view, 7> kFreeText{"JobName", "Comment",    "AdminComment", "SystemComment",
                                                    "WorkDir", "SubmitLine", "Extra"};

std::string how_to_ask() {
  return std::string("Write the log with sacct -X -P -D --allusers --format=") + kSacctFormat;
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view known) { return same_name(name, known); });
}

// What stands between the first two names of a line of names; empty: it has one only.
std::string_view delimiter_of(std::string_view line) {
  const auto after = std::ranges::find_if_not(line, is_letter);
  const auto next = std::find_if(after, line.end(), is_letter);
  return line.substr(static_cast<std::size_t>(after - line.begin()), static_cast<std::size_t>(next - after));
}

}  // namespace

bool looks_like_sacct(std::string_view first_line) {
  const std::string_view line = trimmed(first_line);
  if (line.starts_with(';') || !is_utf8(line)) return false;  // what is binary is not text in bars
  const std::string_view first =
      line.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(line, is_letter) - line.begin()));
  return line.find('|') != std::string_view::npos || (is_among(kNames, first) && line.size() > first.size());
}

namespace {

// The delimiter that ends a cell: within brackets, as in n[1,3-5], it is part of a list of nodes.
std::size_t end_of_cell(std::string_view line, std::string_view delimiter) {
  const std::size_t at = line.find(delimiter);
  if (delimiter != "," || at == std::string_view::npos) return at;
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open);
  if (open == std::string_view::npos || at < open || close == std::string_view::npos || at > close) return at;
  const std::size_t rest = end_of_cell(line.substr(close), delimiter);
  return rest == std::string_view::npos ? rest : close + rest;
}

}  // namespace

// A cell and the one behind it are one, with what parted them.
void SacctColumns::join_next(std::size_t first) {
  const std::string_view next = cells_[first + 1];
  cells_[first] = {cells_[first].data(), static_cast<std::size_t>(next.data() + next.size() - cells_[first].data())};
  cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

// With commas between the columns, a list of resources (cpu=4,mem=8G) or of nodes (n1,n3) goes over several cells.
void SacctColumns::join_lists() {
  // more(cell, next): whether the next one belongs to it.
  const auto join = [&](SacctColumn column, const auto& more) {
    const int at = place_[static_cast<std::size_t>(column)];
    if (at < 0) return;
    const auto first = static_cast<std::size_t>(at);
    while (cells_.size() > columns_ && first + 1 < cells_.size() && more(cells_[first], cells_[first + 1]))
      join_next(first);
  };
  std::array columns{SacctColumn::alloc_tres, SacctColumn::req_tres, SacctColumn::req_gres, SacctColumn::node_list};
  std::ranges::sort(columns, {}, [&](SacctColumn column) { return place_[static_cast<std::size_t>(column)]; });
  for (const SacctColumn column : columns) {
    if (column == SacctColumn::node_list) {
      join(column, [](std::string_view, std::string_view) { return true; });
    } else {  // each resource stands once in a list
      join(column, [](std::string_view cell, std::string_view next) {
        const std::string name(next.substr(0, next.find('=') + 1));
        return name.ends_with('=') && !cell.starts_with(name) && cell.find("," + name) == std::string_view::npos;
      });
    }
  }
}

// Slurm writes ib|avx for one feature or another. No name of a feature has a blank, and a SubmitLine behind it has.
void SacctColumns::join_constraints() {
  const int at = place_[static_cast<std::size_t>(SacctColumn::constraints)];
  if (at < 0) return;
  const auto one = static_cast<std::size_t>(at);
  const bool before_text = free_text_.size() == 1 && free_text_.front() == one + 1;
  if (!free_text_.empty() && !before_text) return;
  while (cells_.size() > columns_ && !cells_[one].empty() && cells_[one + 1].find(' ') == std::string_view::npos)
    join_next(one);
}

void SacctColumns::split(std::string_view line) {
  cells_.clear();
  for (;;) {
    const std::size_t at = end_of_cell(line, delimiter_);
    cells_.push_back(trimmed(line.substr(0, at)));
    if (at == std::string_view::npos) return;
    line.remove_prefix(at + delimiter_.size());
  }
}

Result<void> SacctColumns::read_names(std::string_view line) {
  const std::string_view between = delimiter_of(trimmed(line));
  if (!between.empty() && trimmed(between).empty() && between.find('\t') == std::string_view::npos) {
    return fail("{}{}: -P puts bars between them.",
                std::string("the columns are parted by blanks, so that cells may be cut off. "), how_to_ask());
  }
  delimiter_ = between.empty() ? "|" : between;
  split(line);
  closed_ = cells_.back().empty();
  if (closed_) cells_.pop_back();
  columns_ = cells_.size();
  place_.fill(-1);
  free_text_.clear();
  for (std::size_t at = columns_; at-- > 0;) {  // backwards, so that the first of two columns of one name counts
    for (std::size_t i = 0; i < kSacctColumns; ++i)
      if (same_name(cells_[at], kNames[i])) place_[i] = static_cast<int>(at);
    if (is_among(kFreeText, cells_[at])) free_text_.push_back(at);
  }
  return check_needed();
}

Result<void> SacctColumns::check_needed() const {
  if (!has(SacctColumn::job_id) && !has(SacctColumn::job_id_raw))
    return fail("{}{}, without -n.",
                std::string("the first line does not name the columns, or JobIDRaw is not among them. "), how_to_ask());
  for (const SacctColumn column : {SacctColumn::submit, SacctColumn::start, SacctColumn::end})
    if (!has(column))
      return fail("the column {} is missing. {}.", kNames[static_cast<std::size_t>(column)], how_to_ask());
  if (!has(SacctColumn::alloc_cpus) && !has(SacctColumn::ncpus) && !has(SacctColumn::req_cpus) &&
      !has(SacctColumn::alloc_tres) && !has(SacctColumn::req_tres))
    return fail("{}{}.", std::string("no column tells the processors of a job, such as AllocCPUS. "), how_to_ask());
  return {};
}

std::vector<std::string> SacctColumns::lacks() const {
  std::vector<std::string> all;
  const auto miss = [&](const char* what, std::initializer_list<SacctColumn> one_of) {
    if (std::ranges::none_of(one_of, [&](SacctColumn column) { return has(column); })) all.emplace_back(what);
  };
  miss("Eligible: jobs wait from their submission on, also while they were held or waited for others",
       {SacctColumn::eligible});
  miss("State: how jobs ended is not known, and whether they have", {SacctColumn::state});
  miss("User: whose jobs they are is not known", {SacctColumn::user});
  miss("ReqNodes: jobs ask for as many nodes as they had", {SacctColumn::req_nodes, SacctColumn::req_tres});
  miss("ReqTRES: accelerators and licences are not known",
       {SacctColumn::req_tres, SacctColumn::alloc_tres, SacctColumn::req_gres});
  miss("ReqMem: memory is not known", {SacctColumn::req_mem, SacctColumn::req_tres, SacctColumn::alloc_tres});
  return all;
}

// No job has these for its number and its times.
bool SacctColumns::names_columns(std::string_view line) const {
  const std::string_view first = line.substr(0, line.find(delimiter_of(line)));
  return is_letter(line.empty() ? '0' : line.front()) && is_among(kNames, trimmed(first)) &&
         line.find("Submit") != std::string_view::npos && line.find("Start") != std::string_view::npos;
}

bool SacctColumns::may_go_on(std::string_view line) const {
  if (free_text_.empty()) return false;
  std::size_t cells = 1;
  for (std::size_t at = line.find(delimiter_); at != std::string_view::npos;
       at = line.find(delimiter_, at + delimiter_.size()))
    ++cells;
  return cells < columns_;
}

bool SacctColumns::is_rest_of_name(std::string_view line) const {
  const bool numbered = place_[static_cast<std::size_t>(SacctColumn::job_id)] == 0 ||
                        place_[static_cast<std::size_t>(SacctColumn::job_id_raw)] == 0;
  if (!numbered || free_text_.empty() || free_text_.front() + 1 != columns_ || !may_go_on(line)) return false;
  return !parse_sacct_id(trimmed(line.substr(0, line.find(delimiter_)))).has_value();
}

bool SacctColumns::is_row(std::string_view line) {
  if (!read_row(line)) return false;
  const auto submit = parse_sacct_time(row_.cell(SacctColumn::submit));
  const bool raw = has(SacctColumn::job_id_raw);
  return submit && *submit &&
         parse_sacct_id(row_.cell(raw ? SacctColumn::job_id_raw : SacctColumn::job_id)).has_value();
}

Result<void> SacctColumns::read_row(std::string_view line) {
  split(line);
  if (closed_ && cells_.back().empty()) cells_.pop_back();
  if (delimiter_ == "," && cells_.size() > columns_ && free_text_.empty()) join_lists();
  if (delimiter_ == "|") join_constraints();
  if (cells_.size() > columns_ && free_text_.size() == 1) {
    const auto at = cells_.begin() + static_cast<std::ptrdiff_t>(free_text_.front());
    const auto last = at + static_cast<std::ptrdiff_t>(cells_.size() - columns_);
    *at = {at->data(), static_cast<std::size_t>(last->data() + last->size() - at->data())};
    cells_.erase(at + 1, last + 1);
  }
  if (cells_.size() != columns_)
    return fail("the row has {} columns where the first line names {}{}", cells_.size(), columns_,
                cells_.size() < columns_ ? " (is it cut off?)"
                : free_text_.empty()
                    ? ""
                    : " (of JobName, Comment, WorkDir and the like, in which anything may stand, only one can be "
                      "there: leave the others out, or give sacct a --delimiter that is in no name)");
  row_.clear();
  for (std::size_t i = 0; i < kSacctColumns; ++i)
    if (place_[i] >= 0) row_.set(static_cast<SacctColumn>(i), cells_[static_cast<std::size_t>(place_[i])]);
  return {};
}

std::string SacctCells::complaint(SacctColumn column, const std::string& what) const {
  return fmt::format("column {} is {}, {}", kNames[static_cast<std::size_t>(column)], rota::quoted(cell(column)), what);
}

}  // namespace rota::log
