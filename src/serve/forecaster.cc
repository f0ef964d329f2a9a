#include "serve/forecaster.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "policy/registry.h"
#include "serve/as_if_ours.h"
#include "store/row_spec.h"

namespace rota::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSlice{10};     // of the service's thread at a time,
constexpr std::chrono::milliseconds kBudget{1000};  // and in all for one forecast
constexpr std::size_t kMostTasks = 16;
constexpr std::ptrdiff_t kMostOfOne = 4;
constexpr std::size_t kMostJobs = 20'000;   // that are known: beyond that a future takes too long
constexpr std::int64_t kMostPast = 10'000;  // rows of the history that are read at first
constexpr std::int64_t kRowsAtOnce = 1000;
constexpr std::size_t kMostOpen = 1000;
constexpr const char* kRanks = "forecasts come true";
constexpr const char* kMisses = "forecasts missed by";

template <class Value>
std::array<std::int64_t, 3> figures(const std::vector<forecast::Future>& futures, std::size_t look, Value value) {
  std::vector<std::int64_t> all;
  for (const forecast::Future& future : futures) all.push_back(value(future.looks[look]));
  std::ranges::sort(all);
  std::array<std::int64_t, 3> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto place = static_cast<std::size_t>(Forecasted::kLookShares[i]) * all.size() / 100;
    out[i] = all[std::min(place, all.size() - 1)];
  }
  return out;
}

forecast::Misses::Foretold foretold_of(const std::vector<Instant>& starts) {
  forecast::Misses::Foretold foretold{};
  for (std::size_t s = 0; s < foretold.size(); ++s)
    foretold[s] = starts[static_cast<std::size_t>(forecast::Misses::kShares[s]) - 1];
  return foretold;
}

// The policy without an order of its own: it goes by that of the state.
Result<Chain> in_given_order(const Chain& chain) {
  ChainKnobs knobs = chain.knobs();
  knobs.slurm.multifactor = false;
  knobs.order = Order::fcfs;
  std::string text;
  for (const std::string_view part : split(chain.text(), '+')) {
    const std::string_view name = part.substr(0, part.find('='));
    const Knob* knob = text.empty() ? nullptr : knob_named(name);
    if (knob != nullptr && (name == "priority" || name == "order" || (knob->idle && !knob->idle(knobs).empty())))
      continue;
    text += (text.empty() ? "" : "+") + std::string(part);
  }
  return Chain::parse(text);
}

// Places in the order of arrival, by which the policy goes then.
void put_in_order(std::vector<Fact>& facts, const std::map<JobId, std::int64_t>& priorities) {
  std::vector<std::pair<std::pair<std::int64_t, std::uint32_t>, JobKept*>> waiting;
  std::vector<std::uint32_t> places;
  for (Fact& fact : facts) {
    auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept == nullptr || (kept->row.state != JobState::waiting && kept->row.state != JobState::barred)) continue;
    const auto found = priorities.find(kept->job);
    waiting.push_back({{found == priorities.end() ? 0 : -found->second, kept->row.sequence}, kept});
    places.push_back(kept->row.sequence);
  }
  std::ranges::sort(waiting, {}, [](const auto& each) { return each.first; });
  std::ranges::sort(places);
  for (std::size_t at = 0; at < places.size(); ++at) waiting[at].second->row.sequence = places[at];
}

}  // namespace

void Forecaster::ask(ForecastAsked asked, Answer answer) {
  const auto of_one = std::ranges::count(tasks_, asked.uid, [](const Task& task) { return task.asked.uid; });
  if (of_one >= kMostOfOne)
    return answer(fail("four forecasts are being made for you already; ask again in a moment."));
  if (!asked.operates && tasks_.size() >= kMostTasks)
    return answer(fail("many forecasts are being made already; ask again in a moment."));
  if (book_.size() > kMostJobs)
    return answer(fail("there are more than {} jobs here: too many for a forecast.", grouped(kMostJobs)));
  tasks_.push_back({.asked = std::move(asked), .answer = std::move(answer)});
  if (tasks_.size() == 1) desk_.loop().later([this] { turn(); });
}

void Forecaster::turn() {
  Task& task = tasks_.front();
  const auto from = Clock::now();
  const auto over = work(task);
  // Half of the time is others'.
  const auto rest = Clock::now() - from;
  if (over && !*over) return desk_.loop().later([this] { turn(); }, rest);
  const auto answer = std::move(task.answer);
  Result<Forecasted> answered = over ? Result<Forecasted>(conclude(task)) : std::unexpected(over.error());
  tasks_.pop_front();
  if (!tasks_.empty()) desk_.loop().later([this] { turn(); }, rest);
  answer(answered);
}

