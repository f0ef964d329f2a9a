#include "report/html_parts.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <ostream>

#include "base/text.h"
#include "report/grants.h"
#include "report/html_text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

std::string heading(const Figure& figure) {
  std::string text = html_text(figure.name);
  if (*figure.unit != '\0') text += R"( <span class="unit">)" + html_text(figure.unit) + "</span>";
  return text;
}

void write_head(std::ostream& out, std::span<const Figure> figures) {
  out << R"(<thead><tr><th scope="col" rowspan="2">policy</th>)";
  for (std::size_t first = 0; first < figures.size();) {
    const char* group = figures[first].group;
    std::size_t n = 1;
    if (*group == '\0') {
      out << R"(<th scope="col" rowspan="2" title=")" << html_text(figures[first].means) << R"(">)"
          << heading(figures[first]) << "</th>";
    } else {
      while (first + n < figures.size() && std::strcmp(figures[first + n].group, group) == 0) ++n;
      out << R"(<th scope="colgroup" class="group" colspan=")" << n << R"(">)" << html_text(group) << "</th>";
    }
    first += n;
  }
  out << "</tr><tr>";
  for (const Figure& figure : figures) {
    if (*figure.group != '\0')
      out << R"(<th scope="col" title=")" << html_text(figure.means) << R"(">)" << heading(figure) << "</th>";
  }
  out << "</tr></thead>\n";
}

// As page/words.js has it: A, B, ... Z, AA, ...
std::string letter(std::size_t row) {
  return (row < 26 ? "" : letter(row / 26 - 1)) + std::string(1, static_cast<char>('A' + row % 26));
}

std::string policy_cell(const Summary& summary, std::size_t row) {
  return R"(<th scope="row"><span class="swatch p)" + std::to_string(row % 8) + R"(" aria-hidden="true">)" +
         letter(row) + "</span>" + html_text(summary.name()) + "</th>";
}

void write_site_row(std::ostream& out, const std::string& head, const Summary& summary) {
  out << "<tr>" << head;
  for (const Figure& figure : site_figures()) out << "<td>" << html_text(figure.shown(summary)) << "</td>";
  out << "</tr>\n";
}

std::map<std::int64_t, std::int64_t> processors_of(const Outcome& outcome, std::span<const Grant> grants) {
  std::map<std::int64_t, std::int64_t> found;
  for (const Grant& grant : grants) found.emplace(grant.job, 0);
  for (const Job& job : outcome.jobs) {
    if (const auto at = found.find(job.spec.number); at != found.end()) at->second = job.spec.processors;
  }
  return found;
}

void write_grants_of(std::ostream& out, const Outcome& outcome) {
  const auto shown = std::span(outcome.grants).first(std::min(outcome.grants.size(), kMostGrants));
  out << "<h4>" << html_text(outcome.name()) << ": " << grouped(static_cast<std::int64_t>(outcome.grants.size()))
      << (outcome.grants.size() == 1 ? " grant" : " grants");
  if (shown.size() < outcome.grants.size())
    out << R"( <span class="unit">(the first )" << grouped(static_cast<std::int64_t>(shown.size()))
        << " are listed)</span>";
  out << "</h4>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Grants under "
      << html_text(outcome.name()) << R"("><table class="grants"><thead><tr><th scope="col">job</th><th scope="col">)"
      << "when</th><th scope=\"col\">what was granted, and why it harmed no other job</th></tr></thead><tbody>\n";
  const auto processors = processors_of(outcome, shown);
  for (const Grant& grant : shown) {
    out << "<tr><td>" << grant.job << "</td><td>" << readable(grant.at, outcome.unix_start) << "</td><td>"
        << html_text(grant_reason(grant, {processors.at(grant.job), outcome.unix_start})) << "</td></tr>\n";
  }
  out << "</tbody></table></div>\n";
}

}  // namespace

