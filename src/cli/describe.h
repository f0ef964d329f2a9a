// What the command line knows about itself, read off the declared commands: the one table from which help, man pages
// and completion are made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

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
  bool rest = false;               // a positional: it and all words behind it belong to a command of the user's
  std::string otherwise;           // the value where none is given; may be empty
  std::vector<std::string> given;  // by the command line, once it has been parsed; of a flag "true" each time

  const std::string& name() const;  // the first long one of its names, where there is one
};

// One command. In its footer indented lines are examples to type, and everything else is notes.
struct Description {
  std::string name;  // "rota simulate"
  std::string summary;
  std::string text;
  std::vector<std::string> notes;  // paragraphs
  std::string examples;            // lines, not indented; empty: none
  std::vector<Argument> positionals;
  std::vector<Argument> options;
  std::vector<Command> subcommands;
  bool needs_subcommand = false;
};

Description describe(Command command);
std::string full_name(Command command);                                       // "rota generate lublin"
std::string synopsis(const Description& command);                             // "rota simulate [OPTION]... WORKLOAD..."
std::optional<Command> subcommand(Command command, const std::string& name);  // of that name
const Argument* option_named(const Description& command, std::string_view name);  // nullptr: none has this name
std::vector<Command> every_command(Command command);                              // itself first, then those below it
Command parent_of(Command command);                                               // of the topmost: itself
Command root_of(Command command);                                                 // likewise

}  // namespace rota::cli