// A slice of it; whether it is over.
Result<bool> Forecaster::work(Task& task) {
  const auto from = Clock::now();
  if (!task.forecast) {
    const auto all = read_past();
    if (!all || !*all) return all;
    TRY(begin(task));
    return false;
  }
  const auto enough = [&] { return static_cast<std::int64_t>(task.forecast->futures().size()) >= task.asked.futures; };
  // Where one event takes long, with many jobs, few of them go between two looks at the clock.
  constexpr std::int64_t kMostEvents = 64;
  std::int64_t events = 1;
  auto now = from;
  while (!enough() && now - from < kSlice) {
    TRY(task.forecast->go_on(events));
    const auto before = std::exchange(now, Clock::now());
    events = now - before < kSlice / 20 ? std::min(events * 2, kMostEvents) : 1;
  }
  task.spent += now - from;
  return enough() || (task.spent > kBudget && !task.forecast->futures().empty());
}

// Arrays that have left are forgotten.
void Forecaster::throttle(std::int64_t array, std::uint32_t most) {
  std::erase_if(throttles_, [&](const auto& each) { return !book_.has_other_task(each.first, JobId{}); });
  throttles_[array] = most;
}

TheirState Forecaster::their_state(const JobLookup& jobs) const {
  return {jobs, desk_.view(), *desk_.machine(), throttles_, &reservations_, desk_.view().options().limits_at_start};
}

std::string Forecaster::not_foretold(JobId job) const {
  const JobLookup jobs(desk_, book_);
  return rota::serve::not_foretold(job, their_state(jobs));
}

Result<void> Forecaster::begin(Task& task) {
  auto chain = TRY(task.asked.priorities.empty() ? Chain::parse(desk_.chain().text()) : in_given_order(desk_.chain()));
  task.chain = std::make_shared<const Chain>(std::move(chain));
  task.now = desk_.now();
  task.past_jobs = past_jobs_;
  compare();
  task.machine = desk_.machine();
  std::erase_if(task.asked.jobs, [&](JobId id) {
    const Job* job = desk_.view().find_job(id);
    return job == nullptr || (job->state != JobState::waiting && job->state != JobState::barred);
  });
  task.forecast =
      std::make_unique<forecast::Forecast>(present_for(task), past_,
                                           forecast::Question{.jobs = task.asked.jobs,
                                                              .looks = task.asked.looks,
                                                              .seed = task.asked.seed,
                                                              .none_comes = !task.asked.priorities.empty()});
  return {};
}

forecast::Present Forecaster::present_for(const Task& task) {
  const bool shared = desk_.view().options().shared;
  TheirShares shares{nullptr, desk_.controller().snapshot()};
  if (shared) {
    const JobLookup jobs(desk_, book_);
    book_.for_each([&](JobId, const JobEntry& entry) {
      users_.try_emplace(entry.about->uid, entry.about->user);
      return true;
    });
    shares = shares_of(as_if_ours(std::move(shares.facts), their_state(jobs)),
                       {*task.machine, *task.chain, users_, past_, use_});
    if (!task.asked.priorities.empty()) put_in_order(shares.facts, task.asked.priorities);
  }
  return {.now = task.now,
          .facts = std::move(shares.facts),
          .processors = task.machine->processors,
          .machine = task.machine.get(),
          .chain = task.chain.get(),
          .limits = limits_of(desk_.file()),
          .shares = std::move(shares.tree),
          .shared = shared};
}

forecast::PastJob Forecaster::past_job(const store::HistoryRow& row) const {
  const Machine& machine = *desk_.machine();
  forecast::PastJob job{store::spec_of(row, machine)};
  job.spec.number = 0;  // it will not come again
  if (const std::string account = text_of(row.asked.texts, "account"); !account.empty())
    job.spec.group = account_number(account);
  job.spec.limit = std::max(row.limit, seconds(1));
  job.spec.processors = std::max<std::uint32_t>(row.processors, 1);
  if (job.spec.partition.valid()) job.spec.priority += machine.partitions[job.spec.partition.value].priority;
  // What it took beyond its limit, such as to be ended, no limit would tell.
  const Duration ran = row.end - row.start - row.asked.waited_again - row.asked.suspended;
  job.run_time = std::clamp(ran, Duration{1}, job.spec.limit);
  return job;
}

void Forecaster::keep_history(std::vector<store::HistoryRow> rows) {
  std::ranges::sort(rows, {}, [](const store::HistoryRow& row) { return std::pair(row.end, row.job); });
  for (const store::HistoryRow& row : rows) {
    if (const auto forecast = open_.find(row.job); forecast != open_.end()) {
      if (row.start != kNever) came_true(forecast->second, row.start);
      open_.erase(forecast);
    }
    if (row.start == kNever) continue;
    users_.try_emplace(row.uid, row.user);
    past_.add(past_job(row));
    ++past_jobs_;
  }
}

// The history, as far as it was not read before; whether that is all.
Result<bool> Forecaster::read_past() {
  store::HistoryQuery query;
  if (new_rows_.begun()) {
    query.from = new_rows_.from();
    query.limit = kMostPast;
  } else {
    query.limit = kRowsAtOnce;
    if (!first_rows_.empty()) query.before_number = first_rows_.back().number;
  }
  const Instant now = desk_.view().now();
  auto rows = TRY(desk_.store().history(query));
  if (!new_rows_.begun()) {
    const bool last = std::ssize(rows) < kRowsAtOnce;
    first_rows_.insert(first_rows_.end(), rows.begin(), rows.end());
    if (!last && std::ssize(first_rows_) < kMostPast) return false;
    recall();
    rows = std::exchange(first_rows_, {});
  }
  new_rows_.keep_new(rows, now);
  keep_history(std::move(rows));
  return true;
}

