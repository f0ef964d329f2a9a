// How a command line answers a person: help texts, and one sentence for a command line that is wrong.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"

namespace rota::cli {

// Reads the words behind "rota". The text to print where they ask for help or the version, "" where a command is to be
// run; what is wrong with them, without the "rota: ", and what to try.
Result<std::string> understood(CommandLine& line, const std::vector<std::string>& words);

std::string help_text(Command command);

// Text broken into lines of at most `width` columns; every line but the first begins with `indent` blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);
// Knobs that are set together, for people: with blanks where they would not fit into a line.
std::string readable_settings(std::string_view settings);

}  // namespace rota::cli
