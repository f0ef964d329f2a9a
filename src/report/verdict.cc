#include "report/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "report/advice.h"
#include "report/comparison.h"
#include "report/readable.h"
#include "report/trust.h"
#include "report/weeks.h"

namespace rota::report {
namespace {

constexpr double kSameUse = 0.01;            // shares of use that differ by less are told together
constexpr double kSameWait = 1.02;           // mean waits that differ by less are taken to be alike
constexpr double kStarves = 2;               // times as long a longest wait is no choice where another weighs less
constexpr double kUnlike = 0.5;              // a correlation below it: other jobs wait here than really waited
constexpr double kWorthTelling = 0.05;       // that another is better by,
constexpr double kMoneyWorthTelling = 0.01;  // and of energy and money, which nodes that stand idle make up most of
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoPromises = std::numeric_limits<double>::infinity();  // none are kept where none are made

using Places = std::vector<std::size_t>;
using Summaries = std::span<const Summary>;

std::string count_text(double count) { return readable_number(count, count == std::floor(count) ? 0 : 1); }
std::string percent_text(double share) { return readable_percent(share, 1) + " %"; }
std::string kwh_text(double kwh) { return readable_number(kwh, kwh < 1000 ? 1 : 0) + " kWh"; }
std::string two_places(double value) { return readable_number(value, 2); }
double energy_of(const Summary& s) { return s.power ? s.power->used().value_or(kNone) : kNone; }
double cost_of(const Summary& s) { return s.power ? s.power->cost.value_or(kNone) : kNone; }

constexpr std::array kAspects{
    Aspect{"the waits of the unluckiest 5 %", "matter", "95 % waited no longer than", kWorthTelling, false,
           [](const Summary& s) { return s.wait_p95.value_or(kNone); }, readable_seconds},
    Aspect{"longest waits", "matter", "the longest wait is", kWorthTelling, false,
           [](const Summary& s) { return s.wait_max.value_or(kNone); }, readable_seconds},
    Aspect{"slowdown", "matters", "mean bounded slowdown is", kWorthTelling, false,
           [](const Summary& s) { return s.bounded_slowdown.value_or(kNone); }, two_places},
    Aspect{"promises", "matter", "jobs that start later than promised:", kWorthTelling, false,
           [](const Summary& s) { return s.promises ? static_cast<double>(s.delayed) : kNoPromises; }, count_text},
    Aspect{"fairness between users", "matters", "Jain's index of users is", kWorthTelling, true,
           [](const Summary& s) { return s.users.index.value_or(kNone); }, percent_text},
    Aspect{"fairness between groups", "matters", "Jain's index of groups is", kWorthTelling, true,
           [](const Summary& s) { return s.groups.index.value_or(kNone); }, percent_text},
    Aspect{"kills", "matter", "dispatches that are killed:", kWorthTelling, false,
           [](const Summary& s) { return static_cast<double>(s.killed); }, count_text},
    Aspect{"jobs stopped at their limits", "matter", "jobs stopped at their limits:", kWorthTelling, false,
           [](const Summary& s) { return static_cast<double>(s.timed_out); }, count_text},
    Aspect{"energy", "matters", "nodes draw", kMoneyWorthTelling, false, energy_of, kwh_text},
    Aspect{"cost", "matters", "electricity costs", kMoneyWorthTelling, false, cost_of, two_places},
};

double mean_wait(const Summary& s) { return s.wait_mean.value_or(kNone); }
double unluckiest_wait(const Summary& s) { return s.wait_p95.value_or(0); }
double longest_wait(const Summary& s) { return s.wait_max.value_or(0); }

// The product of mean, 95 % and longest wait, as a logarithm.
double product_of_waits(const Summary& s) {
  const auto level = [](const std::optional<double>& wait) { return std::log(wait.value_or(0) + 1); };
  return level(s.wait_mean) + level(s.wait_p95) + level(s.wait_max);
}

// What decides between policies, from the weightiest on; less is better. What not every policy tells decides nothing.
std::vector<Measure> burdens(Summaries all, bool weighs_waits) {
  std::vector<Measure> found;
  if (weighs_waits) found.emplace_back(product_of_waits);
  found.emplace_back(mean_wait);
  for (const Aspect& aspect : kAspects) {
    const auto silent = [&](const Summary& s) {
      return s.wait_mean && !s.recorded && !std::isfinite(typical(s, aspect.value));
    };
    if (std::ranges::any_of(all, silent)) continue;
    found.emplace_back([&aspect](const Summary& s) { return aspect.burden(s); });
  }
  return found;
}

std::size_t least_of(const Places& among, Summaries all, const Measure& burden) {
  return *std::ranges::min_element(
      among, {}, [&](std::size_t i) { return std::pair(typical(all[i], burden), std::string_view(all[i].policy)); });
}

// Those that bear least in what they differ in first: all of which that is true but for noise. From the best on, by
// name where they are the same.
Places decide(Places among, Summaries all, std::span<const Measure> burdens) {
  bool noise = false;
  for (auto burden = burdens.begin(); burden != burdens.end() && !noise; ++burden) {
    const std::size_t least = least_of(among, all, *burden);
    std::erase_if(among, [&](std::size_t i) {
      const bool by_chance = differ_by_noise(all[i], all[least], *burden);
      noise |= by_chance;
      return !by_chance && i != least && typical(all[i], *burden) != typical(all[least], *burden);
    });
  }
  std::ranges::sort(among, {}, [&](std::size_t i) {
    return std::pair(typical(all[i], burdens.front()), std::string_view(all[i].policy));
  });
  return among;
}

bool clearly_better(const Aspect& aspect, const Summary& a, const Summary& b) {
  const double x = typical(a, aspect.value);
  const double y = typical(b, aspect.value);
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  if (aspect.text(x) == aspect.text(y) || differ_by_noise(a, b, aspect.value)) return false;
  return aspect.higher ? x > y * (1 + aspect.least) : x < y * (1 - aspect.least);
}

// Which policies to choose if this is what matters; none where not all tell it, or where that makes no difference.
Places best_at(const Aspect& aspect, const Places& ran, const Places& chosen, Summaries all) {
  if (std::ranges::any_of(ran, [&](std::size_t i) { return std::isnan(typical(all[i], aspect.value)); })) return {};
  const std::array burden{Measure{[&](const Summary& s) { return aspect.burden(s); }}};
  const Summary& least = all[least_of(ran, all, burden.front())];
  const auto better = [&](const Summary& than) {
    return [&](std::size_t i) { return clearly_better(aspect, all[i], than); };
  };
  Places good;
  Places worse;
  for (const std::size_t i : chosen) (clearly_better(aspect, least, all[i]) ? worse : good).push_back(i);
  if (worse.empty()) return {};
  if (!good.empty()) {
    for (const std::size_t i : worse) std::erase_if(good, std::not_fn(better(all[i])));
    return good;
  }
  Places best = decide(ran, all, burden);
  for (const std::size_t i : chosen) std::erase_if(best, std::not_fn(better(all[i])));
  return decide(best, all, burdens(all, false));
}

// That stand in the means.
std::int64_t jobs_that_ran(const Summary& s) { return s.jobs - s.rejected - s.unfinished - s.unrecorded; }

// Those to choose from: a policy that ran fewer jobs than another may well wait less because of that.
Places rehearsed(Summaries all) {
  const auto ran = [](const Summary& s) { return s.wait_mean && !s.recorded && !std::isnan(typical(s, mean_wait)); };
  std::int64_t most = 0;
  for (const Summary& s : all) most = ran(s) ? std::max(most, jobs_that_ran(s)) : most;
  Places places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (ran(all[i]) && jobs_that_ran(all[i]) == most) places.push_back(i);
  }
  return places;
}

std::string percent_less(double better, double worse) {
  const double percent = (1 - better / worse) * 100;
  if (percent < 0.1) return "less than 0.1 %";
  return readable_number(percent, percent < 9.95 || percent > 99 ? 1 : 0) + " %";
}

std::string percent_more(double worse, double better) {
  const double percent = (worse / better - 1) * 100;
  return percent < 0.1 ? "less than 0.1 %" : readable_number(percent, percent < 9.95 ? 1 : 0) + " %";
}

std::string wait_of(const Summary& s) { return readable_seconds(typical(s, mean_wait)); }

double use_of(const Summary& s) { return s.utilization.value_or(kNone); }

std::string used(const Summary& s) {
  const double share = typical(s, use_of);
  return std::isnan(share) ? std::string("an unknown share") : readable_percent(share, 1) + " %";
}

std::string by_noise(const Summary& s) { return " within the noise of " + copies_told(s); }

std::string alone(const Summary& s) {
  return fmt::format("Under {} jobs waited {} on average, half of them no longer than {}, and the cluster was {} used.",
                     s.name(), readable_seconds(*s.wait_mean), readable_seconds(s.wait_median.value_or(0)), used(s));
}

// Which of the other waits that are weighed are shorter.
std::string shorter_waits(const Summary& chosen, const Summary& other) {
  const auto shorter = [&](double (*wait)(const Summary&)) { return typical(chosen, wait) < typical(other, wait); };
  const bool tail = shorter(unluckiest_wait);
  const bool longest = shorter(longest_wait);
  return tail && longest ? "its 95 % and longest wait"
         : tail          ? "its 95 %"
         : longest       ? "its longest wait"
                         : "the product of its mean, 95 % and longest wait";
}

std::string against(const Summary& chosen, const Summary& other) {
  if (wait_of(chosen) == wait_of(other)) return "as under " + other.name();
  if (differ_by_noise(chosen, other, mean_wait)) {
    return fmt::format("as under {} ({}){}, which leaves it to {}", other.name(), wait_of(other), by_noise(chosen),
                       shorter_waits(chosen, other));
  }
  const std::string where = fmt::format(" than under {} ({})", other.name(), wait_of(other));
  const double wait = typical(chosen, mean_wait);
  const double of_other = typical(other, mean_wait);
  if (wait < of_other) return fmt::format("{} less{}", percent_less(wait, of_other), where);
  const std::string more = of_other > 0 ? percent_more(wait, of_other) + " more" : "more";
  return fmt::format("{}{}, which is outweighed by {}", more, where, shorter_waits(chosen, other));
}

// That nothing says how good these rehearsals are, though the log has what would; "": not so.
std::string unproven(Summaries all) {
  const auto rehearsal = std::ranges::find_if(all, [](const Summary& s) { return !s.recorded; });
  if (rehearsal == all.end() || rehearsal->site_policy.empty() || row_of_site(all) != nullptr) return "";
  return fmt::format(
      "How far these rehearsals can be trusted is not known: what the site has now is not held against what really "
      "happened. Give --policy recorded,{} and these.",
      rehearsal->site_policy);
}

std::string alternatives_of(const Places& places, Summaries all) {
  std::vector<std::string> names;
  for (const std::size_t i : places) names.push_back(all[i].name());
  return alternatives(names);
}

// The mean waits of the chosen policies; where they differ, by noise, from the shortest to the longest.
std::string waits_of(const Places& chosen, Summaries all) {
  const auto wait = [&](std::size_t i) { return typical(all[i], mean_wait); };
  const Summary& low = all[std::ranges::min(chosen, {}, wait)];
  const Summary& high = all[std::ranges::max(chosen, {}, wait)];
  std::string text = ": jobs waited " + wait_of(low);
  if (wait_of(low) != wait_of(high)) text += " to " + wait_of(high);
  text += " on average";
  return low.copies.empty() ? text : fmt::format("{} over {}", text, copies_told(low));
}

// The choice, beside the best and the worst of the others.
std::string by_wait(const Places& chosen, const Places& ran, Summaries all) {
  const Summary& first = all[chosen.front()];
  const bool noise = std::ranges::any_of(chosen, [&](std::size_t i) {
    return std::ranges::any_of(burdens(all, true),
                               [&](const Measure& measure) { return differ_by_noise(all[i], first, measure); });
  });
  const std::string alike = "come out alike" + (noise ? by_noise(first) : "");
  if (chosen.size() == ran.size())
    return fmt::format("All {} policies {}{}.", ran.size(), alike, waits_of(chosen, all));
  std::string text = (unproven(all).empty() ? "Choose " : "Of these: ") + alternatives_of(chosen, all) +
                     (chosen.size() > 1 ? ", which " + alike : "");
  Places others;
  std::ranges::copy_if(ran, std::back_inserter(others), [&](std::size_t i) { return !std::ranges::count(chosen, i); });
  std::ranges::sort(others, {}, [&](std::size_t i) {
    return std::pair(typical(all[i], mean_wait), std::string_view(all[i].policy));
  });
  const Summary& second = all[others.front()];
  const Summary& last = all[others.back()];
  const std::string beside = against(first, second);
  text += fmt::format("{}, {}", waits_of(chosen, all), beside);
  if (others.size() > 1 && wait_of(last) != wait_of(second))
    text += (beside.contains(", ") ? ", and " : " and ") + against(first, last);
  return text + ".";
}

std::string beside_recorded(const Summary& chosen, Summaries all) {
  const auto at = std::ranges::find_if(all, [](const Summary& s) { return s.recorded && s.wait_mean; });
  if (at == all.end()) return "";
  const std::optional<Trust>& both = chosen.trust;
  const bool same_jobs = !both || (both->jobs == jobs_that_ran(chosen) && both->jobs == jobs_that_ran(*at));
  const double wait = same_jobs ? typical(chosen, mean_wait) : both->mean;
  const double really = same_jobs ? *at->wait_mean : both->recorded;
  std::string text = fmt::format("Really they waited {} on average", readable_seconds(really));
  if (!same_jobs) {
    const bool known = at->unrecorded == 0 && jobs_that_ran(*at) > both->jobs;  // others did not run in the rehearsal
    text += fmt::format("{}{}, which {}{}{}",
                        known ? fmt::format(", counting only those that ran under {}: ", chosen.name())
                              : ", as far as that is known: of ",
                        amount(both->jobs, "job"), both->jobs == 1 ? "waits " : "wait ", readable_seconds(wait),
                        known ? " there" : " under " + chosen.name());
  }
  if (readable_seconds(wait) == readable_seconds(really)) return same_jobs ? "Really they waited as long." : text + ".";
  if (std::ranges::any_of(all, &Summary::own) || (both && both->hardly_waits())) return text + ".";
  if (both && !both->correlation) {
    return text + "; the waits of one of the two are all alike, so that they say nothing about each other.";
  }
  if (both && *both->correlation < kUnlike) {
    return fmt::format(
        "{}; who waits under {} is hardly who waited really (correlation {}), so that these two say nothing about each "
        "other.",
        text, chosen.name(), readable_number(*both->correlation, 2));
  }
  text += same_jobs ? ": " : "; ";
  if (wait < really) {
    text += fmt::format("{} takes {} off that", chosen.name(), percent_less(wait, really));
  } else {
    text += fmt::format("{} less than under {}", percent_less(really, wait), chosen.name());
  }
  return text + ".";
}

// What is gained on what the site has now is best seen where that is rehearsed too.
std::string beside_own(const Summary& chosen, Summaries all) {
  const Summary* own = row_of_site(all);
  if (own == nullptr) {
    const auto at = std::ranges::find_if(all, [](const Summary& s) { return s.wait_mean && s.own; });
    own = at == all.end() ? nullptr : &*at;
  }
  if (own == nullptr || !own->wait_mean || own->policy == chosen.policy || wait_of(*own) == wait_of(chosen)) return "";
  const double wait = typical(chosen, mean_wait);
  const double now = typical(*own, mean_wait);
  const std::string text =
      fmt::format("Under {}, which is what the site has now, they wait {}: ", own->name(), wait_of(*own));
  if (differ_by_noise(chosen, *own, mean_wait))
    return fmt::format("{}as long as under {}{}.", text, chosen.name(), by_noise(chosen));
  if (wait < now) return fmt::format("{}{} takes {} off that.", text, chosen.name(), percent_less(wait, now));
  return fmt::format("{}{} less than under {}.", text, percent_less(now, wait), chosen.name());
}

// Names the policy with the shortest mean wait, whose longest wait is too high a price.
std::string by_mean_alone(const Summary& shortest, const Summary& chosen) {
  return fmt::format("Unless the mean alone matters: then {} ({}), with a longest wait of {} against {}.",
                     shortest.name(), wait_of(shortest), readable_seconds(typical(shortest, longest_wait)),
                     readable_seconds(typical(chosen, longest_wait)));
}

std::string in_place_of(const Choice::Instead& instead, const Places& chosen, Summaries all) {
  const Summary& other = all[instead.policies.front()];
  const bool of_these = std::ranges::count(chosen, instead.policies.front()) > 0;
  std::vector<std::string> matters;
  std::string figures;
  for (const std::size_t i : instead.aspects) {
    const Aspect& aspect = kAspects[i];
    matters.emplace_back(aspect.name);
    const auto worse = [&](std::size_t at) { return clearly_better(aspect, other, all[at]); };
    const Summary& against = all[*std::ranges::find_if(chosen, worse)];
    figures += fmt::format("{}{} {} against {}{}", figures.empty() ? "" : "; ", aspect.what,
                           aspect.text(typical(other, aspect.value)), aspect.text(typical(against, aspect.value)),
                           of_these ? " under " + against.name() : "");
  }
  const std::string verb = instead.aspects.size() > 1 ? "matter" : kAspects[instead.aspects.front()].verb;
  const std::string names = alternatives_of(instead.policies, all);
  if (of_these) return fmt::format("Of these, where {} {}: {} ({}).", alternatives(matters), verb, names, figures);
  return fmt::format("Unless {} {} more than the mean: then {} ({}), with a mean wait of {}.", alternatives(matters),
                     verb, names, figures, wait_of(other));
}

std::string by_use(const Places& ran, Summaries all) {
  const auto use = [&](std::size_t i) {
    const double share = typical(all[i], use_of);
    return std::pair(std::isnan(share) ? 0 : share, std::string_view(all[i].policy));
  };
  const Summary& low = all[std::ranges::min(ran, {}, use)];
  const Summary& high = all[std::ranges::max(ran, {}, use)];
  if (used(low) == used(high)) return fmt::format("The cluster was {} used under every policy.", used(low));
  if (typical(high, use_of) - typical(low, use_of) < kSameUse || differ_by_noise(high, low, use_of))
    return fmt::format("The cluster was used about equally under all: {} to {}.", used(low), used(high));
  return fmt::format("The cluster was {} used under {} and {} under {}.", used(high), high.name(), used(low),
                     low.name());
}

// Energy is compared over times of which each ends with a policy's own last job.
std::string by_length(const Places& ran, Summaries all) {
  Places metered;
  std::ranges::copy_if(ran, std::back_inserter(metered),
                       [&](std::size_t i) { return std::isfinite(energy_of(all[i])); });
  if (metered.size() < 2) return "";
  const auto length = [&](std::size_t i) { return all[i].power->length; };
  const Summary& brief = all[std::ranges::min(metered, {}, length)];
  const Summary& longest = all[std::ranges::max(metered, {}, length)];
  const double less = to_seconds(longest.power->length - brief.power->length);
  if (less <= kMoneyWorthTelling * to_seconds(longest.power->length)) return "";
  return fmt::format(
      "Nodes are metered until the last job is gone, {} under {} and {} under {}: who is done sooner draws less by "
      "that alone.",
      readable(brief.power->length), brief.name(), readable(longest.power->length), longest.name());
}

// The choice beside the policy that comes next, over other weeks.
std::string by_weeks(const Places& chosen, const Places& ran, Summaries all) {
  Places others;
  std::ranges::copy_if(ran, std::back_inserter(others), [&](std::size_t i) { return !std::ranges::count(chosen, i); });
  return others.empty() ? "" : weeks_sentence(all[chosen.front()], all[least_of(others, all, mean_wait)]);
}

std::string by_chance(Summaries all) {
  if (std::ranges::any_of(all, [](const Summary& s) { return !s.copies.empty() || s.weeks; })) return "";
  if (std::ranges::none_of(all, &Summary::has_copies)) return "How much of this is chance was not measured.";
  return "How much of this is chance was not measured: `rota simulate --weeks` does that.";
}

std::string caveat(const Places& ran, Summaries all) {
  const std::int64_t most = jobs_that_ran(all[ran.front()]);
  std::vector<std::string> fewer;
  for (const Summary& s : all) {
    if (!s.recorded && jobs_that_ran(s) != most) fewer.push_back(s.name());
  }
  if (fewer.empty()) return "";
  std::ranges::sort(fewer);
  std::string names;
  for (std::size_t i = 0; i < fewer.size(); ++i)
    names += (i == 0 ? "" : i + 1 == fewer.size() ? " and " : ", ") + fewer[i];
  return fmt::format(
      "Not every policy ran the same jobs: {} ran fewer, which can make waits shorter, and cannot be chosen; so "
      "compare with care.",
      names);
}

}  // namespace

