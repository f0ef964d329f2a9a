#include "log/sacct_dispatches.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "log/accounted_jobs.h"
#include "log/sort_rows.h"

namespace rota::log {
namespace {

constexpr const char* kToldAgain = "told again by another export, or with less: dropped";
constexpr const char* kEarlier = "earlier starts of jobs that were queued again: told by the last one";
constexpr const char* kNeverRanAgain = "queued again and did not run: told by the start before";
constexpr const char* kResized = "sizes of jobs that were resized: one job of the first size";

// A job that is queued again after its end is submitted again at once.
constexpr std::int64_t kAtOnce = 120;

// The more is known of a start, the higher.
int known(const SacctRow& row) {
  return (row.start != kNoTime ? 1 : 0) + (row.end != kNoTime ? 2 : 0) +
         (row.state == SacctState::pending || row.state == SacctState::running ? 0 : 4);
}

bool ran(const SacctRow& row) { return row.start != kNoTime && row.end != kNoTime && row.elapsed != 0; }

// Whether `next` is the same job as `row`, which came before it, and not one that got its number later.
bool goes_on(const SacctRow& row, const SacctRow& next) {
  if (row.state == SacctState::requeued || row.state == SacctState::resizing) return true;
  return row.end != kNoTime && next.submit <= row.end + kAtOnce;
}

// Rows of one job, in order of time.
class OneJob {
 public:
  explicit OneJob(const SacctRow& first) : job_(first) {}

  void add(const SacctRow& next, ImportReport& report) {
    if (job_.state == SacctState::resizing) {
      report.drop(kResized, next.line);
      if (next.elapsed != kNoTime) job_.elapsed = std::max<std::int64_t>(job_.elapsed, 0) + next.elapsed;
      job_.end = next.end;
      job_.state = next.state;
    } else if (ran(job_) && !ran(next) && next.state != SacctState::running) {
      report.drop(kNeverRanAgain, next.line);
      job_.state = next.state;  // that is how it ended, or that it waits
    } else {
      report.drop(kEarlier, job_.line);
      start_anew(next);
    }
  }
  const SacctRow& job() const { return job_; }

 private:
  void start_anew(const SacctRow& next) {
    const SacctRow before = std::exchange(job_, next);
    job_.line = before.line;
    job_.submit = before.submit;
    job_.eligible = before.eligible;
    job_.earlier = before.earlier;
    job_.away = before.away;
    if (before.start == kNoTime) return;
    const auto add = [](std::uint32_t& to, std::int64_t time) {
      to = static_cast<std::uint32_t>(std::clamp<std::int64_t>(to + time, to, UINT32_MAX));
    };
    // Where it gave way, all the time until it came back: under a policy that has jobs give way it must be there.
    const bool gave_way = before.remarked(SacctRemark::gave_way);
    add(job_.earlier, gave_way                ? came(next) - before.start
                      : before.end != kNoTime ? before.end - before.start
                                              : before.elapsed / 1000);
    add(job_.away, came(next) - before.start);
  }

  SacctRow job_;
};

}  // namespace

std::int64_t came(const SacctRow& row) {
  const std::int64_t left_queue = row.start != kNoTime ? row.start : row.end;
  return eligible_late(row.submit, row.eligible, left_queue) ? row.eligible : row.submit;
}

std::vector<SacctRow> jobs_of_rows(std::vector<SacctRow> rows, ImportReport& report) {
  const auto key = [](const SacctRow& r) { return std::tuple(r.id.number, r.id.part, r.submit); };
  sort_rows(rows, key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kept == 0 || key(rows[kept - 1]) != key(rows[i])) {
      if (kept != i) rows[kept] = rows[i];
      ++kept;
      continue;
    }
    SacctRow& best = rows[kept - 1];
    const bool better = known(rows[i]) > known(best);
    report.drop(kToldAgain, better ? best.line : rows[i].line);
    rows[i].line = best.line = std::min(best.line, rows[i].line);
    if (better) best = rows[i];
  }
  rows.resize(kept);
  kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++kept) {
    OneJob one(rows[i]);
    const SacctId id = rows[i].id;
    const SacctRow* last = &rows[i];
    for (++i; i < rows.size() && rows[i].id == id && goes_on(*last, rows[i]); ++i) {
      one.add(rows[i], report);
      last = &rows[i];
    }
    rows[kept] = one.job();
  }
  rows.resize(kept);
  sort_rows(rows, [](const SacctRow& row) { return row.submit; });
  return rows;
}

}  // namespace rota::log
