#include "log/sacct_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "log/submit_line.h"
#include "log/time_zone.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr const char* kBadRow = "rows that cannot be read: dropped";
constexpr const char* kOtherCluster = "jobs of other clusters: dropped";
constexpr const char* kStep = "steps of jobs: passed over";

// What is known of a request for memory beside its amount.
struct MemoryHints {
  bool all;      // --mem=0: all that the nodes have
  bool by_gpus;  // it may go by GPUs (DefMemPerGPU, --mem-per-gpu)
};

// Memory in all, beside the processors that a job had, and on `nodes` nodes. What it was given, in equal parts; but
// where that went by nodes as much on each, however many it got, and where it was all that its nodes had what it asked
// for. A job without GPUs got all that its nodes had where that is more than goes by processors or nodes.
struct GivenMemory {
  std::int64_t bytes;
  bool whole_nodes;
  bool with_nodes;  // as much on each, however many there are; else what is on each goes by its processors there
};
GivenMemory given_memory(const SacctMemory& told, const SacctTres& asked, const SacctTres& got, std::int64_t nodes,
                         const MemoryHints& hints) {
  const auto on_each = [&](std::int64_t all, std::int64_t of) { return all / std::max<std::int64_t>(of, 1) * nodes; };
  if (told.per == SacctMemory::Per::processor || told.impossible) return {got.memory, false, false};
  // sacct rounds what is no whole number of the unit to hundredths of it.
  const auto grew_as = [&](std::int64_t from, std::int64_t to) {
    const double ratio = from > 0 && to > 0 ? static_cast<double>(to) / static_cast<double>(from) : 1;
    const double expected = static_cast<double>(told.bytes) * ratio;
    return std::abs(static_cast<double>(got.memory) - expected) < expected / 50;
  };
  const bool by_processors = grew_as(asked.processors, got.processors);
  if (told.per == SacctMemory::Per::node || grew_as(asked.nodes, got.nodes)) {
    return {.bytes = got.nodes > 0 ? on_each(got.memory, got.nodes) : got.memory,
            .whole_nodes = told.bytes == 0 || hints.all,
            .with_nodes = told.per == SacctMemory::Per::node || hints.all || !by_processors};
  }
  if (told.bytes == 0) return {got.memory, hints.all || !hints.by_gpus, true};
  if (by_processors || got.memory <= told.bytes) return {got.memory, hints.all, hints.all};
  if (hints.by_gpus && !hints.all) return {got.memory, false, true};
  return {on_each(told.bytes, asked.nodes), true, true};
}

// "0", "0n", "0M": told, and not merely unknown as in "16?".
bool is_zero(std::string_view memory) {
  return memory.starts_with('0') && memory.find_first_not_of("0.KMGTPnc") == std::string_view::npos;
}

// The first of these columns that tells a number above 0; -1: none does.
Result<std::int64_t> first_count(const SacctCells& cells, std::initializer_list<SacctColumn> columns) {
  for (const SacctColumn column : columns) {
    const auto count = cells.read(column, parse_sacct_count);
    if (!count || *count > 0) return count;
  }
  return -1;
}

// Each time of a row may mean two instants: takes those that go together best, as Elapsed says, in their order, with
// the shortest wait, and the earliest.
void choose_times(SacctRow& row, const std::array<std::int64_t SacctRow::*, 4>& times,
                  const std::array<TimeZone::Meaning, 4>& meanings) {
  const auto rank = [&] {  // the less, the better
    std::int64_t off = 0, disorder = 0, last = 0;
    if (row.start != kNoTime && row.end != kNoTime && row.elapsed != kNoTime)
      off = std::abs((row.end - row.start) * 1000 - row.elapsed);
    for (const auto time : times) {
      // One that ended in its first second may never have started: then it may have become eligible later.
      if (row.*time == kNoTime || (time == &SacctRow::eligible && row.elapsed == 0)) continue;
      disorder += row.*time < last ? 1 : 0;
      last = row.*time;
    }
    const std::int64_t left = row.start != kNoTime ? row.start : row.end;
    const bool in_time = row.eligible == kNoTime || (row.submit <= row.eligible && row.eligible <= left);
    return std::tuple(off, disorder, left == kNoTime ? 0 : left - row.submit, row.submit, left, !in_time);
  };
  SacctRow best = row;
  auto least = rank();
  for (unsigned choice = 1; choice < 16; ++choice) {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (meanings[i].twice()) row.*times[i] = (choice >> i & 1U) != 0 ? meanings[i].second : meanings[i].first;
    if (const auto now = rank(); now < least) {
      least = now;
      best = row;
    }
  }
  row = best;
}

}  // namespace

