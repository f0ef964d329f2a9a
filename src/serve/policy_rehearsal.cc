#include "serve/policy_rehearsal.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "forecast/forecast.h"

namespace rota::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{3000};  // of one policy
constexpr std::int64_t kLook = 64;                    // at the clock, after so many events

struct Waiting {
  JobId job;
  std::uint32_t processors;
};

std::vector<Waiting> waiting_in(const std::vector<Fact>& facts) {
  std::vector<Waiting> waiting;
  for (const Fact& fact : facts) {
    const auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept == nullptr || kept->row.gone() || kept->row.state == JobState::running) continue;
    if ((kept->row.bars & (kHolds | kNeverAgain)) == 0) waiting.push_back({kept->job, kept->row.spec.processors});
  }
  std::ranges::sort(waiting, {}, &Waiting::job);
  return waiting;
}

struct Rehearsed {
  std::vector<Instant> starts;  // of those that wait
  bool cut = false;
};

Result<Rehearsed> rehearse(const QueueToRehearse& queue, const std::string& policy, const std::vector<Waiting>& waiting,
                           const std::function<bool()>& given_up) {
  auto chain = TRY(Chain::parse(policy));
  forecast::Present present{.now = queue.now,
                            .facts = queue.facts,
                            .processors = queue.machine->processors,
                            .machine = queue.machine.get(),
                            .chain = &chain,
                            .limits = queue.limits,
                            .another_decided = policy != queue.present};
  forecast::Question question{.as_expected = true};
  for (const Waiting& each : waiting) question.jobs.push_back(each.job);
  forecast::Forecast forecast(std::move(present), {}, std::move(question));
  const Clock::time_point late = Clock::now() + kPatience;
  while (forecast.futures().empty()) {
    TRY(forecast.go_on(kLook));
    if (forecast.futures().empty() && (Clock::now() > late || given_up()))
      return Rehearsed{forecast.starts_so_far(), true};
  }
  return Rehearsed{forecast.futures().front().starts, false};
}

}  // namespace

Result<PolicyRehearsal> rehearse_policies(const QueueToRehearse& queue, const std::function<bool()>& given_up) {
  const std::vector<Waiting> waiting = waiting_in(queue.facts);
  const auto before = TRY(rehearse(queue, queue.present, waiting, given_up));
  const auto after = TRY(rehearse(queue, queue.proposed, waiting, given_up));
  PolicyRehearsal out;
  out.waiting = std::ssize(waiting);
  out.present.policy = queue.present;
  out.proposed.policy = queue.proposed;
  out.cut = before.cut || after.cut;
  Duration sum_before{0};
  Duration sum_after{0};
  std::int64_t both = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Instant a = before.starts[i];
    const Instant b = after.starts[i];
    out.present.started += a != kNever;
    out.proposed.started += b != kNever;
    if (a != b) out.changes.push_back({waiting[i].job, waiting[i].processors, a, b});
    if (a == kNever || b == kNever) continue;
    ++both;
    sum_before += a - queue.now;
    sum_after += b - queue.now;
  }
  if (both > 0) {
    out.present.mean_wait = sum_before / both;
    out.proposed.mean_wait = sum_after / both;
  }
  std::ranges::stable_sort(out.changes, {},
                           [](const PolicyRehearsal::Change& c) { return std::min(c.present, c.proposed); });
  return out;
}

}  // namespace rota::serve