void write_figures(std::ostream& out, std::span<const Figure> all, std::span<const Summary> summaries,
                   const char* caption) {
  const std::vector<Figure> figures = told(all, summaries);
  out << "<table><caption>" << html_text(caption) << "</caption>\n";
  write_head(out, figures);
  std::vector<std::vector<bool>> marks;
  marks.reserve(figures.size());
  for (const Figure& figure : figures) marks.push_back(best(figure, summaries));
  out << "<tbody>\n";
  for (std::size_t row = 0; row < summaries.size(); ++row) {
    out << "<tr>" << policy_cell(summaries[row], row);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const std::string text = html_text(figures[i].shown(summaries[row]));
      if (marks[i][row]) {
        out << R"(<td class="best"><strong title="the best of these policies">)" << text << "</strong></td>";
      } else {
        out << "<td>" << text << "</td>";
      }
    }
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

void write_sites(std::ostream& out, std::span<const Summary> summaries) {
  out << "<table class=\"sites\"><caption>Sites</caption>\n";
  write_head(out, site_figures());
  out << "<tbody>\n";
  for (std::size_t row = 0; row < summaries.size(); ++row) {
    write_site_row(out, policy_cell(summaries[row], row), summaries[row]);
    for (const Summary& site : summaries[row].sites)
      write_site_row(out, R"(<th scope="row" class="site">)" + html_text(site.site) + "</th>", site);
  }
  out << "</tbody></table>\n";
}

void write_interval_tables(std::ostream& out, std::span<const Summary> summaries) {
  if (std::ranges::all_of(summaries, [](const Summary& summary) { return summary.intervals.empty(); })) return;
  out << "<details class=\"made intervals\"><summary>What is noise: means and 95 % intervals over "
      << (summaries.back().copies_are_streams ? "streams" : "copies") << "</summary>\n";
  for (std::size_t row = 0; row < summaries.size(); ++row) {
    if (summaries[row].intervals.empty()) continue;
    out << "<table><caption>" << html_text(summaries[row].name()) << ", over " << copies_told(summaries[row])
        << "</caption><thead><tr><th scope=\"col\">figure</th><th scope=\"col\">mean</th><th scope=\"col\">"
           "difference to the first policy</th></tr></thead><tbody>\n";
    for (const Interval& interval : summaries[row].intervals) {
      out << "<tr><th scope=\"row\">" << html_text(interval.heading()) << "</th><td>" << html_text(interval.shown)
          << "</td><td>" << html_text(interval.difference_shown)
          << (interval.noise() ? " <span class=\"unit\">(noise)</span>" : "") << "</td></tr>\n";
    }
    out << "</tbody></table>\n";
  }
  out << "</details>\n";
}

void write_made_by(std::ostream& out, const MadeBy& made_by) {
  if (made_by.options.empty() && made_by.inputs.empty()) return;
  out << "<details class=\"made\"><summary>What made this page</summary>\n<table><caption>Options</caption><thead><tr>"
         "<th scope=\"col\">option</th><th scope=\"col\">value</th></tr></thead><tbody>\n";
  for (const MadeBy::Option& option : made_by.options) {
    out << "<tr><th scope=\"row\">" << html_text(option.name) << "</th><td>" << html_text(option.value)
        << (option.given           ? ""
            : option.value.empty() ? "<span class=\"unit\">not given</span>"
                                   : " <span class=\"unit\">(default)</span>")
        << "</td></tr>\n";
  }
  out << "</tbody></table>\n<table><caption>What was read</caption><thead><tr><th scope=\"col\">file</th>"
         "<th scope=\"col\">bytes</th><th scope=\"col\">SHA-256</th></tr></thead><tbody>\n";
  for (const MadeBy::Input& input : made_by.inputs) {
    out << "<tr><th scope=\"row\">" << html_text(input.path) << "</th><td>"
        << (input.bytes < 0 ? std::string("cannot be read again") : grouped(input.bytes)) << "</td><td><code>"
        << html_text(input.sha256) << "</code></td></tr>\n";
  }
  out << "</tbody></table></details>\n";
}

void write_left_out(std::ostream& out, std::span<const Summary> summaries) {
  const std::vector<std::string>& left_out = summaries.front().left_out;
  if (left_out.empty()) return;
  out << "<details class=\"made left-out\"" << (cannot_be_trusted(summaries) ? " open" : "")
      << "><summary>What was left out or assumed when the log was made</summary>\n<ul>\n";
  for (const std::string& sentence : left_out) out << "<li>" << html_text(sentence) << "</li>\n";
  out << "</ul></details>\n";
}

void write_meanings(std::ostream& out, std::span<const Figure> figures) {
  for (const Figure& figure : figures) {
    out << "<dt>" << html_text(figure.group) << (*figure.group == '\0' ? "" : ": ") << heading(figure) << "</dt><dd>"
        << html_text(figure.means) << "</dd>\n";
  }
}

void write_grants(std::ostream& out, std::span<const Outcome> outcomes) {
  if (std::ranges::all_of(outcomes, [](const Outcome& outcome) { return outcome.grants.empty(); })) return;
  out << "<section class=\"granted\"><h3>Where grace was granted, and why that harmed no other job</h3>\n"
         R"(<p class="look">These jobs had used up their time. Each line gives the processors that were free at that )"
         "moment and what the next waiting job had been promised.</p>\n";
  for (const Outcome& outcome : outcomes) {
    if (!outcome.grants.empty()) write_grants_of(out, outcome);
  }
  out << "</section>\n";
}

}  // namespace rota::report