Result<void> SacctRowTaker::read_row(const SacctCells& cells, std::int64_t line) {
  ++out_.report.rows;
  const auto taken = read_cells(cells, line);
  return taken ? taken : refuse(taken.error(), line);
}

Result<void> SacctRowTaker::bad_row(const Error& error, std::int64_t line) {
  ++out_.report.rows;
  return refuse(error, line);
}

void SacctRowTaker::make_room(double share) {
  constexpr std::size_t kFirst = std::size_t{1} << 16U;
  const std::size_t have = out_.rows.size();
  const double all = have < kFirst || share <= 0 ? 2.0 : std::max(1.1, 1.02 / share);
  out_.rows.reserve(std::max(kFirst, static_cast<std::size_t>(static_cast<double>(have) * all)));
}

Result<void> SacctRowTaker::refuse(const Error& error, std::int64_t line) {
  if (!options_.skip_bad_rows) return fail(error.message + ". Mend the row, or drop such rows with --skip-bad-rows.");
  out_.report.drop(kBadRow, line);
  return {};
}

Result<void> SacctRowTaker::read_cells(const SacctCells& cells, std::int64_t line) {
  const bool raw = cells.has(SacctColumn::job_id_raw);
  const auto id = TRY(cells.read(raw ? SacctColumn::job_id_raw : SacctColumn::job_id, parse_sacct_id));
  if (id.step) {
    out_.report.drop(kStep, line);
    return Result<void>{};
  }
  const auto own = TRY(is_own(cells));
  if (!own) {
    out_.report.drop(kOtherCluster, line);
    return Result<void>{};
  }
  SacctRow row;
  row.id = id;
  const auto shown = TRY(raw && cells.has(SacctColumn::job_id) ? cells.read(SacctColumn::job_id, parse_sacct_id) : id);
  row.component = shown.component();
  if (auto done = read_throttle(cells, shown, row); !done) return done;
  row.line = line;
  const std::string_view state = cells.cell(SacctColumn::state);
  row.state = parse_sacct_state(state);
  if (row.state == SacctState::unknown && !state.empty()) row.remark(SacctRemark::odd_state);
  if (state.starts_with("PREEMPTED")) row.remark(SacctRemark::gave_way);
  if (auto done = read_times(cells, row); !done) return done;
  for (const auto step : {&SacctRowTaker::read_limit, &SacctRowTaker::read_processors, &SacctRowTaker::read_requests,
                          &SacctRowTaker::read_memory, &SacctRowTaker::read_names}) {
    if (auto done = (this->*step)(cells, row); !done) return done;
  }
  read_nodes(cells, row);
  out_.rows.push_back(row);
  return {};
}

// What is no host list, as of the nodes of a torus, is left out: a log is worth reading without.
void SacctRowTaker::read_nodes(const SacctCells& cells, SacctRow& row) {
  const std::string_view list = cells.cell(SacctColumn::node_list);
  row.placed = list.empty() ? !cells.has(SacctColumn::alloc_tres) || !cells.cell(SacctColumn::alloc_tres).empty()
                            : list != "None assigned";
  if (list.empty() || list == "None assigned" || list == "None" || list == "Unknown" || list == "(null)") return;
  row.ran_on = out_.node_lists.number_of(list);
  if (row.ran_on == 0) row.remark(SacctRemark::odd_nodes);
}

Result<void> SacctRowTaker::read_throttle(const SacctCells& cells, const SacctId& shown, SacctRow& row) {
  if (shown.part < 0 || shown.component() || shown.number > UINT32_MAX) return {};
  const auto told = TRY(cells.read(SacctColumn::throttle, parse_sacct_count));
  row.throttle =
      told > 0 ? static_cast<std::uint32_t>(told) : throttle_of_submit_line(cells.cell(SacctColumn::submit_line));
  row.array = static_cast<std::uint32_t>(shown.number);
  return {};
}

