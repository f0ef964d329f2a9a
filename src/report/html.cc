#include "report/html.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include "base/check.h"
#include "report/comparison.h"
#include "report/html_parts.h"
#include "report/html_text.h"
#include "report/page_data.h"
#include "report/page_files.h"
#include "report/policy_labels.h"
#include "report/reserved.h"
#include "report/verdict.h"

namespace rota::report {
namespace {

constexpr std::array<std::string_view, 16> kScripts{
    "data.js",  "words.js", "tip.js",     "state.js", "pareto.js", "parties.js", "charts.js",   "nodes.js",
    "loads.js", "lanes.js", "picture.js", "gantt.js", "jobs.js",   "export.js",  "selftest.js", "main.js"};

// Whether the same jobs stand in the same order, so that the page finds each at its place under both.
bool in_one_order(const Outcome& a, const Outcome& b) {
  const auto number = [](const Job& job) { return job.spec.number; };
  return std::ranges::equal(a.jobs, b.jobs, {}, number, number);
}

std::size_t drawn_of(std::span<const Outcome> outcomes) {
  const std::size_t jobs = outcomes.front().jobs.size();
  if (jobs == 0 || jobs > kMostDrawnJobs) return 0;
  const auto few = outcomes.first(std::min(outcomes.size(), kMostDrawnRuns / jobs));
  const auto other = std::ranges::find_if_not(few, [&](const Outcome& o) { return in_one_order(few.front(), o); });
  return static_cast<std::size_t>(other - few.begin());
}

std::vector<Comparison> comparisons_of(std::span<const Outcome> outcomes, std::span<const Summary> summaries) {
  std::vector<Comparison> all;
  for (std::size_t first = 0; first < outcomes.size();) {
    const std::size_t n = same_workload(summaries, first);
    const auto own = summaries.subspan(first, n);
    Comparison comparison{outcomes.subspan(first, n), {own.begin(), own.end()}, 0, {}};
    if (first > 0 && outcomes[first].workload == outcomes[first - 1].workload)
      comparison.apart =
          "These policies did not run the same jobs on the same cluster as those above, so that they are "
          "not compared with them.";
    comparison.drawn = drawn_of(comparison.outcomes);
    all.push_back(std::move(comparison));
    first += n;
  }
  return all;
}

// The choice stands out; what speaks for another one comes below it.
void write_verdict(std::ostream& out, std::span<const Summary> summaries) {
  const std::vector<std::string> sentences = verdict_sentences(summaries);
  out << "<p class=\"verdict\">" << html_text(sentences.front()) << "</p>\n";
  if (sentences.size() == 1) return;
  out << "<ul class=\"unless\">\n";
  for (std::size_t i = 1; i < sentences.size(); ++i) out << "<li>" << html_text(sentences[i]) << "</li>\n";
  out << "</ul>\n";
}

void write_section(std::ostream& out, const Comparison& comparison, std::size_t index) {
  const Parts parts{
      {"index", [&](std::ostream& o) { o << index; }},
      {"name", [&](std::ostream& o) { o << html_text(comparison.outcomes.front().workload); }},
      {"apart", [&](std::ostream& o) { o << html_text(comparison.apart); }},
      {"labels",
       [&](std::ostream& o) {
         for (const auto& [label, policy] : labelled(comparison.summaries))
           o << "<p class=\"beside\">" << html_text(label) << ": <code>" << html_text(policy) << "</code></p>\n";
       }},
      {"reserved", [&](std::ostream& o) { o << html_text(reserved_text(comparison.summaries.front().reserved)); }},
      {"trust", [&](std::ostream& o) { o << html_text(trust_text(comparison.summaries)); }},
      {"left-out", [&](std::ostream& o) { write_left_out(o, comparison.summaries); }},
      {"verdict", [&](std::ostream& o) { write_verdict(o, comparison.summaries); }},
      {"facts", [&](std::ostream& o) { o << html_text(workload_line(comparison.summaries)); }},
      {"service",
       [&](std::ostream& o) {
         write_figures(o, service_figures(), comparison.summaries, "Waiting and use of the cluster");
       }},
      {"promises",
       [&](std::ostream& o) {
         write_figures(o, promise_figures(), comparison.summaries, "Backfill, kills and promises");
         if (tells_fairness(comparison.summaries))
           write_figures(o, fairness_figures(), comparison.summaries, "Between users and groups");
         if (tells_power(comparison.summaries))
           write_figures(o, power_figures(), comparison.summaries, "Power and energy");
         if (tells_tasks(comparison.summaries))
           write_figures(o, task_figures(), comparison.summaries, "Tasks and accelerators");
         if (tells_sites(comparison.summaries)) write_sites(o, comparison.summaries);
       }},
      {"intervals", [&](std::ostream& o) { write_interval_tables(o, comparison.summaries); }},
      {"meanings",
       [&](std::ostream& o) {
         write_meanings(o, told(service_figures(), comparison.summaries));
         write_meanings(o, promise_figures());
         if (tells_fairness(comparison.summaries)) write_meanings(o, fairness_figures());
         if (tells_power(comparison.summaries)) write_meanings(o, power_figures());
         if (tells_tasks(comparison.summaries)) write_meanings(o, task_figures());
         if (tells_sites(comparison.summaries)) write_meanings(o, site_figures());
       }},
      {"nodes", [&](std::ostream& o) { o << (draws_nodes(comparison) ? page_file("nodes.html") : ""); }},
      {"loads", [&](std::ostream& o) { o << (draws_loads(comparison) ? page_file("loads.html") : ""); }},
      {"sites", [&](std::ostream& o) { o << (draws_sites(comparison) ? page_file("sites.html") : ""); }},
      {"grants", [&](std::ostream& o) { write_grants(o, comparison.outcomes); }},
  };
  fill(out, page_file("workload.html"), parts);
}

void write_data(std::ostream& out, const std::vector<Comparison>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    out << R"(<script type="application/json" id="charts-)" << i << R"(">)" << chart_data(all[i]) << "</script>\n";
    write_job_data(out, all[i], i);
  }
}

void write_scripts(std::ostream& out) {
  out << "<script>" << page_file("d3.min.js") << "</script>\n<script>\n";
  for (const std::string_view name : kScripts) out << page_file(name);
  out << "</script>\n";
}

}  // namespace

