#include "report/study_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "report/html_text.h"
#include "report/page_files.h"

namespace rota::report {
namespace {

std::string verdict_of(std::span<const Cell> cells) {
  const auto missed = cells.size() - static_cast<std::size_t>(std::ranges::count_if(cells, &Cell::ok));
  const std::string all = std::to_string(cells.size());
  if (missed == 0) return fmt::format("All {} figures are where they should be.", all);
  return fmt::format("{} of {} figures are not where they should be.", missed, all);
}

void write_cells(std::ostream& out, const StudySection& section) {
  out << R"(<div class="scroll"><table><thead><tr><th scope="col">)" << html_text(section.heading) << "</th>";
  for (const char* name : {"found", "wanted", "deviation", "better", "in the paper", ""}) {
    out << "<th scope=\"col\">" << name << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const Cell& cell : section.cells) {
    const CellTexts texts = texts_of(cell);
    out << "<tr><th scope=\"row\">" << html_text(cell.claim) << "</th>";
    for (const std::string& text : {texts.found, texts.wanted, texts.deviation, texts.better, cell.paper}) {
      out << "<td>" << html_text(text) << "</td>";
    }
    out << (cell.ok() ? "<td>ok</td></tr>\n" : "<td><strong>missed</strong></td></tr>\n");
  }
  out << "</tbody></table></div>\n";
}

void write_section(std::ostream& out, const StudySection& section) {
  out << "<section><h2>" << html_text(fmt::format("{}: {}", section.name, section.about))
      << "</h2>\n<p class=\"verdict\">" << verdict_of(section.cells) << "</p>\n";
  if (!section.plots.empty()) out << "<div class=\"charts\">\n";
  for (const Plot& plot : section.plots) out << "<figure class=\"half\">\n" << svg_of(plot) << "</figure>\n";
  if (!section.plots.empty()) out << "</div>\n";
  write_cells(out, section);
  if (!section.tables.empty()) out << "<div class=\"scroll\"><pre>" << html_text(section.tables) << "</pre></div>\n";
  out << "<details class=\"made\"><summary>The commands that make these figures again</summary>\n<div "
         "class=\"scroll\"><pre>"
      << html_text(commands_table(section.cells, section.name)) << "</pre></div></details>\n";
  out << "</section>\n";
}

}  // namespace

void write_study_page(std::ostream& out, std::span<const StudySection> sections, const PageInfo& info) {
  const Parts parts{
      {"title", [&](std::ostream& o) { o << html_text(info.title); }},
      {"version", [&](std::ostream& o) { o << html_text(info.version); }},
      {"command", [&](std::ostream& o) { o << html_text(info.command); }},
      {"style", [](std::ostream& o) { o << page_file("style.css"); }},
      {"studies",
       [&](std::ostream& o) {
         for (const StudySection& section : sections) write_section(o, section);
       }},
  };
  fill(out, page_file("study.html"), parts);
}

}  // namespace rota::report
