#include "report/verdict.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "report/verdict_sample_test.h"

namespace rota::report {
namespace {

PowerUse drawing(double kilowatt_hours) {
  PowerUse power;
  power.energy = static_cast<std::int64_t>(kilowatt_hours * 3.6e9);
  return power;
}

TEST(Verdict, NamesWhatToChooseAndByHowMuchItIsAhead) {
  EXPECT_EQ(said({summary("fcfs", 7200, 9000), summary("easy", 3600, 8000), summary("conservative", 4000, 8200)}),
            "Choose easy: jobs waited 1 h on average, 10 % less than under conservative (1 h 7 min) and 50 % less than "
            "under fcfs (2 h). The cluster was 70.0 % used under every policy. How much of this is chance was not "
            "measured: `rota simulate --weeks` does that.");
}

TEST(Verdict, SaysThatChanceWasNotMeasuredOnlyWhereItWasNotAndThereIsAChoice) {
  const auto told = [](const std::vector<Summary>& rows) { return said(rows).contains("chance was not measured"); };
  std::vector<Summary> two{summary("fcfs", 7200, 9000), summary("easy", 3600, 8000)};
  EXPECT_TRUE(told(two));
  EXPECT_TRUE(said(two).ends_with("`rota simulate --weeks` does that."));
  for (Summary& summary : two) summary.has_copies = false;
  EXPECT_TRUE(said(two).ends_with(" How much of this is chance was not measured.")) << "nor can a schedule be repeated";
  for (Summary& summary : two) summary.copies = {summary, summary};
  EXPECT_FALSE(told(two));
  EXPECT_FALSE(told({summary("easy", 3600, 8000)})) << "nothing to choose";
  EXPECT_FALSE(told({summary("easy", 3600, 8000), summary("fcfs", 3600, 8000)})) << "they come out alike";
}

TEST(Verdict, NamesThePolicyToChooseWhereLongestWaitsMatter) {
  const std::string text = said({summary("easy", 900, 6 * 3600.0), summary("easy+order=sjf", 540, 14 * 3600.0)});
  EXPECT_TRUE(
      text.starts_with("Choose easy: jobs waited 15 min on average, 67 % more than under easy+order=sjf (9 min), "
                       "which is outweighed by its 95 % and longest wait."))
      << text;
  EXPECT_NE(
      text.find("Unless the mean alone matters: then easy+order=sjf (9 min), with a longest wait of 14 h against 6 h."),
      std::string::npos)
      << text;
}

TEST(Verdict, NamesOnlyTheWaitsThatAreShorter) {
  std::vector<Summary> rows{summary("easy", 63, 129), summary("easy++", 62, 134)};
  rows[0].wait_p95 = 95;
  rows[1].wait_p95 = 94;
  EXPECT_NE(said(rows).find("(1 min 2 s), which is outweighed by its longest wait."), std::string::npos) << said(rows);
  std::swap(rows[0].wait_p95, rows[1].wait_p95);
  rows[0].wait_p95 = 80;
  rows[0].wait_max = 135;
  EXPECT_NE(said(rows).find("(1 min 2 s), which is outweighed by its 95 %."), std::string::npos) << said(rows);
}

TEST(Verdict, NamesThePolicyThatIsBetterAtTheTailWhereNoJobStarves) {
  const std::string text = said({summary("easy", 900, 6 * 3600.0), summary("easy+order=sjf", 540, 11 * 3600.0)});
  EXPECT_TRUE(text.starts_with("Choose easy+order=sjf: jobs waited 9 min on average, 40 % less than under easy"))
      << text;
  EXPECT_NE(text.find("Unless the waits of the unluckiest 5 % or longest waits matter more than the mean: then easy"),
            std::string::npos)
      << text;
}

TEST(Verdict, ComparesWithWhatTheSiteHasNowWhereThatIsRehearsed) {
  std::vector<Summary> rows{summary("recorded", 100, 200), summary("slurm+bf-interval=30s", 120, 200),
                            summary("easy", 60, 90)};
  rows[0].recorded = true;
  EXPECT_EQ(said(rows).find("what the site has now"), std::string::npos) << "nobody knows what it has";
  rows[1].own = true;
  const std::string text = said(rows);
  EXPECT_NE(text.find("Really they waited 1 min 40 s on average."), std::string::npos) << text;
  EXPECT_NE(
      text.find("Under slurm+bf-interval=30s, which is what the site has now, they wait 2 min: easy takes 50 % off "
                "that."),
      std::string::npos)
      << text;
}

TEST(Verdict, DoesNotCountOnARehearsalThatIsNoLikeness) {
  std::vector<Summary> rows{summary("recorded", 100, 200), summary("easy", 60, 90)};
  rows[0].recorded = true;
  rows[1].trust = Trust{100, 60, 100, 0.1};
  EXPECT_NE(
      said(rows).find("Really they waited 1 min 40 s on average; who waits under easy is hardly who waited really "
                      "(correlation 0.10), so that these two say nothing about each other."),
      std::string::npos)
      << said(rows);
}

TEST(Verdict, WeighsTheTailWhereMeansAreAlike) {
  const std::string text = said({summary("a", 1000, 50'000), summary("b", 1010, 9000), summary("c", 2000, 9000)});
  EXPECT_TRUE(text.starts_with("Choose b: jobs waited 16 min 50 s on average, 1.0 % more than under a")) << text;
}

TEST(Verdict, TellsOfEnergyCostPromisesKillsAndFairness) {
  std::vector<Summary> two{summary("easy", 600, 9000), summary("other", 900, 9000)};
  two[0].power = drawing(300);
  two[1].power = drawing(280);
  two[0].power->cost = 70;
  two[1].power->cost = 60;
  two[0].delayed = 10;
  two[0].killed = 3;
  two[0].users.index = 0.5;
  two[1].users.index = 0.9;
  two[0].groups.index = 0.8;
  two[1].groups.index = 0.81;
  const std::string text = said(two);
  for (const char* words :
       {"Unless promises, fairness between users, kills, energy or cost matter more than the mean: then other",
        "nodes draw 280.0 kWh against 300.0 kWh", "electricity costs 60.00 against 70.00",
        "jobs that start later than promised: 0 against 10"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
  }
  EXPECT_EQ(text.find("groups"), std::string::npos) << "a point of a hundred is not worth telling: " << text;
}

TEST(Verdict, SaysWhereEnergyIsMeteredForUnlikeTimes) {
  std::vector<Summary> two{summary("fcfs", 600, 9000), summary("easy", 600, 9000)};
  for (Summary& summary : two) summary.power = drawing(300);
  two[0].power->length = seconds(7200);
  two[1].power->length = seconds(7190);
  EXPECT_EQ(said(two).find("metered"), std::string::npos) << "less than one per cent";
  two[1].power->length = seconds(3600);
  EXPECT_NE(
      said(two).find("Nodes are metered until the last job is gone, 1 h under easy and 2 h under fcfs: who is done "
                     "sooner draws less by that alone."),
      std::string::npos)
      << said(two);
}

TEST(Verdict, TellsATieAsATie) {
  EXPECT_EQ(
      said({summary("a", 60, 90), summary("b", 60, 90)}),
      "All 2 policies come out alike: jobs waited 1 min on average. The cluster was 70.0 % used under every policy.");
  EXPECT_TRUE(
      said({summary("c", 600, 900), summary("b", 60, 90), summary("a", 60, 90)})
          .starts_with("Choose a or b, which come out alike: jobs waited 1 min on average, 90 % less than under c"));
}

// The same policy on copies: these mean waits, all else as it is.
Summary with_copies(Summary summary, const std::vector<double>& waits) {
  const Summary copy = summary;
  for (const double wait : waits) summary.copies.emplace_back(copy).wait_mean = wait;
  return summary;
}

TEST(Verdict, NamesNoPolicyForADifferenceThatIsNoise) {
  const std::vector two{with_copies(summary("a", 100, 900), {100, 120, 90}),
                        with_copies(summary("b", 200, 900), {110, 100, 103})};
  EXPECT_EQ(
      said(two),
      "All 2 policies come out alike within the noise of 3 copies: jobs waited 1 min 43 s to 1 min 44 s on average "
      "over 3 copies. The cluster was 70.0 % used under every policy.");
  std::vector three = two;
  three.push_back(with_copies(summary("c", 50, 900), {300, 310, 290}));
  EXPECT_TRUE(
      said(three).starts_with("Choose a or b, which come out alike within the noise of 3 copies: jobs waited 1 "
                              "min 43 s to 1 min 44 s on average over 3 copies, 66 % less than under c (5 min)"))
      << said(three);
}

TEST(Verdict, NamesThePolicyAheadInEveryCopyHoweverMuchTheseDiffer) {
  const std::vector two{with_copies(summary("a", 100, 900), {100, 300, 500}),
                        with_copies(summary("b", 90, 900), {110, 311, 509})};
  EXPECT_TRUE(
      said(two).starts_with("Choose a: jobs waited 5 min on average over 3 copies, 3.2 % less than under b "
                            "(5 min 10 s)."))
      << said(two);
}

TEST(Verdict, TellsNoAlternativeThatIsBetterByNoise) {
  std::vector two{with_copies(summary("a", 100, 900), {100, 100, 100}),
                  with_copies(summary("b", 200, 900), {200, 201, 202})};
  const auto killed = [&](const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    for (std::size_t i = 0; i < 3; ++i) {
      two[0].copies[i].killed = a[i];
      two[1].copies[i].killed = b[i];
    }
    return said(two);
  };
  EXPECT_EQ(killed({9, 0, 0}, {0, 1, 0}).find("kills"), std::string::npos) << said(two);
  EXPECT_NE(killed({9, 8, 9}, {0, 1, 0})
                .find("Unless kills matter more than the mean: then b (dispatches that are "
                      "killed: 0.3 against 8.7), with a mean wait of 3 min 21 s."),
            std::string::npos)
      << said(two);
}

TEST(Verdict, SaysWhichOfThoseThatComeOutAlikeIsBetterAtSomethingElse) {
  std::vector two{with_copies(summary("a", 100, 900), {100, 120, 90}),
                  with_copies(summary("b", 100, 900), {110, 100, 103})};
  for (Summary& copy : two[0].copies) copy.killed = 4;
  EXPECT_NE(said(two).find("Of these, where kills matter: b (dispatches that are killed: 0 against 4 under a)."),
            std::string::npos)
      << said(two);
}

TEST(Verdict, DescribesASinglePolicy) {
  EXPECT_EQ(said({summary("easy", 3600, 5000)}),
            "Under easy jobs waited 1 h on average, half of them no longer than 1 min 30 s, and the cluster was 70.0 % "
            "used.");
}

TEST(Verdict, ComparesWhatReallyHappenedWithTheFigureThatItNames) {
  const std::vector rows{[] {
                           Summary recorded = summary("recorded", 50, 90);
                           recorded.recorded = true;
                           return recorded;
                         }(),
                         with_copies(summary("easy", 60, 90), {100, 100, 100}),
                         with_copies(summary("fcfs", 600, 900), {600, 610, 620})};
  EXPECT_NE(said(rows).find("1 min 40 s on average over 3 copies"), std::string::npos) << said(rows);
  EXPECT_NE(said(rows).find("Really they waited 50 s on average: 50 % less than under easy."), std::string::npos)
      << said(rows);
}

TEST(Verdict, NeverChoosesWhatReallyHappenedAndComparesWithIt) {
  std::vector<Summary> rows{summary("recorded", 10, 10), summary("easy", 60, 90), summary("fcfs", 600, 900)};
  rows[0].recorded = true;
  EXPECT_NE(said(rows).find("Really they waited 10 s on average: 83 % less than under easy."), std::string::npos)
      << said(rows);
  rows[0].wait_mean = 120;
  EXPECT_NE(said(rows).find("Really they waited 2 min on average: easy takes 50 % off that."), std::string::npos)
      << said(rows);
  rows.resize(1);
  EXPECT_TRUE(said(rows).starts_with("Under recorded jobs waited 2 min"));
}

TEST(Verdict, WarnsWhenTheyDidNotRunTheSameJobs) {
  std::vector<Summary> two{summary("a", 60, 90), summary("b", 80, 90)};
  two[1].rejected = 5;
  EXPECT_TRUE(said(two).ends_with("so compare with care."));
}

TEST(Verdict, DoesNotPraiseAPolicyWithoutPromisesForKeepingThem) {
  std::vector<Summary> three{summary("easy", 60, 90), summary("fcfs-skip", 80, 90), summary("conservative", 90, 90)};
  three[0].delayed = 10;
  three[1].promises = false;
  three[2].delayed = 2;
  EXPECT_EQ(said(three).find("then fcfs-skip"), std::string::npos) << said(three);
  EXPECT_NE(said(three).find("Unless promises matter more than the mean: then conservative"), std::string::npos)
      << said(three);
}

TEST(Verdict, SaysNothingOfWaitsThatAreAllAlike) {
  std::vector<Summary> rows{summary("recorded", 10, 10), summary("easy", 5, 90)};
  rows[0].recorded = true;
  rows[1].trust = Trust{100, 5, 10, std::nullopt};
  EXPECT_NE(said(rows).find("Really they waited 10 s on average; the waits of one of the two are all alike"),
            std::string::npos)
      << said(rows);
}

TEST(Verdict, ChoosesNothingWhereTheSitesOwnPolicyIsLeftOut) {
  std::vector<Summary> rows{summary("easy", 60, 90), summary("fcfs", 90, 90)};
  for (Summary& row : rows) row.site_policy = "slurm";
  EXPECT_TRUE(said(rows).starts_with("How far these rehearsals can be trusted is not known")) << said(rows);
  EXPECT_EQ(said(rows).find("Choose"), std::string::npos) << said(rows);
  EXPECT_NE(said(rows).find("--policy recorded,slurm and these. Of these: easy"), std::string::npos) << said(rows);
}

TEST(Verdict, NeverChoosesAPolicyThatRanFewerJobs) {
  std::vector<Summary> two{summary("a", 60, 90), summary("b", 80, 90)};
  two[0].unfinished = 5;
  EXPECT_TRUE(said(two).starts_with("Under b jobs waited")) << said(two);
  EXPECT_NE(said(two).find("a ran fewer"), std::string::npos) << said(two);
  two.push_back(summary("c", 100, 200));
  EXPECT_TRUE(said(two).starts_with("Choose b: jobs waited 1 min 20 s on average, 20 % less than under c"))
      << said(two);
}

TEST(Verdict, ComparesWithWhatReallyHappenedOverTheSameJobs) {
  std::vector<Summary> rows{summary("recorded", 10, 10), summary("easy", 60, 90)};
  rows[0].recorded = true;
  rows[0].unrecorded = 60;
  rows[1].trust = Trust{40, 5, 10, 0.9};
  EXPECT_NE(said(rows).find("Really they waited 10 s on average, as far as that is known: of 40 jobs, which wait 5 s "
                            "under easy; easy takes 50 % off that."),
            std::string::npos)
      << said(rows);
  rows[0].unrecorded = 0;
  rows[1].rejected = 60;
  EXPECT_NE(
      said(rows).find("Really they waited 10 s on average, counting only those that ran under easy: 40 jobs, which "
                      "wait 5 s there; easy takes 50 % off that."),
      std::string::npos)
      << said(rows);
}

TEST(Verdict, HasAWordWhenNothingRan) { EXPECT_EQ(said({Summary{}}), "No job ran."); }

TEST(Verdict, MeasuresEnergyAgainstTheFirstPolicyOfEachWorkload) {
  std::vector<Summary> all{summary("easy", 60, 90), summary("saver", 60, 90), summary("easy", 60, 90)};
  for (Summary& s : all) s.power = drawing(300);
  all[1].power = drawing(250);
  all[2].workload = "another";
  std::vector<Summary*> pointers{&all[0], &all[1], &all[2]};
  measure_against_first(pointers);
  EXPECT_FALSE(all[0].less_than_first);
  EXPECT_NEAR(all[1].less_than_first.value_or(0), 50, 1e-9);
  EXPECT_FALSE(all[2].less_than_first);
}

// ---- the numbers name the winner, in whatever order the policies stand

// Few values of each figure, so that there are ties in all of them.
void draw(Summary& s, Random& random, bool fair, bool power) {
  s.wait_mean = static_cast<double>(random.between(99, 100));
  s.wait_max = static_cast<double>(random.between(1, 2)) * 1000;
  s.wait_p95 = static_cast<double>(random.between(1, 2)) * 100;
  s.delayed = random.between(0, 1);
  s.killed = random.between(0, 1);
  if (fair) s.users.index = random.between(0, 1) == 1 ? 0.5 : 0.9;
  if (power) s.power = drawing(static_cast<double>(random.between(100, 103)));
}

// A copy differs from its policy in the waits, and a little.
Summary drawn_copy(const Summary& of, Random& random) {
  Summary copy = of;
  *copy.wait_mean += static_cast<double>(random.between(0, 8));
  *copy.wait_max += static_cast<double>(random.between(0, 1) * 100);
  copy.killed += random.between(0, 1);
  return copy;
}

std::vector<Summary> random_summaries(Random& random, std::int64_t copies) {
  std::vector<Summary> all;
  const auto n = static_cast<std::size_t>(random.between(1, 6));
  const bool fair = random.between(0, 1) == 1;
  const bool power = random.between(0, 1) == 1;
  for (std::size_t i = 0; i < n; ++i) {
    Summary s = summary(std::string(1, static_cast<char>('a' + i)), 99, 1000);
    draw(s, random, fair && random.between(0, 9) > 0, power);
    const Summary base = s;
    for (std::int64_t c = 0; c < copies; ++c) s.copies.push_back(drawn_copy(base, random));
    all.push_back(s);
  }
  if (random.between(0, 3) == 0) {
    all[0].recorded = true;
    all[0].copies.clear();
  }
  return all;
}

double weight(const Summary& s) {
  return std::log(*s.wait_mean + 1) + std::log(*s.wait_p95 + 1) + std::log(*s.wait_max + 1);
}
double wait(const Summary& s) { return *s.wait_mean; }
double longest(const Summary& s) { return *s.wait_max; }

// By hand: the figure that counts, and of a paired difference whether Student's interval holds zero.
double figure(const Summary& s, double (*of)(const Summary&)) {
  double sum = 0;
  for (const Summary& copy : s.copies) sum += of(copy);
  return s.copies.empty() ? of(s) : sum / static_cast<double>(s.copies.size());
}
bool noise(const Summary& a, const Summary& b, double (*of)(const Summary&)) {
  constexpr std::array kStudent{0.0, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
  const std::size_t n = a.copies.size();
  if (n < 2) return false;
  const double mean = figure(a, of) - figure(b, of);
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(of(a.copies[i]) - of(b.copies[i]) - mean, 2);
  const auto count = static_cast<double>(n);
  return squares > 1e-12 && std::abs(mean) <= kStudent[n - 1] * std::sqrt(squares / (count - 1) / count);
}

std::vector<const Summary*> by_figure(const std::vector<Summary>& all, double (*of)(const Summary&)) {
  std::vector<const Summary*> rehearsed;
  for (const Summary& s : all) {
    if (!s.recorded) rehearsed.push_back(&s);
  }
  std::ranges::sort(rehearsed, {}, [&](const Summary* s) { return std::pair(figure(*s, of), s->policy); });
  return rehearsed;
}

// As one would check it by hand: of the policies that wait as long as the shortest, none beats a chosen one, and one
// that is as good but for noise is chosen too.
void check_choice(const std::vector<Summary>& all, const Choice& choice) {
  const Summary& shortest = *by_figure(all, wait).front();
  const auto chosen = [&](const Summary& s) {
    return std::ranges::any_of(choice.chosen, [&](std::size_t i) { return &all[i] == &s; });
  };
  const Summary* best = nullptr;
  for (const Summary* s : by_figure(all, weight)) {
    const bool starves = figure(*s, longest) > 2 * figure(all[choice.chosen.front()], longest);
    const bool alike = !starves && (figure(*s, wait) <= figure(shortest, wait) * 1.02 || noise(*s, shortest, wait));
    EXPECT_TRUE(alike || !chosen(*s)) << s->policy;
    if (!alike) continue;
    if (best == nullptr) best = s;
    if (noise(*s, *best, weight)) {
      EXPECT_TRUE(chosen(*s)) << s->policy << " is as good as " << best->policy;
    } else if (figure(*s, weight) > figure(*best, weight)) {
      EXPECT_FALSE(chosen(*s)) << best->policy << " is better than " << s->policy;
    }
  }
}

// A policy that is named instead is the best there, and better than one that was chosen.
void check_alternatives(const std::vector<Summary>& all, const Choice& choice) {
  for (const Choice::Instead& instead : choice.instead) {
    for (const std::size_t a : instead.aspects) {
      const Aspect& aspect = aspects()[a];
      const bool of_these = std::ranges::count(choice.chosen, instead.policies.front()) > 0;
      for (const std::size_t named : instead.policies) {
        const double found = figure(all[named], aspect.value);
        const auto ranked = by_figure(all, aspect.value);
        const Summary& best = aspect.higher ? *ranked.back() : *ranked.front();
        const double least = of_these ? aspect.least : 0;  // near enough
        if (noise(all[named], best, aspect.value)) continue;
        EXPECT_LE(aspect.higher ? -found : found,
                  figure(best, aspect.value) * (aspect.higher ? least - 1 : 1 + 1.1 * least) + 1e-9)
            << aspect.name;
      }
      const auto worse = [&](std::size_t chosen) {
        const double found = figure(all[instead.policies.front()], aspect.value);
        const double of_chosen = figure(all[chosen], aspect.value);
        return !noise(all[instead.policies.front()], all[chosen], aspect.value) &&
               (aspect.higher ? found > of_chosen : found < of_chosen);
      };
      EXPECT_TRUE(of_these ? std::ranges::any_of(choice.chosen, worse) : std::ranges::all_of(choice.chosen, worse))
          << aspect.name;
    }
  }
}

struct Seen {
  int ties = 0;
  int others = 0;
  int noise = 0;
  int named = 0;
};

void try_all_orders(Random& random, std::int64_t copies, Seen& seen) {
  std::vector<Summary> all = random_summaries(random, copies);
  const auto rehearsed = std::ranges::count_if(all, [](const Summary& s) { return !s.recorded; });
  if (rehearsed == 0) return;
  const Choice choice = choose(all);
  ASSERT_FALSE(choice.chosen.empty());
  for (const std::size_t chosen : choice.chosen) EXPECT_FALSE(all[chosen].recorded);
  check_choice(all, choice);
  check_alternatives(all, choice);
  seen.ties += choice.chosen.size() > 1 ? 1 : 0;
  seen.others += choice.instead.empty() ? 0 : 1;
  seen.named += rehearsed > 1 && choice.chosen.size() == 1 ? 1 : 0;
  const std::string words = verdict(all);
  const bool alike_by_noise = words.contains(fmt::format("come out alike within the noise of {} copies", copies));
  seen.noise += alike_by_noise ? 1 : 0;
  EXPECT_TRUE(!alike_by_noise || choice.chosen.size() > 1) << words;
  std::ranges::sort(all, {}, &Summary::policy);
  do {
    ASSERT_EQ(verdict(all), words) << "in another order";
  } while (all.size() < 6 && std::ranges::next_permutation(all, {}, &Summary::policy).found);
}

TEST(Verdict, TheNamedWinnerIsTheOneThatTheNumbersNameInEveryOrder) {
  Random random(12);
  Seen seen;
  for (int round = 0; round < 400; ++round) try_all_orders(random, 0, seen);
  EXPECT_GT(seen.ties, 5);
  EXPECT_GT(seen.others, 100);
  EXPECT_EQ(seen.noise, 0);
}

TEST(Verdict, OverCopiesTheWinnerIsTheOneThatPairedDifferencesNameInEveryOrder) {
  Random random(13);
  Seen seen;
  for (int round = 0; round < 400; ++round) try_all_orders(random, random.between(2, 6), seen);
  EXPECT_GT(seen.noise, 50);
  EXPECT_GT(seen.named, 50);
  EXPECT_GT(seen.others, 100);
}

}  // namespace
}  // namespace rota::report
