#include "trace/swf.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "trace/swf_reader.h"

namespace rota::trace {
namespace {

constexpr std::int64_t kCancelled = 5;  // status of a job that its user took back
constexpr std::size_t kFirstRoom = 1024;

// What is remarked about a row, besides the reader's own remarks.
enum class Remark : std::uint8_t { cancelled, no_run, no_processors, no_submit, no_limit, overrun, out_of_order };
constexpr std::array<const char*, 7> kRemarks{
    "cancelled before they started: dropped",
    "run time 0 or unknown: taken as jobs of 1 s",
    "processors unknown: taken as jobs of 1 s on one processor",
    "submit time unknown: taken as jobs of 1 s at the beginning",
    "no requested time: the run time taken as the limit",
    "run time longer than the requested time: kept as recorded",
    "not in order of submit time: sorted",
};

// Lines of the rows that became jobs, kept only where the distance between row and line changes.
class JobLines {
 public:
  void add(std::size_t job, std::int64_t line) {
    const std::int64_t ahead = line - static_cast<std::int64_t>(job);
    if (steps_.empty() || steps_.back().ahead != ahead) steps_.push_back({job, ahead});
  }
  std::int64_t of(std::size_t job) const {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), job,
                                        [](std::size_t j, const Step& step) { return j < step.job; });
    return std::prev(after)->ahead + static_cast<std::int64_t>(job);
  }

 private:
  struct Step {
    std::size_t job;
    std::int64_t ahead;
  };
  std::vector<Step> steps_;
};

// Turns rows into jobs by the rules in swf.h.
class Collector {
 public:
  explicit Collector(const SwfOptions& options) : options_(options) {}

  Result<Workload> read(LineBlocks blocks);

 private:
  void add(const SwfRow& row);
  void make_room(const SwfReader& reader);
  Result<void> check_numbers(const std::string& shown);
  void sort();
  void remark(Remark what, std::int64_t line) {
    Count& count = counts_[static_cast<std::size_t>(what)];
    if (count.rows++ == 0) count.first_line = line;
  }

  struct Count {
    std::int64_t rows = 0;
    std::int64_t first_line = 0;
  };
  const SwfOptions& options_;
  Workload out_;
  JobLines lines_;
  std::array<Count, kRemarks.size()> counts_{};
  std::int64_t last_number_ = -1;
  Instant last_submit_ = Instant::min();
  bool ascending_ = true;  // numbers, so far
  bool sorted_ = true;     // submit times, so far
};

std::uint32_t known_id(std::int64_t id) { return id < 0 ? UINT32_MAX : static_cast<std::uint32_t>(id); }

void Collector::add(const SwfRow& row) {
  std::int64_t submit = row.milli(SwfField::submit), run = row.milli(SwfField::run);
  std::int64_t processors = row[SwfField::processors], limit = row.milli(SwfField::requested_time);
  if (run <= 0 && row[SwfField::status] == kCancelled && !options_.keep_cancelled) [[unlikely]]
    return remark(Remark::cancelled, row.line);
  if (processors <= 0) processors = row[SwfField::requested_processors];
  if (run <= 0 || processors <= 0 || submit < 0) [[unlikely]] {
    remark(run <= 0 ? Remark::no_run : processors <= 0 ? Remark::no_processors : Remark::no_submit, row.line);
    run = limit = 1000;
    processors = std::max<std::int64_t>(processors, 1);
    submit = std::max<std::int64_t>(submit, 1000);
  }
  if (limit <= 0) {
    remark(Remark::no_limit, row.line);
    limit = run;
  } else if (limit < run) {
    remark(Remark::overrun, row.line);
  }
  JobSpec& spec = out_.jobs.emplace_back();
  spec.number = row[SwfField::number];
  spec.submit = Instant{Duration{submit}};
  spec.limit = Duration{limit};
  spec.processors = static_cast<std::uint32_t>(processors);
  spec.nodes = row.nodes;
  spec.user = known_id(row[SwfField::user]);
  spec.group = known_id(row[SwfField::group]);
  spec.partition.value = known_id(row[SwfField::partition]);
  out_.run_times.push_back(Duration{run});
  lines_.add(out_.jobs.size() - 1, row.line);
  ascending_ = ascending_ && spec.number > last_number_;
  last_number_ = spec.number;
  if (spec.submit < last_submit_) {
    sorted_ = false;
    remark(Remark::out_of_order, row.line);
  }
  last_submit_ = spec.submit;
}