std::span<const Aspect> aspects() { return kAspects; }

Choice choose(Summaries all) {
  Choice choice;
  const Places ran = rehearsed(all);
  if (ran.empty() || cannot_be_trusted(all)) return choice;
  const std::vector<Measure> weighed = burdens(all, true);
  const Summary& shortest = all[least_of(ran, all, mean_wait)];
  Places alike;
  std::ranges::copy_if(ran, std::back_inserter(alike), [&](std::size_t i) {
    return typical(all[i], mean_wait) <= typical(shortest, mean_wait) * kSameWait ||
           differ_by_noise(all[i], shortest, mean_wait);
  });
  choice.chosen = decide(alike, all, weighed);
  const Places balanced = decide(ran, all, weighed);
  const Summary& fair = all[balanced.front()];
  const std::size_t quick = choice.chosen.front();
  std::erase_if(choice.chosen, [&](std::size_t i) {
    return typical(all[i], longest_wait) > kStarves * typical(fair, longest_wait) &&
           !differ_by_noise(all[i], fair, longest_wait);
  });
  if (choice.chosen.empty()) {
    choice.chosen = balanced;
    if (!differ_by_noise(all[quick], fair, mean_wait)) choice.shortest = quick;
  }
  for (std::size_t a = 0; a < kAspects.size(); ++a) {
    const Places best = best_at(kAspects[a], ran, choice.chosen, all);
    if (best.empty()) continue;
    const auto told = std::ranges::find(choice.instead, best, &Choice::Instead::policies);
    if (told == choice.instead.end()) {
      choice.instead.push_back({best, {a}});
    } else {
      told->aspects.push_back(a);
    }
  }
  return choice;
}

