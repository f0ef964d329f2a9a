#include "log/job_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "log/accounted_jobs.h"

namespace rota::log {
namespace {

constexpr std::size_t kFirstRoom = 1024;

constexpr std::array<const char*, 8> kRemarks{
    kCancelled,
    "run time 0 or unknown: taken as jobs of 1 s",
    "processors unknown: taken as jobs of 1 s on one processor",
    "submit time unknown: taken as jobs of 1 s at the beginning",
    kNoRequestedTime,
    "run time longer than the requested time: kept as recorded",
    "not in order of submit time: sorted",
    "of a queue (QOS) behind the first 255 of the log: taken as of none",
};

// How a job ended. SWF has one status for all that failed; a job that used up what it had asked for ran out of time.
JobState state_of(const SwfRow& row) {
  if (row[SwfField::status] == kSwfCancelled) return JobState::cancelled;
  if (row[SwfField::status] != kSwfFailed) return JobState::completed;
  const std::int64_t limit = row.milli(SwfField::requested_time);
  return limit > 0 && row.milli(SwfField::run) >= limit ? JobState::timed_out : JobState::failed;
}

std::uint32_t known_id(std::int64_t id) { return id < 0 ? UINT32_MAX : static_cast<std::uint32_t>(id); }

// Indexes of the jobs in the order that `before` says.
template <class Before>
std::vector<std::uint32_t> ordered(const std::vector<JobSpec>& jobs, Before before) {
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return before(jobs[a], jobs[b]); });
  return order;
}

}  // namespace

void JobBuilder::make_room(std::int64_t offset, std::int64_t size) {
  const std::size_t have = out_.jobs.size();
  if (have < kFirstRoom || size <= offset || offset <= 0) return make_room(std::max(kFirstRoom, have + have / 2));
  const double rows = static_cast<double>(have) * static_cast<double>(size) / static_cast<double>(offset);
  make_room(std::max(have + have / 8, static_cast<std::size_t>(rows * 1.02)));
}

void JobBuilder::make_room(std::size_t jobs) {
  out_.jobs.reserve(jobs);
  out_.run_times.reserve(jobs);
}

void JobBuilder::add(const SwfRow& row) {
  std::int64_t submit = row.milli(SwfField::submit), run = row.milli(SwfField::run);
  std::int64_t processors = row[SwfField::processors], limit = row.milli(SwfField::requested_time);
  if (run <= 0 && row[SwfField::status] == kSwfCancelled && !options_.keep_cancelled) [[unlikely]]
    return remark(Remark::cancelled, row.line);
  if (processors <= 0) processors = row[SwfField::requested_processors];
  if (run <= 0 || processors <= 0 || submit < 0) [[unlikely]] {
    remark(run <= 0 ? Remark::no_run : processors <= 0 ? Remark::no_processors : Remark::no_submit, row.line);
    if (options_.published_limits) limit = 1000;
    run = 1000;
    processors = std::max<std::int64_t>(processors, 1);
    submit = std::max<std::int64_t>(submit, 1000);
  }
  if (limit <= 0) {
    remark(Remark::no_limit, row.line);
    without_limit_.push_back(out_.jobs.size());
    limit = run;
  } else if (limit < run) {
    remark(Remark::overrun, row.line);
  }
  JobSpec& spec = out_.jobs.emplace_back();
  spec.submit = Instant{Duration{submit}};
  spec.limit = Duration{limit};
  spec.processors = static_cast<std::uint32_t>(processors);
  out_.run_times.push_back(Duration{run});
  add_rest(row, spec);
}

// What is taken as it stands, and what is kept of the order of the rows.
void JobBuilder::add_rest(const SwfRow& row, JobSpec& spec) {
  spec.number = row[SwfField::number];
  spec.nodes = row.nodes;
  spec.memory = row.node_memory;
  spec.user = known_id(row[SwfField::user]);
  spec.group = known_id(row[SwfField::group]);
  spec.partition.value = known_id(row[SwfField::partition]);
  if (row[SwfField::queue] >= 0) spec.qos = qos_of(row);
  if (options_.keep_recorded) keep_recorded(row);
  if (row.array > 0 && row.throttle > 0) throttled_.push_back({spec.number, row.array, row.throttle});
  const std::int64_t ahead = row.line - static_cast<std::int64_t>(out_.jobs.size() - 1);
  if (lines_.empty() || lines_.back().ahead != ahead) lines_.push_back({out_.jobs.size() - 1, ahead});
  ascending_ = ascending_ && spec.number > last_number_;
  last_number_ = spec.number;
  if (spec.submit < last_submit_) {
    sorted_ = false;
    remark(Remark::out_of_order, row.line);
  }
  last_submit_ = spec.submit;
}

QosId JobBuilder::qos_of(const SwfRow& row) {
  if (row[SwfField::queue] == last_queue_) return last_qos_;
  const auto number = static_cast<std::uint32_t>(row[SwfField::queue]);
  const auto [at, fresh] = qos_.try_emplace(number);
  if (fresh && out_.qos.size() < QosId::kNone) {
    at->second.value = static_cast<std::uint8_t>(out_.qos.size());
    out_.qos.push_back(number);
  }
  if (!at->second.valid()) {
    remark(Remark::no_qos, row.line);
    return {};
  }
  last_queue_ = row[SwfField::queue];
  return last_qos_ = at->second;
}

