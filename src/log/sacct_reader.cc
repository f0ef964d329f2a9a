#include "log/sacct_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/sacct_columns.h"

namespace rota::log {
namespace {

constexpr const char* kBadRow = "rows that cannot be read: dropped";
constexpr const char* kStep = "steps of jobs: passed over";
constexpr const char* kSeveralKinds = "licences or accelerators of several kinds: the first kind only";
constexpr const char* kOtherResources = "other resources (gres) than gpu and licences: passed over";
constexpr const char* kUnevenGpus = "accelerators spread unevenly: as many on each node as on the fullest";

constexpr std::int64_t kMostMemory = std::int64_t{1} << 60U;  // bytes of one job
constexpr std::int64_t kMostAccelerators = 64;                // of a node
constexpr int kMostLines = 64;                                // of one row

class Reader {
 public:
  Reader(LineBlocks blocks, const SwfOptions& options) : blocks_(std::move(blocks)), options_(options) {
    out_.shown = blocks_.shown();
    out_.requests.emplace_back();
  }
  Result<SacctRows> read();

 private:
  Result<void> take_line(std::string_view line);
  Result<void> take_row(std::string_view line);
  Result<void> take_rest();
  Result<void> read_cells();
  Result<void> check_cluster();
  Result<void> read_times(SacctRow& row) const;
  Result<void> read_processors(SacctRow& row);
  Result<void> read_limit(SacctRow& row);
  Result<void> read_requests(SacctRow& row);
  Result<void> read_memory(SacctRow& row);
  Result<void> read_names(SacctRow& row);
  Result<std::int64_t> first_count(std::initializer_list<SacctColumn> columns) const;
  std::uint32_t place_of(const JobAttributes& asks);