// Whether it is of the cluster whose jobs are read: jobs of two have never waited for the same nodes. Slurm keeps the
// names of clusters in small letters, whatever its configuration says.
Result<bool> SacctRowTaker::is_own(const SacctCells& cells) {
  const std::string_view cluster = cells.cell(SacctColumn::cluster);
  if (cluster.empty() || cluster == out_.cluster) return true;
  if (!options_.cluster.empty() && lower(cluster) != lower(options_.cluster)) {
    if (out_.other_cluster.empty()) out_.other_cluster = cluster;
    return false;
  }
  if (out_.cluster.empty() || !options_.cluster.empty()) {
    out_.cluster = cluster;
    return true;
  }
  return fail(
      "column Cluster is {}, and rows before it are of {}: a log is of one cluster. Ask sacct for the one that is "
      "wanted, with --clusters={} or --clusters={}; rota import slurm takes the jobs of the cluster that config.txt is "
      "of",
      quoted(cluster), quoted(out_.cluster), out_.cluster, one_line(cluster));
}

void SacctRowTaker::take_times(const SacctCells& cells, SacctRow& row) {
  constexpr std::array kTimes{&SacctRow::submit, &SacctRow::eligible, &SacctRow::start, &SacctRow::end};
  constexpr std::array kColumns{SacctColumn::submit, SacctColumn::eligible, SacctColumn::start, SacctColumn::end};
  std::array<TimeZone::Meaning, 4> meanings{};
  bool twice = false, never = false;
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    std::int64_t& time = row.*kTimes[i];
    if (time == kNoTime || !is_local_time(cells.cell(kColumns[i]))) continue;
    out_.local_times = true;
    if (!options_.zone) {
      row.wall_clock = true;
      continue;
    }
    meanings[i] = options_.zone->meaning_of(time);
    time = meanings[i].first;
    twice = twice || meanings[i].twice();
    never = never || meanings[i].never;
  }
  if (never) row.remark(SacctRemark::hour_never);
  if (!twice) return;
  row.remark(SacctRemark::hour_twice);
  choose_times(row, kTimes, meanings);
}

Result<void> SacctRowTaker::read_times(const SacctCells& cells, SacctRow& row) {
  for (const auto& [column, time] : {std::pair{SacctColumn::submit, &SacctRow::submit},
                                     {SacctColumn::eligible, &SacctRow::eligible},
                                     {SacctColumn::start, &SacctRow::start},
                                     {SacctColumn::end, &SacctRow::end}}) {
    const auto read = TRY(cells.read(column, parse_sacct_time));
    row.*time = read.value_or(kNoTime);
  }
  if (row.submit == kNoTime) {
    return fail(cells.complaint(SacctColumn::submit, "but each job must have that time"));
  }
  const auto raw = cells.read(SacctColumn::elapsed_raw, parse_sacct_count);
  const auto clock = cells.read(SacctColumn::elapsed, parse_sacct_duration);
  if (!raw) return std::unexpected(raw.error());
  if (!clock) return std::unexpected(clock.error());
  row.elapsed = *raw >= 0 ? *raw * 1000 : *clock ? (*clock)->count() : kNoTime;
  if (auto mended = mend_start(cells, row); !mended) return mended;
  take_times(cells, row);
  return {};
}

// sacct --json of Slurm 22.05.0 to 22.05.7 tells as the start of a job when it was eligible. For a job that has ended,
// the other times tell its start; one that has not is no job of the log.
Result<void> SacctRowTaker::mend_start(const SacctCells& cells, SacctRow& row) {
  if (!cells.has(SacctColumn::suspended) || is_local_time(cells.cell(SacctColumn::start))) return {};
  const std::string_view cell = cells.cell(SacctColumn::suspended);
  if (cell.find(':') != std::string_view::npos) return {};  // of columns, which tell the start
  const auto suspended = TRY(cells.read(SacctColumn::suspended, parse_sacct_count));
  if (suspended < 0 || row.start == kNoTime || row.start != row.eligible) return {};
  if (row.end == kNoTime || row.elapsed == kNoTime) return {};
  const std::int64_t start = row.end - row.elapsed / 1000 - suspended;
  if (start <= row.start) return {};
  row.start = start;
  row.remark(SacctRemark::start_was_eligible);
  return {};
}

