#include "cli/printed.h"

#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal_width.h"

namespace rota::cli {

Result<int> printed(std::string_view text) {
  auto out = OutputFile::create("-");
  if (!out) return std::unexpected(out.error());
  out->stream() << text;
  if (auto done = out->commit(); !done) return std::unexpected(done.error());
  return kDone;
}

report::TableStyle table_style() {
  return {.colour = ::isatty(STDOUT_FILENO) == 1, .columns = terminal_width(STDOUT_FILENO)};
}

void remark(std::string_view sentence) { std::fprintf(stderr, "%s\n", escaped(sentence).c_str()); }

}  // namespace rota::cli