// Jobs that should have started by now, in nearly all futures, count as if they did so now: they will be later yet, and
// those that have started are the ones that did not wait long.
forecast::Misses Forecaster::misses_by(Instant now) const {
  forecast::Misses misses = misses_;
  for (const auto& [id, forecast] : open_) {
    const auto foretold = foretold_of(forecast.starts);
    const Job* job = desk_.view().find_job(id);
    const bool waits = job != nullptr && (job->state == JobState::waiting || job->state == JobState::barred);
    const bool theirs = waits && !job->ours() && (job->bars & kHolds) == 0;
    if (theirs && foretold.back() < now && not_foretold(id).empty()) misses.add(forecast.at, foretold, now);
  }
  return misses;
}

Forecasted Forecaster::conclude(const Task& task) {
  const bool supposed = !task.asked.priorities.empty();  // which never comes true, and is read as it was drawn
  const bool by_misses = !supposed && desk_.view().options().shared;
  const bool by_ranks = !supposed && !by_misses;
  const forecast::Misses misses = misses_by(task.now);
  const auto& futures = task.forecast->futures();
  Forecasted told{.now = task.now,
                  .futures = std::ssize(futures),
                  .past_jobs = task.past_jobs,
                  .weeks = task.forecast->weeks(),
                  .learned = 0,
                  .spent = std::chrono::duration_cast<Duration>(task.spent),
                  .starts = {},
                  .looks = {}};
  if (by_ranks && correction_.ranks().size() >= forecast::Correction::kLeast)
    told.learned = std::ssize(correction_.ranks());
  if (by_misses) told.learned = static_cast<std::int64_t>(misses.known());
  for (std::size_t i = 0; i < task.asked.jobs.size(); ++i) {
    const std::vector<Instant> starts = task.forecast->starts_of(i);
    Forecasted::Start start{.job = task.asked.jobs[i]};
    for (std::size_t s = 0; s < start.by.size(); ++s) {
      const double share = Forecasted::kShares[s] / 100.0;
      start.by[s] = forecast::quantile(starts, by_ranks ? correction_.level(share) : share);
    }
    if (by_misses) start.by = misses.corrected(task.now, start.by);
    told.starts.push_back(start);
  }
  for (std::size_t i = 0; i < task.asked.looks.size(); ++i) {
    using forecast::Look;
    told.looks.push_back({.after = task.asked.looks[i],
                          .busy = figures(futures, i, [](const Look& look) { return look.busy; }),
                          .nodes_on = figures(futures, i, [](const Look& look) { return look.nodes_on; }),
                          .waiting = figures(futures, i, [](const Look& look) { return look.waiting; }),
                          .milliwatts = figures(futures, i, [](const Look& look) { return look.milliwatts; })});
  }
  if (!supposed) keep(task);
  return told;
}

// Few jobs of each forecast are remembered: more would say the same, for they share their futures.
void Forecaster::keep(const Task& task) {
  const std::size_t of_each = desk_.view().options().shared ? 8 : 1;
  const std::size_t jobs = task.asked.jobs.size();
  for (std::size_t n = 0; n < std::min(of_each, jobs) && open_.size() < kMostOpen; ++n) {
    const std::size_t chosen = (asked_ + n * std::max<std::size_t>(jobs / of_each, 1)) % jobs;
    const std::vector<Instant> starts = task.forecast->starts_of(chosen);
    Promising kept{task.now, {}};
    for (int share = 1; share <= 100; ++share) kept.starts.push_back(forecast::quantile(starts, share / 100.0));
    open_.try_emplace(task.asked.jobs[chosen], std::move(kept));
  }
  ++asked_;
}

// With what has become of them: of those that have left, the history tells.
void Forecaster::compare() {
  std::erase_if(open_, [&](const auto& entry) {
    const auto& [id, forecast] = entry;
    const Job* job = desk_.view().find_job(id);
    if (job == nullptr || job->state != JobState::running) return false;
    came_true(forecast, job->start);
    return true;
  });
}

void Forecaster::came_true(const Promising& forecast, Instant start) {
  if (start < forecast.at) return;
  if (desk_.view().options().shared) {  // what others decide, futures alone do not reach
    misses_.add(forecast.at, foretold_of(forecast.starts), start);
    return desk_.store().put_setting(kMisses, misses_.text());
  }
  correction_.add(forecast::rank_of(forecast.starts, start));
  std::string text;
  for (const double rank : correction_.ranks()) text += std::to_string(rank) + " ";
  desk_.store().put_setting(kRanks, text);
}

// What was learned before this process began.
void Forecaster::recall() {
  if (const auto misses = desk_.store().setting(kMisses); misses && *misses) misses_.read(**misses);
  const auto text = desk_.store().setting(kRanks);
  if (!text || !*text) return;
  for (const std::string_view word : split(trimmed(**text), ' ')) {
    if (const auto rank = parse_number(word)) correction_.add(*rank);
  }
}

}  // namespace rota::serve
