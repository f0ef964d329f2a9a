// What a command says: its whole result to standard output, and sentences to standard error.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "report/table.h"

namespace rota::cli {

// This exit code; fails with a sentence where not all of it could be written.
Result<int> printed(std::string_view text, int code = 0);

// What to say where something that was printed did not get out.
inline constexpr const char* kNoOutput = "standard output could not be written to; is it closed, or the disk full?";

// How a table of policies is printed to standard output: in colours and as wide as the terminal, where it is one.
report::TableStyle table_style();

// The comparison of policies for standard output: such a table, or JSON.
void write_comparison(std::ostream& out, std::span<const report::Summary> summaries, bool json,
                      std::span<const report::PartySummaries> parties = {});

// The file of a page, opened before anything is run, so that a path that cannot be written is told at once; none where
// the path is empty.
Result<std::optional<OutputFile>> open_page(const std::string& path);

// A line to standard error. Whatever it says of files, paths and their text, it shows escaped, so that none of that can
// drive the terminal or look like another line.
void remark(std::string_view sentence);

}  // namespace rota::cli