// Nodes as they were asked for: those that a job of no wishes happened to get say nothing of what it needs. Where one
// is asked for, and it got more, any spread will do; of a range such as 2-4 it got so many that its processors need.
Result<void> SacctRowTaker::read_processors(const SacctCells& cells, SacctRow& row) {
  for (const auto& [column, tres] : {std::pair{SacctColumn::req_tres, &asked_}, {SacctColumn::alloc_tres, &got_}}) {
    *tres = TRY(cells.read(column, parse_sacct_tres));
  }
  auto used = TRY(first_count(cells, {SacctColumn::alloc_cpus, SacctColumn::ncpus}));
  auto asked = TRY(first_count(cells, {SacctColumn::req_cpus}));
  auto nodes = TRY(first_count(cells, {SacctColumn::alloc_nodes, SacctColumn::nnodes}));
  auto wanted = TRY(first_count(cells, {SacctColumn::req_nodes}));
  row.given = got_.processors > 0;
  if (used <= 0) used = got_.processors > 0 ? got_.processors : -1;
  if (asked <= 0) asked = asked_.processors > 0 ? asked_.processors : -1;
  if (nodes <= 0) nodes = got_.nodes;
  if (wanted <= 0) wanted = asked_.nodes;
  got_.processors = used;
  got_.nodes = nodes;
  asked_.processors = asked;
  asked_.nodes = wanted;
  row.processors = static_cast<std::int32_t>(used);
  row.requested_processors = static_cast<std::int32_t>(asked);
  row.given_nodes = static_cast<std::uint32_t>(std::max<std::int64_t>(nodes, 0));
  const bool any_spread = wanted == 1 && nodes > 1;
  const std::int64_t spread = wanted > 0 && nodes <= wanted ? wanted : nodes;
  if (spread > 0 && !any_spread) row.nodes = static_cast<std::uint32_t>(spread);
  if (any_spread) row.spread = SacctSpread::any;
  const bool asked_for_one = wanted == 1 && nodes == 1 && row.processors > 1 && asked != 1;
  const std::string_view line = asked_for_one ? cells.cell(SacctColumn::submit_line) : std::string_view{};
  if (asked_for_one && !submit_line_needs_its_nodes(line))
    row.spread = submit_line_goes_anywhere(line) ? SacctSpread::any : SacctSpread::one;
  return {};
}

Result<void> SacctRowTaker::read_limit(const SacctCells& cells, SacctRow& row) {
  const auto minutes = TRY(cells.read(SacctColumn::timelimit_raw, parse_sacct_count));
  const auto clock = TRY(cells.read(SacctColumn::timelimit, parse_sacct_duration));
  const std::optional<Duration> limit = minutes >= 0 ? std::optional(seconds(minutes * 60)) : clock;
  if (limit && limit->count() > 0) row.limit = limit->count();
  return {};
}

// On the nodes that it had, where it asked for fewer of a range: what it had may be more on each, for it may have had
// its nodes to itself.
std::int64_t SacctRowTaker::accelerators_on_each(std::int64_t asked, std::int64_t had_nodes, bool& uneven) const {
  const auto on_each = [&](std::int64_t all, std::int64_t nodes) {
    uneven = all % nodes != 0;
    return (all + nodes - 1) / nodes;
  };
  const std::int64_t nodes = std::max<std::int64_t>(had_nodes, 1);
  if (asked_.nodes <= 1 || nodes <= asked_.nodes) return on_each(asked, nodes);
  const std::int64_t as_asked = on_each(asked, asked_.nodes);
  return got_.accelerators > 0 ? std::min(as_asked, on_each(got_.accelerators, nodes)) : as_asked;
}

// What SubmitLine says of GPUs and licences, of those of which sacct tells nothing: the site may not account them.
SacctTres SacctRowTaker::untold_requests(const SacctCells& cells, const SacctTres& per_node, SacctRow& row) const {
  const bool gpus = asked_.accelerators < 0 && got_.accelerators < 0 && per_node.accelerators < 0;
  const bool licences = asked_.licences.empty() && got_.licences.empty();
  SacctTres untold;
  if (!gpus && !licences) return untold;
  SubmitLineAsks line = submit_line_asks(cells.cell(SacctColumn::submit_line));
  if (licences) untold.licences = std::move(line.licences);
  const std::int64_t nodes = std::max<std::int64_t>({row.nodes, row.given_nodes, 1});
  std::int64_t all = line.gpus_of_node * nodes;
  if (line.gpus_of_task > 0) all = line.gpus_of_task * std::max(line.tasks, nodes);
  if (line.gpus > 0) all = line.gpus;
  if (gpus && all > 0) {
    untold.accelerators = all;
    untold.accelerator_type = line.gpu_type;
  }
  if (untold.accelerators > 0 || !untold.licences.empty()) row.remark(SacctRemark::by_submit_line);
  return untold;
}

