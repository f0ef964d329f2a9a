// What the command line knows about itself, read off the CLI11 apps: the one table from which help, man pages and
// completion are made.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rota::cli {

enum class ValueKind { none, word, file, folder, policy, policies, other };

// One option or positional argument.
struct Argument {
  std::vector<std::string> names;    // "-o", "--output"; of a positional only its name, as INPUT
  std::string value;                 // "FILE", "user|exact"; empty: a flag, or a positional
  ValueKind kind = ValueKind::none;  // what completes its value
  std::vector<std::string> choices;  // of ValueKind::word
  std::string range;                 // "1 to 1024"; may be empty
  std::string meaning;               // with range and default
  bool positional = false;
  bool required = false;
  bool many = false;
  bool rest = false;  // a positional: it and all words behind it belong to a command of the user's
};

// One command. CLI11 knows its text by these rules: the description's first line is the summary and the rest, if there
// is any, tells more; in the footer, indented lines are examples to type and everything else is more text.
struct Command {
  std::string name;  // "rota simulate"
  std::string summary;
  std::string text;
  std::vector<std::string> notes;  // paragraphs
  std::string examples;            // lines, not indented; empty: none
  std::vector<Argument> positionals;
  std::vector<Argument> options;
  std::vector<const CLI::App*> subcommands;
  bool needs_subcommand = false;
};

Command describe(const CLI::App& app);
std::string full_name(const CLI::App& app);                                   // "rota generate lublin"
std::string synopsis(const Command& command);                                 // "rota simulate [OPTION]... WORKLOAD..."
const CLI::App* subcommand(const CLI::App& app, const std::string& name);     // nullptr: none of that name
const Argument* option_named(const Command& command, std::string_view name);  // nullptr: none has this name
std::vector<const CLI::App*> every_command(const CLI::App& app);              // itself first, then those below it

// The words of a command line with "--" before a user's own command, so that its options stay its own. Where the user
// wrote
// "--" there, a second one stands behind: the first word of the positional then tells that there was one.
std::vector<std::string> with_rest_marked(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace rota::cli
