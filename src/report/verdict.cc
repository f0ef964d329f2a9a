#include "report/verdict.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/check.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr double kSameUse = 0.01;  // shares of use that differ by less are told together

using Ranking = std::vector<const Summary*>;

Ranking ranked(const Ranking& of, std::optional<double> Summary::* figure) {
  Ranking order = of;
  std::ranges::stable_sort(order, std::less{}, [&](const Summary* s) { return (s->*figure).value_or(INFINITY); });
  return order;
}

std::string percent_less(double better, double worse) {
  const double percent = (1 - better / worse) * 100;
  if (percent < 0.1) return "less than 0.1 %";
  return readable_number(percent, percent < 9.95 || percent > 99 ? 1 : 0) + " %";
}

std::string wait_of(const Summary& s) { return readable_seconds(*s.wait_mean); }

std::string used(const Summary& s) {
  return s.utilization ? readable_percent(*s.utilization, 1) + " %" : std::string("an unknown share");
}

std::string alone(const Summary& s) {
  return "Under " + s.policy + " jobs waited " + wait_of(s) + " on average, half of them no longer than " +
         readable_seconds(*s.wait_median) + ", and the cluster was " + used(s) + " used.";
}

std::string by_wait(const Ranking& order) {
  const Summary& first = *order.front();
  const Summary& last = *order.back();
  if (wait_of(first) == wait_of(last))
    return "All " + std::to_string(order.size()) + " policies did equally well: jobs waited " + wait_of(first) +
           " on average.";
  const Summary& second = *order[1];
  std::string text = first.policy + " did best: jobs waited " + wait_of(first) + " on average, ";
  if (wait_of(second) == wait_of(first)) {
    text += "as under " + second.policy;
  } else {
    text += percent_less(*first.wait_mean, *second.wait_mean) + " less than under " + second.policy + " (" +
            wait_of(second) + ")";
  }
  if (order.size() > 2 && wait_of(last) != wait_of(second))
    text += " and " + percent_less(*first.wait_mean, *last.wait_mean) + " less than under " + last.policy + " (" +
            wait_of(last) + ")";
  return text + ".";
}

std::string by_slowdown(const Ranking& order, const Summary& best_wait) {
  const Summary& first = *ranked(order, &Summary::bounded_slowdown).front();
  const std::string figure = readable_number(*first.bounded_slowdown, 2);
  const std::string of_best_wait = readable_number(*best_wait.bounded_slowdown, 2);
  if (figure == of_best_wait) return " Its mean bounded slowdown, " + figure + ", is the lowest too.";
  return " Judged by mean bounded slowdown " + first.policy + " is ahead: " + figure + " against " + of_best_wait + ".";
}

std::string by_use(const Ranking& order) {
  const auto [low, high] =
      std::ranges::minmax(order, std::less{}, [](const Summary* s) { return s->utilization.value_or(0); });
  if (used(*low) == used(*high)) return " The cluster was " + used(*low) + " used under every policy.";
  if (high->utilization.value_or(0) - low->utilization.value_or(0) < kSameUse)
    return " The cluster was used about equally under all: " + used(*low) + " to " + used(*high) + ".";
  return " The cluster was " + used(*high) + " used under " + high->policy + " and " + used(*low) + " under " +
         low->policy + ".";
}

std::string caveat(std::span<const Summary> summaries) {
  const auto ran = [](const Summary& s) { return s.jobs - s.rejected - s.unfinished; };
  if (std::ranges::all_of(summaries, [&](const Summary& s) { return ran(s) == ran(summaries.front()); })) return "";
  return " Not every policy ran the same jobs, so compare with care.";
}

}  // namespace

std::string verdict(std::span<const Summary> summaries) {
  CHECK(!summaries.empty(), "a verdict is asked about some policy");
  Ranking ran;
  for (const Summary& s : summaries) {
    if (s.wait_mean) ran.push_back(&s);
  }
  if (ran.empty()) return "No job ran.";
  if (ran.size() == 1) return alone(*ran.front()) + caveat(summaries);
  const Ranking order = ranked(ran, &Summary::wait_mean);
  std::string text = by_wait(order);
  if (wait_of(*order.front()) != wait_of(*order.back())) text += by_slowdown(order, *order.front());
  return text + by_use(order) + caveat(summaries);
}

}  // namespace rota::report