// What was asked for, where that is told: a job with a node to itself was given all that is in it. Slurm counts
// accelerators in all; on each node as many as on the fullest one, if they do not come out even.
Result<void> SacctRowTaker::read_requests(const SacctCells& cells, SacctRow& row) {
  const auto per_node = TRY(cells.read(SacctColumn::req_gres, parse_sacct_gres));
  SacctTres request = cells.cell(SacctColumn::req_tres).empty() ? got_ : asked_;
  SacctTres untold = untold_requests(cells, per_node, row);
  if (!untold.licences.empty()) request.licences = std::move(untold.licences);
  if (untold.accelerators > 0) {
    request.accelerators = untold.accelerators;
    request.accelerator_type = untold.accelerator_type;
  }
  JobAttributes asks;
  asks.licences = request.licences;
  if (!keep_askable(asks.licences)) row.remark(SacctRemark::odd_licences);
  std::int64_t on_each = std::max<std::int64_t>(per_node.accelerators, 0);
  if (request.accelerators > 0) {
    if (row.nodes == 0) row.nodes = row.given_nodes;
    bool uneven = false;
    on_each = accelerators_on_each(request.accelerators, row.nodes, uneven);
    const bool never_ran = row.start == kNoTime || row.elapsed == 0;
    const bool unplaced = never_ran && on_each > kMostAccelerators;
    if (unplaced) on_each = 0;
    if (unplaced || uneven) row.remark(unplaced ? SacctRemark::unplaced_gpus : SacctRemark::uneven_gpus);
  }
  if (auto set = set_accelerators(asks, on_each); !set) return set;
  if (on_each > 0) row.spread = SacctSpread::as_asked;
  if (on_each > 0)
    asks.accelerator_type = request.accelerators > 0 ? request.accelerator_type : per_node.accelerator_type;
  if (request.more || per_node.more) row.remark(SacctRemark::several_kinds);
  const bool more_accelerators = got_.accelerators > 0 && request.accelerators <= 0 && on_each == 0;
  if (more_accelerators || (!got_.licences.empty() && request.licences.empty())) row.remark(SacctRemark::had_more);
  if (asked_.others || per_node.others) row.remark(SacctRemark::other_resources);
  asks.wish = node_wish(cells, row);
  row.request = place_of(asks);
  return {};
}

// What it asks of nodes: column Constraints, and else SubmitLine. Slurm gives a job the nodes that it names, and others
// if it asks for more.
NodeWishTexts SacctRowTaker::node_wish(const SacctCells& cells, SacctRow& row) const {
  const SubmitLineNodes line = submit_line_nodes(cells.cell(SacctColumn::submit_line));
  NodeWishTexts wish;
  const std::string_view constraints = cells.cell(SacctColumn::constraints);
  wish.features = constraints == "(null)" ? "" : constraints;
  if (!cells.has(SacctColumn::constraints)) wish.features = line.constraint;
  if (!wish.features.empty() && !check_features(wish.features)) {
    wish.features.clear();
    row.remark(SacctRemark::odd_constraints);
  }
  const auto named = parse_host_list(line.among);
  const std::uint32_t nodes = std::max({row.nodes, row.given_nodes, 1U});
  if (named && named->size() == nodes) {
    wish.among = line.among;
    row.nodes = nodes;
    row.spread = SacctSpread::as_asked;
  } else if (!line.among.empty()) {
    row.remark(SacctRemark::odd_node_names);
  }
  if (parse_host_list(line.without)) wish.without = line.without;
  return wish;
}

