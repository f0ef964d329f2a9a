#include "log/sacct_columns.h"

#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::array<const char*, kSacctColumns> kNames{
    "JobID",     "JobIDRaw", "User",    "Group",     "Account",    "Partition", "QOS",          "Submit",
    "Eligible",  "Start",    "End",     "Elapsed",   "ElapsedRaw", "Timelimit", "TimelimitRaw", "State",
    "AllocCPUS", "NCPUS",    "ReqCPUS", "AllocTRES", "ReqTRES",    "NNodes",    "AllocNodes",   "ReqMem"};

constexpr const char* kCommand =
    "Write the log with sacct -X -P --allusers --format=JobIDRaw,User,Partition,Submit,Start,End,ElapsedRaw,"
    "TimelimitRaw,State,AllocCPUS,ReqCPUS,NNodes,ReqMem";

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

void split_into(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t bar = line.find('|');
    cells.push_back(trimmed(line.substr(0, bar)));
    if (bar == std::string_view::npos) return;
    line.remove_prefix(bar + 1);
  }
}

}  // namespace

bool looks_like_sacct(std::string_view first_line) {
  return first_line.find('|') != std::string_view::npos && !trimmed(first_line).starts_with(';') &&
         is_utf8(first_line);  // what is binary is not text in bars
}

Result<void> SacctColumns::read_names(std::string_view line) {
  split_into(line, cells_);
  if (!cells_.empty() && cells_.back().empty()) cells_.pop_back();  // sacct -p ends its lines with a bar
  columns_ = cells_.size();
  place_.fill(-1);
  for (std::size_t at = columns_; at-- > 0;)  // backwards, so that the first of two columns of one name counts
    for (std::size_t i = 0; i < kSacctColumns; ++i)
      if (same_name(cells_[at], kNames[i])) place_[i] = static_cast<int>(at);
  if (!has(SacctColumn::job_id) && !has(SacctColumn::job_id_raw))
    return fail(std::string("the first line does not name the columns, or JobIDRaw is not among them. ") + kCommand +
                ", without -n.");
  for (const SacctColumn column : {SacctColumn::submit, SacctColumn::start, SacctColumn::end})
    if (!has(column))
      return fail(std::string("the column ") + kNames[static_cast<std::size_t>(column)] + " is missing. " + kCommand +
                  ".");
  if (!has(SacctColumn::alloc_cpus) && !has(SacctColumn::ncpus) && !has(SacctColumn::req_cpus) &&
      !has(SacctColumn::alloc_tres) && !has(SacctColumn::req_tres))
    return fail(std::string("no column tells the processors of a job, such as AllocCPUS. ") + kCommand + ".");
  return {};
}

Result<void> SacctColumns::read_row(std::string_view line) {
  split_into(line, cells_);
  if (cells_.size() == columns_ + 1 && cells_.back().empty()) cells_.pop_back();
  if (cells_.size() != columns_)
    return fail("the row has " + std::to_string(cells_.size()) + " columns where the first line names " +
                std::to_string(columns_) + " (leave JobName out, it may have bars in it)");
  return {};
}

std::string_view SacctColumns::cell(SacctColumn column) const {
  const int at = place_[static_cast<std::size_t>(column)];
  return at < 0 ? std::string_view{} : cells_[static_cast<std::size_t>(at)];
}

std::string SacctColumns::complaint(SacctColumn column, const std::string& what) const {
  return std::string("column ") + kNames[static_cast<std::size_t>(column)] + " is " + rota::quoted(cell(column)) +
         ", " + what;
}

}  // namespace rota::log
