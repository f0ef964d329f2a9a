#include "report/live_page.h"

#include <array>
#include <ostream>
#include <sstream>
#include <string_view>

#include "report/html_text.h"
#include "report/page_files.h"

namespace rota::report {
namespace {

constexpr std::array<std::string_view, 13> kScripts{
    "d3.min.js",     "live_service.js", "words.js",      "tip.js",        "lanes.js",    "picture.js",  "live_text.js",
    "live_chart.js", "live_queue.js",   "live_nodes.js", "live_sites.js", "live_job.js", "live_main.js"};

}  // namespace

LivePage live_page() {
  LivePage page;
  for (const std::string_view name : {"style.css", "live.css"}) page.style += page_file(name);
  for (const std::string_view name : kScripts) page.script.append(page_file(name)).append("\n");
  const Parts parts{
      {"style", [&](std::ostream& o) { o << page.style; }},
      {"script", [&](std::ostream& o) { o << page.script; }},
      {"licences", [](std::ostream& o) { o << html_text(page_file("licences.txt")); }},
  };
  std::ostringstream out;
  fill(out, page_file("live.html"), parts);
  page.html = out.str();
  return page;
}

}  // namespace rota::report
