#include "serve/shadow.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr const char* kKept = "shadow ";   // names under which the store keeps a row, with the job's id behind
constexpr std::size_t kMostAtOnce = 2000;  // jobs of one forecast
constexpr int kRest = 50;                  // times as long as a forecast took, until the next one: 2 % of a core
constexpr Duration kKeptFor = seconds(35 * 86'400LL);
constexpr Duration kStep = seconds(1);  // in which resource managers count: a start may be shown so much too early

std::int64_t count_of(Instant at) { return at == kNever ? -1 : at.time_since_epoch().count(); }
Instant instant_of(std::int64_t count) { return count < 0 ? kNever : Instant{Duration{count}}; }

// Errors of starts against what was foretold; kNever there: it was foretold not to start at all.
class Scores {
 public:
  void add(Instant start, Instant foretold) {
    errors_.push_back(start - std::min(foretold, start + kLongest));
    const Duration off = std::max(errors_.back(), -errors_.back());
    offs_.push_back(off);
    if (off <= seconds(60)) ++out_.within_minute;
  }
  void add_bands(bool half, bool nine) {
    out_.within_half += half ? 1 : 0;
    out_.within_nine += nine ? 1 : 0;
  }
  StartScores made() {
    out_.starts = std::ssize(errors_);
    if (errors_.empty()) return out_;
    const auto middle = [](std::vector<Duration>& all) {
      std::ranges::sort(all);
      return all[all.size() / 2];
    };
    out_.error = middle(offs_);
    out_.bias = middle(errors_);
    return out_;
  }

 private:
  StartScores out_;
  std::vector<Duration> errors_, offs_;
};

bool within(Instant start, Instant from, Instant until) { return start + kStep >= from && start <= until + kStep; }

}  // namespace

void Shadow::read() {
  const auto all = desk_.store().settings(kKept);
  for (const auto& [name, text] : all ? *all : std::vector<std::pair<std::string, std::string>>{}) {
    const auto id = parse_integer(name);
    const auto words = split(text, ' ');
    if (!id || words.size() < 12) continue;
    const auto at = [&](std::size_t word) { return parse_integer(words[word]).value_or(-1); };
    Row row{.number = at(0), .at = instant_of(at(1)), .futures = at(7)};
    for (std::size_t i = 0; i < row.by.size(); ++i) row.by[i] = instant_of(at(2 + i));
    row.theirs = instant_of(at(8));
    row.theirs_at = instant_of(at(9));
    row.start = instant_of(at(10));
    row.over = at(11) != 0;
    for (std::size_t word = 12; word < words.size(); ++word)
      row.why += (row.why.empty() ? "" : " ") + std::string(words[word]);
    const JobId job{static_cast<std::uint32_t>(*id)};
    if (!row.over) open_.push_back(job);
    rows_.emplace(job, std::move(row));
  }
}

void Shadow::put(JobId job, const Row& row) {
  std::string text = fmt::format("{} {}", row.number, count_of(row.at));
  for (const Instant at : row.by) text += fmt::format(" {}", count_of(at));
  text += fmt::format(" {} {} {} {} {}", row.futures, count_of(row.theirs), count_of(row.theirs_at),
                      count_of(row.start), row.over ? 1 : 0);
  if (!row.why.empty()) text += " " + row.why;
  desk_.store().put_setting(fmt::format("{}{}", kKept, job.value), text);
}

// Whether it has started, and what the manager expects meanwhile.
void Shadow::look_at(JobId id, Row& row) {
  const Job* job = desk_.view().find_job(id);
  if (job != nullptr) {
    const bool waits = job->state == JobState::waiting || job->state == JobState::barred;
    const JobEntry* entry = jobs_.entry(id);
    if (row.theirs == kNever && entry != nullptr && entry->heard().starts != kNever) {
      row.theirs = entry->heard().starts;
      row.theirs_at = desk_.now();
      put(id, row);
    }
    if (waits) return;
    row.start = job->start;
  } else if (const auto left = jobs_.history_of(id); left && *left) {
    row.start = (*left)->start;
  }
  row.over = true;
  put(id, row);
}