  LineBlocks blocks_;
  const SwfOptions& options_;
  SacctColumns columns_;
  SacctRows out_;
  SacctTres asked_, got_;
  std::string cluster_;
  std::map<std::tuple<std::uint8_t, std::string, std::string, std::uint32_t>, std::uint32_t> places_;  // of requests
  std::string unfinished_;  // a row that may go on in the next line
  int lines_of_it_ = 0;
  std::int64_t line_ = 0;
  std::int64_t first_line_ = 0;  // of the row
  bool named_ = false;           // the line with the names of the columns has been read
};

Result<SacctRows> Reader::read() {
  const auto at = [&](const Error& error) {
    return fail(blocks_.shown() + ":" + std::to_string(line_) + ": " + error.message);
  };
  for (;;) {
    const auto block = blocks_.next();
    if (!block) return std::unexpected(block.error());
    if (options_.progress) options_.progress(blocks_.share());
    if (block->empty()) break;
    for (std::string_view rest = *block; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      ++line_;
      if (auto taken = take_line(rest.substr(0, end)); !taken) return at(taken.error());
      rest.remove_prefix(end + 1);
    }
  }
  if (auto taken = take_rest(); !taken) return at(taken.error());
  return std::move(out_);
}

Result<void> Reader::take_line(std::string_view line) {
  if (unfinished_.empty() && trimmed(line).empty()) return {};
  if (!named_ || columns_.names_columns(line)) {
    if (auto rest = take_rest(); !rest) return rest;
    named_ = true;
    return columns_.read_names(line);
  }
  if (!unfinished_.empty() && columns_.is_row(line)) {  // the one before was cut off
    if (auto rest = take_rest(); !rest) return rest;
  }
  if (unfinished_.empty()) {
    first_line_ = line_;
    if (!columns_.may_go_on(line)) return take_row(line);
    unfinished_ = line;
    lines_of_it_ = 1;
    return {};
  }
  unfinished_ += ' ';
  unfinished_ += line;
  if (columns_.may_go_on(unfinished_) && ++lines_of_it_ < kMostLines) return {};
  return take_rest();
}

Result<void> Reader::take_rest() {
  if (unfinished_.empty()) return {};
  const std::string row = std::exchange(unfinished_, "");
  return take_row(row);
}

Result<void> Reader::take_row(std::string_view line) {
  ++out_.report.rows;
  auto taken = columns_.read_row(line);
  if (taken) taken = read_cells();
  if (taken) return {};
  if (!options_.skip_bad_rows)
    return fail(taken.error().message + ". Mend the row, or drop such rows with --skip-bad-rows.");
  out_.report.drop(kBadRow, first_line_);
  return {};
}

Result<void> Reader::read_cells() {
  const bool raw = columns_.has(SacctColumn::job_id_raw);
  const auto id = columns_.read(raw ? SacctColumn::job_id_raw : SacctColumn::job_id, parse_sacct_id);
  if (!id) return std::unexpected(id.error());
  if (id->step) return out_.report.drop(kStep, first_line_), Result<void>{};
  if (auto one = check_cluster(); !one) return one;
  SacctRow row;
  row.id = *id;
  if (raw && columns_.has(SacctColumn::job_id)) {
    const auto shown = columns_.read(SacctColumn::job_id, parse_sacct_id);
    if (!shown) return std::unexpected(shown.error());
    row.component = shown->component();
  } else {
    row.component = id->component();
  }
  row.row.value.fill(-1);
  row.row.columns = kSwfFields;
  row.row.line = first_line_;
  row.state = parse_sacct_state(columns_.cell(SacctColumn::state));
  if (auto done = read_times(row); !done) return done;
  for (const auto step : {&Reader::read_limit, &Reader::read_processors, &Reader::read_requests, &Reader::read_memory,
                          &Reader::read_names}) {
    if (auto done = (this->*step)(row); !done) return done;
  }
  out_.rows.push_back(row);
  return {};
}

// Jobs of two clusters have never waited for the same nodes.
Result<void> Reader::check_cluster() {
  const std::string_view cluster = columns_.cell(SacctColumn::cluster);
  if (cluster.empty() || cluster == cluster_) return {};
  if (cluster_.empty()) return cluster_ = cluster, Result<void>{};
  return fail("column Cluster is " + quoted(cluster) + ", and rows before it are of " + quoted(cluster_) +
              ": a log is of one cluster. Ask sacct for one with --clusters=" + cluster_);
}

Result<void> Reader::read_times(SacctRow& row) const {
  for (const auto& [column, time] : {std::pair{SacctColumn::submit, &SacctRow::submit},
                                     {SacctColumn::eligible, &SacctRow::eligible},
                                     {SacctColumn::start, &SacctRow::start},
                                     {SacctColumn::end, &SacctRow::end}}) {
    const auto read = columns_.read(column, parse_sacct_time);
    if (!read) return std::unexpected(read.error());
    row.*time = read->value_or(kNoTime);
  }
  if (row.submit == kNoTime) {
    return fail(columns_.complaint(SacctColumn::submit, "but each job must have that time"));
  }
  const auto raw = columns_.read(SacctColumn::elapsed_raw, parse_sacct_count);
  const auto clock = columns_.read(SacctColumn::elapsed, parse_sacct_duration);
  if (!raw) return std::unexpected(raw.error());
  if (!clock) return std::unexpected(clock.error());
  row.elapsed = *raw >= 0 ? *raw * 1000 : *clock ? (*clock)->count() : kNoTime;
  return {};
}

// The first of these columns that tells a number above 0; -1: none does.
Result<std::int64_t> Reader::first_count(std::initializer_list<SacctColumn> columns) const {
  for (const SacctColumn column : columns) {
    const auto count = columns_.read(column, parse_sacct_count);
    if (!count || *count > 0) return count;
  }
  return -1;
}

// Nodes as they were asked for: those that a job of no wishes happened to get say nothing of what it needs. Where one
// is asked for, and it got more, any spread will do.
Result<void> Reader::read_processors(SacctRow& row) {
  for (const auto& [column, tres] : {std::pair{SacctColumn::req_tres, &asked_}, {SacctColumn::alloc_tres, &got_}}) {
    const auto read = columns_.read(column, parse_sacct_tres);
    if (!read) return std::unexpected(read.error());
    *tres = *read;
  }
  auto used = first_count({SacctColumn::alloc_cpus, SacctColumn::ncpus});
  if (!used) return std::unexpected(used.error());
  auto asked = first_count({SacctColumn::req_cpus});
  if (!asked) return std::unexpected(asked.error());
  auto nodes = first_count({SacctColumn::alloc_nodes, SacctColumn::nnodes});
  if (!nodes) return std::unexpected(nodes.error());
  auto wanted = first_count({SacctColumn::req_nodes});
  if (!wanted) return std::unexpected(wanted.error());
  if (*used <= 0) used = got_.processors > 0 ? got_.processors : -1;
  if (*asked <= 0) asked = asked_.processors > 0 ? asked_.processors : -1;
  if (*nodes <= 0) nodes = got_.nodes;
  if (*wanted <= 0) wanted = asked_.nodes;
  row.row.set(SwfField::processors, *used);
  row.row.set(SwfField::requested_processors, *asked);
  row.given_nodes = std::max<std::int64_t>(*nodes, 0);
  const bool any_spread = *wanted == 1 && *nodes > 1;
  const std::int64_t spread = *wanted > 0 ? *wanted : *nodes;
  if (spread > 0 && !any_spread) row.row.nodes = static_cast<std::uint32_t>(spread);
  return {};
}

Result<void> Reader::read_limit(SacctRow& row) {
  const auto minutes = columns_.read(SacctColumn::timelimit_raw, parse_sacct_count);
  if (!minutes) return std::unexpected(minutes.error());
  const auto clock = columns_.read(SacctColumn::timelimit, parse_sacct_duration);
  if (!clock) return std::unexpected(clock.error());
  const std::optional<Duration> limit = *minutes >= 0 ? std::optional(seconds(*minutes * 60)) : *clock;
  if (limit && limit->count() > 0) row.row.set_milli(SwfField::requested_time, limit->count());
  return {};
}

// Slurm counts accelerators in all; on each node as many as on the fullest one, if they do not come out even.
Result<void> Reader::read_requests(SacctRow& row) {
  const auto per_node = columns_.read(SacctColumn::req_gres, parse_sacct_gres);
  if (!per_node) return std::unexpected(per_node.error());
  const SacctTres& gpus = asked_.accelerators > 0 || got_.accelerators <= 0 ? asked_ : got_;
  const SacctTres& licensed = asked_.licences > 0 ? asked_ : got_;
  JobAttributes asks;
  asks.licence = licensed.licence;
  asks.licences = static_cast<std::uint32_t>(licensed.licences);
  std::int64_t on_each = std::max<std::int64_t>(per_node->accelerators, 0);
  if (gpus.accelerators > 0) {
    if (row.row.nodes == 0) row.row.nodes = static_cast<std::uint32_t>(row.given_nodes);
    const std::int64_t nodes = std::max<std::int64_t>(row.row.nodes, 1);
    on_each = (gpus.accelerators + nodes - 1) / nodes;
    if (gpus.accelerators % nodes != 0) out_.report.note(kUnevenGpus, first_line_);
  }
  if (on_each > kMostAccelerators)
    return fail("the job asks for " + std::to_string(on_each) + " accelerators on a node, and " +
                std::to_string(kMostAccelerators) + " are the most");
  asks.accelerators = static_cast<std::uint8_t>(on_each);
  if (on_each > 0) asks.accelerator_type = gpus.accelerators > 0 ? asked_.accelerator_type : per_node->accelerator_type;
  if (gpus.more || licensed.more || per_node->more) out_.report.note(kSeveralKinds, first_line_);
  if (asked_.others || per_node->others) out_.report.note(kOtherResources, first_line_);
  row.request = place_of(asks);
  return {};
}

std::uint32_t Reader::place_of(const JobAttributes& asks) {
  if (asks == JobAttributes{}) return 0;
  const auto [at, fresh] = places_.try_emplace({asks.accelerators, asks.accelerator_type, asks.licence, asks.licences},
                                               static_cast<std::uint32_t>(out_.requests.size()));
  if (fresh) out_.requests.push_back(asks);
  return at->second;
}

Result<void> Reader::read_memory(SacctRow& row) {
  const auto memory = columns_.read(SacctColumn::req_mem, parse_sacct_memory);
  if (!memory) return std::unexpected(memory.error());
  const std::int64_t used = row.row[SwfField::processors];
  const std::int64_t processors = used > 0 ? used : row.row[SwfField::requested_processors];
  const std::int64_t nodes = row.row.nodes > 0 ? row.row.nodes : row.given_nodes;
  const std::int64_t parts = memory->per == SacctMemory::Per::node        ? nodes
                             : memory->per == SacctMemory::Per::processor ? processors
                                                                          : 1;
  if (memory->bytes == 0 || processors <= 0 || parts <= 0) return {};
  if (memory->bytes > kMostMemory / parts)
    return fail(columns_.complaint(SacctColumn::req_mem, "which is more memory than there is"));
  if (nodes > 0) row.row.node_memory = memory->bytes * parts / nodes;
  row.row.set(SwfField::requested_memory, memory->bytes * parts / processors / 1024);
  return {};
}

Result<void> Reader::read_names(SacctRow& row) {
  for (const SacctColumn column :
       {SacctColumn::user, SacctColumn::group, SacctColumn::account, SacctColumn::partition, SacctColumn::qos})
    if (!is_utf8(columns_.cell(column))) return fail(columns_.complaint(column, "which is not UTF-8 text"));
  const SacctColumn group = columns_.has(SacctColumn::group) ? SacctColumn::group : SacctColumn::account;
  row.row.set(SwfField::user, out_.users.number_of(columns_.cell(SacctColumn::user)));
  row.row.set(SwfField::group, out_.groups.number_of(columns_.cell(group)));
  row.row.set(SwfField::partition, out_.partitions.number_of(columns_.cell(SacctColumn::partition)));
  row.row.set(SwfField::queue, out_.queues.number_of(columns_.cell(SacctColumn::qos)));
  return {};
}

}  // namespace

std::int64_t NumbersOfNames::number_of(std::string_view name) {
  if (name.empty()) return -1;
  auto at = numbers_.find(name);
  if (at == numbers_.end()) at = numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1)).first;
  return at->second;
}

std::map<std::uint32_t, std::string> NumbersOfNames::by_number() const {
  std::map<std::uint32_t, std::string> out;
  for (const auto& [name, number] : numbers_) out.emplace(number, one_line(name));
  return out;
}

Result<SacctRows> read_sacct_rows(LineBlocks blocks, const SwfOptions& options) {
  return Reader(std::move(blocks), options).read();
}

}  // namespace rota::log