void JobBuilder::keep_recorded(const SwfRow& row) {
  RecordedJob& recorded = out_.recorded.emplace_back();
  const bool never_ran = row[SwfField::status] == kSwfCancelled && row.milli(SwfField::run) <= 0;
  if (row[SwfField::wait] >= 0 && !never_ran) recorded.wait = Duration{row.milli(SwfField::wait)};
  if (!never_ran) recorded.suspended = row.suspended;
  if (!never_ran) recorded.earlier = row.earlier;
  if (!never_ran) recorded.ran_on = row.ran_on;
  recorded.queue = known_id(row[SwfField::queue]);
  recorded.state = state_of(row);
}

void JobBuilder::remark(Remark what, std::int64_t line) {
  Count& count = counts_[static_cast<std::size_t>(what)];
  if (count.rows++ == 0) count.first_line = line;
}

std::int64_t JobBuilder::line_of(std::size_t job) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), job,
                                      [](std::size_t j, const LineStep& step) { return j < step.job; });
  return std::prev(after)->ahead + static_cast<std::int64_t>(job);
}

Result<Workload> JobBuilder::finish(const std::string& shown) {
  TRY(check_numbers(shown));
  for (std::size_t i = 0; i < kRemarks.size(); ++i)
    if (counts_[i].rows > 0)
      out_.report.findings.push_back({kRemarks[i], counts_[i].rows, counts_[i].first_line, i == 0});
  if (out_.jobs.empty())
    return fail("{}: no job can be read from it{}. Is it a job log in SWF, in JSON lines, or written by sacct -P?",
                shown, why_none(out_.report, "rows"));
  for (const std::size_t job : without_limit_) out_.without_limit.push_back(out_.jobs[job].number);
  std::ranges::sort(out_.without_limit);
  sort();
  set_terms();
  out_.report.kept = static_cast<std::int64_t>(out_.jobs.size());
  return std::move(out_);
}

// Numbers are names, so they must be unique. Nearly all logs count up, and then there is nothing to do.
Result<void> JobBuilder::check_numbers(const std::string& shown) {
  if (out_.jobs.size() >= UINT32_MAX) return fail(shown + ": more than 4,294,967,294 jobs; split the log.");
  if (ascending_) return {};
  const auto& jobs = out_.jobs;
  const auto order = ordered(jobs, [](const JobSpec& a, const JobSpec& b) { return a.number < b.number; });
  std::vector<bool> doubled(jobs.size());
  bool any = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (jobs[order[i]].number != jobs[order[i - 1]].number) continue;
    if (!options_.skip_bad_rows)
      return fail(
          "{}:{}: job number {} is already that of line {}. Give each job a number of its own, or drop the later one "
          "with --skip-bad-rows.",
          shown, line_of(order[i]), jobs[order[i]].number, line_of(order[i - 1]));
    doubled[order[i]] = any = true;
  }
  if (any) drop(doubled);
  return {};
}

void JobBuilder::drop(const std::vector<bool>& doubled) {
  dropped_doubled_ = true;
  std::size_t kept = 0;
  std::vector<std::size_t> without_limit;
  auto next = without_limit_.begin();
  for (std::size_t i = 0; i < doubled.size(); ++i) {
    const bool told_none = next != without_limit_.end() && *next == i;
    if (told_none) ++next;
    if (told_none && !doubled[i]) without_limit.push_back(kept);
    if (doubled[i]) {
      out_.report.drop("job numbers that were there already: the later row dropped", line_of(i));
      continue;
    }
    out_.jobs[kept] = out_.jobs[i];
    if (!out_.recorded.empty()) out_.recorded[kept] = out_.recorded[i];
    out_.run_times[kept++] = out_.run_times[i];
  }
  if (!out_.recorded.empty()) out_.recorded.resize(kept);
  out_.jobs.resize(kept);
  out_.run_times.resize(kept);
  without_limit_ = std::move(without_limit);
}

void JobBuilder::sort() {
  if (sorted_) return;
  auto order = ordered(out_.jobs, [](const JobSpec& a, const JobSpec& b) { return a.submit < b.submit; });
  if (!out_.recorded.empty()) {
    std::vector<RecordedJob> recorded;
    recorded.reserve(order.size());
    for (const std::uint32_t from : order) recorded.push_back(out_.recorded[from]);
    out_.recorded = std::move(recorded);
  }
  for (std::uint32_t first = 0; first < order.size(); ++first) {  // along each cycle of the permutation
    const JobSpec job = out_.jobs[first];
    const Duration run = out_.run_times[first];
    std::uint32_t to = first;
    while (order[to] != first) {
      const std::uint32_t from = std::exchange(order[to], to);
      out_.jobs[to] = out_.jobs[from];
      out_.run_times[to] = out_.run_times[from];
      to = from;
    }
    order[to] = to;
    out_.jobs[to] = job;
    out_.run_times[to] = run;
  }
}

// Where several rows have one number, the first is the one that is kept.
void JobBuilder::set_terms() {
  if (throttled_.empty()) return;
  std::ranges::stable_sort(throttled_, {}, &Throttled::job);
  for (std::uint32_t place = 0; place < out_.jobs.size(); ++place) {
    const std::int64_t number = out_.jobs[place].number;
    const auto own = std::ranges::lower_bound(throttled_, number, {}, &Throttled::job);
    if (own == throttled_.end() || own->job != number) continue;
    JobTerms& terms = out_.terms.emplace_hint(out_.terms.end(), place, JobTerms{})->second;
    terms.array = own->array;
    terms.throttle = own->most;
  }
}

Result<Workload> workload_of_rows(const std::vector<SwfRow>& rows, ImportReport report, const std::string& shown,
                                  const SwfOptions& options) {
  JobBuilder builder(options);
  builder.report() = std::move(report);
  builder.make_room(rows.size());
  for (const SwfRow& row : rows) builder.add(row);
  return builder.finish(shown);
}

}  // namespace rota::log