void Shadow::surveyed(const std::vector<JobId>& met) {
  for (const JobId id : open_) {
    Row& row = rows_.at(id);
    look_at(id, row);
    if (!row.over && !row.why.empty() && may_be_foretold(id, row)) due_.push_back(id);
  }
  std::erase_if(open_, [&](JobId id) { return rows_.at(id).over; });
  forget_old();
  began_ = std::min(began_, desk_.now());
  for (const JobId id : met) {
    const JobEntry* entry = jobs_.entry(id);
    const Job* job = desk_.view().find_job(id);
    if (entry == nullptr || job == nullptr || rows_.contains(id)) continue;
    const bool waits = job->state == JobState::barred || job->state == JobState::waiting;
    if (!waits && job->spec.submit < began_) continue;  // it came before all this
    Row& row = rows_[id] = {.number = entry->number, .at = desk_.now()};
    if (!waits) row.why = "had started when it was first seen";
    row.over = !waits;
    if (waits) open_.push_back(id);
    if (waits && may_be_foretold(id, row)) due_.push_back(id);
    if (!row.why.empty()) put(id, row);
  }
  forecast_due();
}

// Asked again once the manager has another word for why it waits.
bool Shadow::may_be_foretold(JobId id, Row& row) const {
  const JobEntry* entry = jobs_.entry(id);
  const std::string word = entry == nullptr ? "" : entry->heard().waits;
  if (!row.why.empty() && row.word == word) return false;
  row.word = word;
  row.why = forecaster_.not_foretold(id);
  return row.why.empty();
}

// One at a time, and then a rest: on a busy computer jobs come faster than forecasts are made.
void Shadow::forecast_due() {
  if (under_way_ || due_.empty()) return;
  under_way_ = true;
  ForecastAsked asked{.jobs = std::exchange(due_, {}), .operates = true};
  if (asked.jobs.size() > kMostAtOnce) {
    due_.assign(asked.jobs.begin() + kMostAtOnce, asked.jobs.end());
    asked.jobs.resize(kMostAtOnce);
  }
  const Instant at = desk_.now();
  forecaster_.ask(asked, [this, jobs = asked.jobs, at](const Result<Forecasted>& told) {
    take(jobs, told ? told->now : at, told);
    desk_.loop().later(
        [this] {
          under_way_ = false;
          forecast_due();
        },
        told ? std::chrono::milliseconds(kRest * told->spent.count()) : std::chrono::milliseconds(0));
  });
}

void Shadow::take(const std::vector<JobId>& jobs, Instant at, const Result<Forecasted>& told) {
  for (const JobId id : jobs) {
    const auto found = rows_.find(id);
    if (found == rows_.end()) continue;
    Row& row = found->second;
    row.why.clear();
    if (!told) {
      row.why = "no forecast was made: " + told.error().message;
      row.over = true;
    } else {
      const auto start = std::ranges::find(told->starts, id, &Forecasted::Start::job);
      row.at = at;
      if (start == told->starts.end()) {
        row.why = "it had started before its forecast was made";
        row.over = true;
      } else {
        row.by = {start->by[0], start->by[1], start->by[2], start->by[3], start->by[5]};
        row.futures = told->futures;
      }
    }
    put(id, row);
  }
}

// By id, which is the order in which they came.
void Shadow::forget_old() {
  while (!rows_.empty() && rows_.begin()->second.at + kKeptFor < desk_.now()) {
    const JobId id = rows_.begin()->first;
    desk_.store().put_setting(fmt::format("{}{}", kKept, id.value), "");
    std::erase(open_, id);
    rows_.erase(rows_.begin());
  }
}

ShadowReport Shadow::report(Instant since) const {
  ShadowReport report;
  Scores ours, theirs, beside;
  const auto add_ours = [](const Row& one, Scores& scores) {
    scores.add(one.start, one.by[2]);
    scores.add_bands(within(one.start, one.by[1], one.by[3]), within(one.start, one.by[0], one.by[4]));
  };
  for (const auto& [id, row] : rows_) {
    if (row.futures == 0) {
      if (!row.why.empty() && row.at >= since) ++report.not_forecast[row.why];
      continue;
    }
    if (!row.over) ++report.waiting;
    if (row.over && row.start == kNever && row.at >= since) ++report.left;
    if (row.start == kNever || row.start < since) continue;
    add_ours(row, ours);
    if (row.theirs == kNever) continue;
    theirs.add(row.start, row.theirs);
    add_ours(row, beside);
  }
  report.ours = ours.made();
  report.theirs = theirs.made();
  report.ours_beside = beside.made();
  return report;
}

}  // namespace rota::serve