// Grows to what the whole text will need if its rows go on as they are, so that nothing is copied often or wasted.
void Collector::make_room(const SwfReader& reader) {
  const std::size_t have = out_.jobs.size();
  std::size_t room = std::max(kFirstRoom, have + have / 2);
  const std::int64_t size = reader.input().size(), offset = reader.offset();
  if (have >= kFirstRoom && size > offset && offset > 0) {
    const double rows = static_cast<double>(have) * static_cast<double>(size) / static_cast<double>(offset);
    room = std::max(have + have / 8, static_cast<std::size_t>(rows * 1.02));
  }
  out_.jobs.reserve(room);
  out_.run_times.reserve(room);
  prefer_large_pages(out_.jobs.data(), room * sizeof(JobSpec));
  prefer_large_pages(out_.run_times.data(), room * sizeof(Duration));
}

Result<Workload> Collector::read(LineBlocks blocks) {
  const std::string shown = blocks.shown();
  SwfReader reader(std::move(blocks), options_.skip_bad_rows, out_.report);
  reader.on_progress = options_.progress;
  SwfRow row;
  for (;;) {
    const auto more = reader.next(row);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    if (out_.jobs.size() == out_.jobs.capacity()) make_room(reader);
    add(row);
  }
  const auto checked = check_numbers(shown);
  if (!checked) return std::unexpected(checked.error());
  if (out_.jobs.empty())
    return fail(shown + ": no job can be read from it" +
                (out_.report.rows == 0 ? " because it has no rows" : "; all its rows were dropped") +
                ". Is it a job log in SWF?");
  sort();
  for (std::size_t i = 0; i < kRemarks.size(); ++i)
    if (counts_[i].rows > 0) out_.report.findings.push_back({kRemarks[i], counts_[i].rows, counts_[i].first_line});
  out_.report.kept = static_cast<std::int64_t>(out_.jobs.size());
  const SwfHeader& header = reader.header();
  out_.processors = header.processors;
  out_.nodes = header.nodes;
  out_.unix_start = header.unix_start;
  out_.queue_floor = header.queue_floor;
  out_.partitions = header.partitions;
  out_.users = header.users;
  return std::move(out_);
}

// Numbers are names, so they must be unique. Nearly all logs count up, and then there is nothing to do.
Result<void> Collector::check_numbers(const std::string& shown) {
  if (ascending_) return {};
  std::vector<JobSpec>& jobs = out_.jobs;
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&jobs](std::uint32_t a, std::uint32_t b) {
    return jobs[a].number != jobs[b].number ? jobs[a].number < jobs[b].number : a < b;
  });
  std::vector<bool> doubled(jobs.size());
  bool any = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (jobs[order[i]].number != jobs[order[i - 1]].number) continue;
    if (!options_.skip_bad_rows)
      return fail(shown + ":" + std::to_string(lines_.of(order[i])) + ": job number " +
                  std::to_string(jobs[order[i]].number) + " is already that of line " +
                  std::to_string(lines_.of(order[i - 1])) +
                  ". Give each job a number of its own, or drop the later one with --skip-bad-rows.");
    doubled[order[i]] = any = true;
  }
  if (!any) return {};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (doubled[i]) {
      out_.report.note("job numbers that were there already: the later row dropped", lines_.of(i));
      continue;
    }
    jobs[kept] = jobs[i];
    out_.run_times[kept++] = out_.run_times[i];
  }
  jobs.resize(kept);
  out_.run_times.resize(kept);
  return {};
}

void Collector::sort() {
  if (sorted_) return;
  std::vector<JobSpec>& jobs = out_.jobs;
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&jobs](std::uint32_t a, std::uint32_t b) { return jobs[a].submit < jobs[b].submit; });
  for (std::size_t first = 0; first < order.size(); ++first) {  // along each cycle of the permutation
    if (order[first] == first) continue;
    const JobSpec job = jobs[first];
    const Duration run = out_.run_times[first];
    std::size_t to = first;
    for (std::size_t from = order[to]; from != first; from = order[to]) {
      jobs[to] = jobs[from];
      out_.run_times[to] = out_.run_times[from];
      order[to] = static_cast<std::uint32_t>(to);
      to = from;
    }
    jobs[to] = job;
    out_.run_times[to] = run;
    order[to] = static_cast<std::uint32_t>(to);
  }
}

}  // namespace

Result<Workload> read_swf(const std::string& path, const SwfOptions& options) {
  auto blocks = LineBlocks::open(path);
  if (!blocks) return std::unexpected(blocks.error());
  auto workload = Collector(options).read(std::move(*blocks));
  if (workload) workload->name = workload_name(path);
  return workload;
}

Result<Workload> parse_swf(std::string_view text, const std::string& name, const SwfOptions& options) {
  auto workload = Collector(options).read(LineBlocks::over(text, name));
  if (workload) workload->name = workload_name(name);
  return workload;
}

}  // namespace rota::trace