std::uint32_t SacctRowTaker::place_of(const JobAttributes& asks) {
  if (asks == JobAttributes{}) return 0;
  const auto [at, fresh] = places_.try_emplace({asks.accelerators, asks.accelerator_type, asks.licences, asks.wish},
                                               static_cast<std::uint32_t>(out_.requests.size()));
  if (fresh) out_.requests.push_back(asks);
  return at->second;
}

// With whole cores, and memory for each processor, a job has more than it asked for, of both.
Result<void> SacctRowTaker::read_memory(const SacctCells& cells, SacctRow& row) {
  auto told = TRY(cells.read(SacctColumn::req_mem, parse_sacct_memory));
  const bool any_told = !cells.cell(SacctColumn::req_mem).empty() || asked_.memory > 0;
  if (cells.cell(SacctColumn::req_mem).empty()) told.bytes = asked_.memory;
  const std::int64_t processors = row.processors > 0 ? row.processors : row.requested_processors;
  const std::int64_t nodes = row.nodes > 0 ? row.nodes : row.given_nodes;
  const std::int64_t parts = told.per == SacctMemory::Per::node        ? nodes
                             : told.per == SacctMemory::Per::processor ? processors
                                                                       : 1;
  if (parts > 0 && told.bytes > kMostMemory / parts)
    return fail(cells.complaint(SacctColumn::req_mem, "which is more memory than there is"));
  std::int64_t all = parts > 0 ? told.bytes * parts : 0;
  bool with_nodes = told.per == SacctMemory::Per::node;
  if (got_.memory > 0) {
    const bool gpus = out_.requests[row.request].accelerators > 0 || got_.accelerators > 0;
    const std::string_view line = cells.cell(SacctColumn::submit_line);
    const GivenMemory given = given_memory(told, asked_, got_, std::max<std::int64_t>(nodes, 1),
                                           {.all = line.contains("mem") && submit_line_asks(line).all_memory,
                                            .by_gpus = gpus || options_.gpus_unaccounted});
    if (given.whole_nodes && any_told) row.remark(SacctRemark::whole_nodes);
    all = given.bytes;
    with_nodes = given.with_nodes;
  } else if (all > 0 && told.per == SacctMemory::Per::job && row.requested_processors > 0 &&
             row.processors > row.requested_processors) {
    row.remark(SacctRemark::memory_as_asked);
  } else if (all == 0 && told.impossible) {
    row.remark(SacctRemark::impossible_memory);
  } else if (all == 0 && is_zero(cells.cell(SacctColumn::req_mem)) && cells.cell(SacctColumn::alloc_tres).empty()) {
    row.remark(SacctRemark::whole_nodes_unknown);
  }
  if (processors <= 0) return {};
  row.by_processors = all > 0 && !with_nodes;
  if (nodes > 0) row.node_memory = all / nodes;
  if (all > 0) row.processor_memory = all / processors / 1024;
  return {};
}

Result<void> SacctRowTaker::read_names(const SacctCells& cells, SacctRow& row) {
  for (const SacctColumn column :
       {SacctColumn::user, SacctColumn::group, SacctColumn::account, SacctColumn::partition, SacctColumn::qos})
    if (!is_utf8(cells.cell(column))) return fail(cells.complaint(column, "which is not UTF-8 text"));
  // Several: those that a job asked for which had not started yet.
  const std::string_view partition = cells.cell(SacctColumn::partition);
  const std::size_t comma = partition.find(',');
  if (comma != std::string_view::npos) row.remark(SacctRemark::several_partitions);
  const SacctColumn group = cells.has(SacctColumn::group) ? SacctColumn::group : SacctColumn::account;
  row.user = out_.users.number_of(cells.cell(SacctColumn::user));
  row.group = out_.groups.number_of(cells.cell(group));
  row.partition = out_.partitions.number_of(partition.substr(0, comma));
  row.queue = out_.queues.number_of(cells.cell(SacctColumn::qos));
  return {};
}

std::int32_t NumbersOfNames::number_of(std::string_view name) {
  if (name.empty()) return -1;
  auto at = numbers_.find(name);
  if (at == numbers_.end()) at = numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size() + 1)).first;
  return at->second;
}

std::map<std::uint32_t, std::string> NumbersOfNames::by_number() const {
  std::map<std::uint32_t, std::string> out;
  for (const auto& [name, number] : numbers_) out.emplace(static_cast<std::uint32_t>(number), one_line(name));
  return out;
}

}  // namespace rota::log