void write_html(std::ostream& out, std::span<const Outcome> outcomes, const PageInfo& info,
                std::span<const Summary> summaries) {
  CHECK(summaries.empty() || summaries.size() == outcomes.size(), "each outcome has its summary");
  std::vector<Summary> made;
  if (summaries.empty()) {
    for (const Outcome& outcome : outcomes) made.push_back(summarize(outcome));
    summaries = made;
  }
  const std::vector<Comparison> all = comparisons_of(outcomes, summaries);
  const auto text = [](const std::string& words) { return [&words](std::ostream& o) { o << html_text(words); }; };
  const auto file = [](std::string_view name) { return [name](std::ostream& o) { o << page_file(name); }; };
  const Parts parts{
      {"title", text(info.title)},
      {"version", text(info.version)},
      {"command",
       [&](std::ostream& o) {
         if (!info.command.empty()) o << "Made by <code>" << html_text(info.command) << "</code>. ";
       }},
      {"made", [&](std::ostream& o) { write_made_by(o, info.made_by); }},
      {"style", file("style.css")},
      {"licences", [](std::ostream& o) { o << html_text(page_file("licences.txt")); }},
      {"workloads",
       [&](std::ostream& o) {
         for (std::size_t i = 0; i < all.size(); ++i) write_section(o, all[i], i);
       }},
      {"data", [&](std::ostream& o) { write_data(o, all); }},
      {"scripts", write_scripts},
  };
  fill(out, page_file("index.html"), parts);
}

}  // namespace rota::report
