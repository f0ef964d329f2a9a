// How a command line answers a person: help texts, and one sentence for a command line that is wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace rota::cli {

// To be given to the topmost app before its subcommands are added: they take it over.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// What is wrong with a command line that CLI11 refused, without the "rota: ", and what to try.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error);

// Text broken into lines of at most `width` columns; every line but the first begins with `indent` blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace rota::cli