std::vector<std::string> verdict_sentences(Summaries summaries) {
  CHECK(!summaries.empty(), "a verdict is asked about some policy");
  const Places ran = rehearsed(summaries);
  std::vector<std::string> sentences;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  if (ran.empty()) {
    const auto told = std::ranges::find_if(summaries, [](const Summary& s) { return s.wait_mean.has_value(); });
    return {told == summaries.end() ? std::string("No job ran.") : alone(*told)};
  }
  if (cannot_be_trusted(summaries)) {
    sentences = distrust_sentences(summaries);
    add(caveat(ran, summaries));
    return sentences;
  }
  const Choice choice = choose(summaries);
  const Summary& chosen = summaries[choice.chosen.front()];
  add(unproven(summaries));
  for (std::string& sentence : changes_in_slurm(ran, summaries)) add(std::move(sentence));
  add(ran.size() == 1 ? alone(chosen) : by_wait(choice.chosen, ran, summaries));
  if (ran.size() > 1) add(beyond_slurm(choice.chosen, ran, summaries));
  add(by_weeks(choice.chosen, ran, summaries));
  if (choice.shortest) add(by_mean_alone(summaries[*choice.shortest], chosen));
  add(beside_recorded(chosen, summaries));
  add(beside_own(chosen, summaries));
  for (const Choice::Instead& instead : choice.instead) add(in_place_of(instead, choice.chosen, summaries));
  if (ran.size() > 1) add(by_use(ran, summaries));
  add(by_length(ran, summaries));
  add(caveat(ran, summaries));
  if (choice.chosen.size() != ran.size()) add(by_chance(summaries));
  return sentences;
}

std::string verdict(Summaries summaries) {
  std::string text;
  for (const std::string& sentence : verdict_sentences(summaries)) text += (text.empty() ? "" : " ") + sentence;
  return text;
}

void measure_against_first(std::span<Summary*> summaries) {
  const Summary* first = nullptr;
  for (Summary* summary : summaries) {
    if (!summary->power || !summary->power->used()) continue;
    if (first == nullptr || !comparable(*first, *summary)) {
      first = summary;
    } else {
      summary->less_than_first = *first->power->used() - *summary->power->used();
    }
  }
}

}  // namespace rota::report
