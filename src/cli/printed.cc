#include "cli/printed.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/text.h"
#include "cli/terminal_width.h"
#include "report/summary_json.h"

namespace rota::cli {

Result<int> printed(std::string_view text, int code) {
  auto out = TRY(OutputFile::create("-"));
  out.stream() << text;
  TRY(out.commit());
  return code;
}

report::TableStyle table_style() {
  return {.colour = ::isatty(STDOUT_FILENO) == 1, .columns = terminal_width(STDOUT_FILENO)};
}

void write_comparison(std::ostream& out, std::span<const report::Summary> summaries, bool json,
                      std::span<const report::PartySummaries> parties) {
  if (json) {
    out << report::to_json(summaries, parties);
  } else {
    report::write_table(out, summaries, table_style());
    report::write_parties(out, parties, table_style());
  }
}

Result<std::optional<OutputFile>> open_page(const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto file = TRY(OutputFile::create(path));
  return std::optional(std::move(file));
}

void remark(std::string_view sentence) { std::fprintf(stderr, "%s\n", escaped(sentence).c_str()); }

}  // namespace rota::cli
