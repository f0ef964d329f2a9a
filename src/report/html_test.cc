#include "report/html.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "report/sample_test.h"
#include "report/series.h"

namespace rota::report {
namespace {

std::string page(const std::vector<Outcome>& outcomes, const PageInfo& info = {}) {
  std::ostringstream out;
  write_html(out, outcomes, info);
  return out.str();
}

std::vector<Outcome> two_policies(std::int64_t jobs = 200) {
  const auto source = sample_jobs(jobs, 64, 11);
  return {rehearsed(source, 64, false), rehearsed(source, 64, true)};
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Html, OpensWithTheVerdictAndThenTheFigures) {
  const std::string text = page(two_policies());
  const std::size_t verdict = text.find("Choose easy: jobs waited");
  const std::size_t table = text.find("<table>");
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(verdict, table);
  EXPECT_EQ(count(text, "<th scope=\"row\">"), 6U) << "three tables of two policies";
}

TEST(Html, TellsWhatTheLogLeftOutAndRecommendsNothingThatCannotBeTrusted) {
  const auto outcomes = two_policies();
  std::vector<Summary> summaries;
  for (const Outcome& outcome : outcomes) {
    summaries.push_back(summarize(outcome));
    summaries.back().left_out = {"reservations <of last year>"};
  }
  const auto made = [&] {
    std::ostringstream out;
    write_html(out, outcomes, {}, summaries);
    return out.str();
  };
  const std::string trusted = made();
  EXPECT_NE(trusted.find("<p class=\"verdict\">Choose easy"), std::string::npos);
  EXPECT_NE(trusted.find("left-out\"><summary>"), std::string::npos);
  EXPECT_NE(trusted.find("<li>reservations &lt;of last year&gt;</li>"), std::string::npos);
  summaries[0].own = true;
  summaries[0].trust = Trust{100, 10, 1000, 0.1};
  const std::string text = made();
  EXPECT_NE(text.find("<p class=\"verdict\">This rehearsal cannot be trusted"), std::string::npos);
  EXPECT_EQ(text.find("Choose"), std::string::npos);
  EXPECT_NE(text.find("left-out\" open><summary>"), std::string::npos);
  EXPECT_NE(text.find("\"chosen\":-1"), std::string::npos);
}

TEST(Html, StandsAlone) {
  const std::string text = page(two_policies());
  for (const char* word : {" src=", "<link", "@import", "url(", "{{"}) EXPECT_EQ(count(text, word), 0U) << word;
  EXPECT_EQ(count(text, "default-src 'none'"), 1U);
  EXPECT_NE(text.find("d3js.org v5"), std::string::npos) << "the library's own notice is kept";
  EXPECT_NE(text.find("Redistributions in binary form"), std::string::npos);
}

TEST(Html, NamesFromOutsideStayText) {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\xff";
  auto outcomes = two_policies();
  const std::string plain = page(outcomes);
  for (Outcome& outcome : outcomes) outcome.workload = evil;
  outcomes[1].policy = evil;
  const std::string text = page(outcomes, {.title = evil, .version = evil, .command = evil});
  EXPECT_EQ(count(text, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(text, "</script"), count(plain, "</script"));
  EXPECT_EQ(count(text, "<img"), 0U);
  EXPECT_EQ(count(text, "\xff"), 0U);
}

TEST(Html, ComparesOnlyWhatIsComparable) {
  auto outcomes = two_policies();
  outcomes[1].jobs[5].spec.processors = 63;  // another workload under the same name
  EXPECT_EQ(count(page(outcomes), "<section class=\"workload\""), 2U);
  EXPECT_NE(page(outcomes).find("These policies did not run the same jobs"), std::string::npos);
  EXPECT_EQ(count(page(two_policies()), "<section class=\"workload\""), 1U);
  auto longer = two_policies();
  longer[1].jobs[5].spec.limit += seconds(60);  // its input had to be moved
  EXPECT_EQ(count(page(longer), "<section class=\"workload\""), 1U);
  EXPECT_EQ(page(longer).find("These policies did not run the same jobs"), std::string::npos);
  auto nameless = two_policies();
  for (Job& job : nameless[1].jobs) job.spec.user = UINT32_MAX;  // a schedule that does not tell users
  EXPECT_EQ(count(page(nameless), "<section class=\"workload\""), 1U);
  auto rounded = two_policies();
  for (Job& job : rounded[1].jobs) job.spec.submit -= Duration{1};  // as the table has it
  EXPECT_EQ(count(page(rounded), "<section class=\"workload\""), 1U);
}

TEST(Html, DrawsOneByOneOnlyWhatStandsInOneOrder) {
  auto outcomes = two_policies();
  EXPECT_EQ(count(page(outcomes), "\"drawn\":2"), 1U);
  std::swap(outcomes[1].jobs[3], outcomes[1].jobs[4]);
  const std::string text = page(outcomes);
  EXPECT_EQ(count(text, "<section class=\"workload\""), 1U);
  EXPECT_EQ(count(text, "\"drawn\":1"), 1U);
}

TEST(Html, TellsWhatWasReserved) {
  auto outcomes = two_policies();
  EXPECT_EQ(page(outcomes).find("Reserved, so that"), std::string::npos);
  for (Outcome& outcome : outcomes) outcome.reserved = {"n1 from <then> on"};
  EXPECT_NE(page(outcomes).find("Reserved, so that no job is given it: n1 from &lt;then&gt; on."), std::string::npos);
}

TEST(Html, ShowsGrantsOnlyWhereThereAreSome) {
  auto outcomes = two_policies();
  EXPECT_EQ(count(page(outcomes), "class=\"granted\""), 0U);
  for (int i = 0; i < 1500; ++i)
    outcomes[1].grants.push_back({.job = 1, .at = at_seconds(i), .until = at_seconds(i + 60), .free = 4, .needed = 2});
  const std::string text = page(outcomes);
  EXPECT_EQ(count(text, "class=\"granted\""), 1U);
  EXPECT_EQ(count(text, "so no job could lose one."), 1000U);
  EXPECT_NE(text.find("easy: 1,500 grants <span class=\"unit\">(the first 1,000 are listed)"), std::string::npos);
}

// Two policies at two sites, at one of which nodes were metered.
std::vector<Outcome> at_two_sites() {
  auto outcomes = two_policies();
  for (Outcome& outcome : outcomes) {
    outcome.sites = {"texel", "<ameland>"};
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i)
      outcome.site_of.push_back(SiteId{static_cast<std::uint32_t>(i % 2)});
    const Span span = span_of(outcome);
    NodeStates states{.from = span.from, .length = span.to - span.from, .width = span.to - span.from, .bins = {}};
    states.bins.push_back({{2 * states.width.count(), 0, 0, 0, 0}, 0});
    outcome.node_states = {states, {}};
    outcome.power = PowerUse{.length = states.length, .work = states.bins[0].time[0], .nodes = 2};
  }
  return outcomes;
}

std::vector<Summary> with_sites_of(const std::vector<Outcome>& outcomes) {
  std::vector<Summary> summaries;
  for (const Outcome& outcome : outcomes) {
    summaries.push_back(summarize(outcome));
    for (const std::string& name : outcome.sites) {
      Summary site = summarize(outcome);
      site.site = name;
      if (name != "texel") site.power.reset();
      summaries.back().sites.push_back(site);
    }
  }
  return summaries;
}

TEST(Html, DrawsWhatNodesDidWhereThatWasKept) {
  EXPECT_EQ(count(page(two_policies()), "<figure data-chart=\"nodes\""), 0U);
  const std::string text = page(at_two_sites());
  EXPECT_EQ(count(text, "<figure data-chart=\"nodes\""), 1U);
  EXPECT_EQ(count(text, "\"uses\":[[2.0],[0.0],[0.0],[0.0],[0.0]]"), 2U) << "two nodes, all the time";
}

// Two looks at two partitions, and 3,000 looks, of which no more are drawn than a picture has places.
TEST(Html, DrawsTheLoadThatAPowerRuleSaw) {
  EXPECT_EQ(count(page(two_policies()), "<figure data-chart=\"loads\""), 0U);
  auto outcomes = two_policies();
  Machine machine;
  machine.partitions.resize(2);
  machine.partitions[0].name = "short";
  machine.partitions[1].name = "<long>";
  const auto look = [](int second, double load) {
    LoadReading one{.partition = PartitionId{0}, .least_work = 3'600'000, .most_work = 7'200'000, .load = load};
    LoadReading other{.partition = PartitionId{1}, .load = 0};
    return LoadLook{at_seconds(second), {one, other}};
  };
  outcomes[1].machine = std::make_shared<const Machine>(machine);
  outcomes[1].loads = {look(0, 0.5), look(1, 1.25)};
  const std::string text = page(outcomes);
  EXPECT_EQ(count(text, "<figure data-chart=\"loads\""), 1U);
  EXPECT_EQ(count(text, "\"load\":[0.5,1.25]"), 1U);
  EXPECT_EQ(count(text, "\"least\":[1.0,1.0]"), 1U) << "node-hours";
  EXPECT_EQ(count(text, "\"loads\":null"), 1U) << "of the other policy";
  outcomes[1].loads.clear();
  for (int second = 0; second < 3'000; ++second)
    outcomes[1].loads.push_back(look(second, second == 1'500 ? 7.77 : 0.1));
  const std::string thinned = page(outcomes);
  EXPECT_EQ(count(thinned, "7.77"), 1U) << "the highest of each place is drawn";
  EXPECT_LT(count(thinned, "0.1,"), 1'200U);
}

TEST(Html, DrawsEachSiteWhereSummariesTellOfThem) {
  const auto outcomes = at_two_sites();
  EXPECT_EQ(count(page(outcomes), "class=\"places\""), 0U) << "nobody told";
  std::ostringstream out;
  write_html(out, outcomes, {}, with_sites_of(outcomes));
  const std::string text = out.str();
  EXPECT_EQ(count(text, "class=\"places\""), 1U);
  EXPECT_EQ(count(text, "<table class=\"sites\""), 1U);
  EXPECT_EQ(count(text, "<th scope=\"row\" class=\"site\">&lt;ameland&gt;</th>"), 2U);
  EXPECT_EQ(count(text, "\"uses\":[[2.0]"), 4U) << "of all, and of texel";
}

TEST(Html, DrawsEachSiteBesideWhatReallyHappenedAtUnknownSites) {
  auto outcomes = at_two_sites();
  outcomes[0].recorded = true;
  outcomes[0].sites.clear();
  outcomes[0].site_of.clear();
  outcomes[0].node_states.clear();
  outcomes[0].power.reset();
  std::ostringstream out;
  write_html(out, outcomes, {}, with_sites_of(outcomes));
  const std::string text = out.str();
  EXPECT_EQ(count(text, "class=\"places\""), 1U);
  EXPECT_EQ(count(text, "\"name\":\"texel\""), 1U);
  EXPECT_EQ(count(text, "\"unplaced\":true"), 2U) << "at each site";
}

TEST(Html, LeavesOutSingleJobsWhereThereAreTooMany) {
  auto outcomes = two_policies(10);
  EXPECT_EQ(count(page(outcomes), "id=\"jobs-0"), 3U);
  outcomes[0].jobs.resize(kMostDrawnJobs + 1, outcomes[0].jobs.back());
  outcomes.resize(1);
  EXPECT_EQ(count(page(outcomes), "id=\"jobs-0"), 0U);
}

TEST(Html, IsAPageEvenOfNothing) {
  EXPECT_NE(page({}).find("</html>"), std::string::npos);
  Outcome empty;
  empty.workload = "empty";
  empty.policy = "easy";
  EXPECT_NE(page({empty}).find("No job ran."), std::string::npos);
}

}  // namespace
}  // namespace rota::report
