#include "cli/describe.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/text.h"

namespace rota::cli {
namespace {

std::vector<std::string> strings(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (const std::string_view piece : split(text, separator)) out.emplace_back(piece);
  return out;
}

// CLI11 shows a value as "N:INT in [1 - 1024]", "TEXT:{user,exact}" or whatever type_name() was given.
struct Shape {
  std::string value;
  std::vector<std::string> choices;
  std::string range;
};

Shape shape_of(const std::string& type) {
  const std::size_t colon = type.find(':');
  const std::string head = type.substr(0, colon);
  const std::string check = colon == std::string::npos ? "" : type.substr(colon + 1);
  Shape shape{.value = head, .choices = {}, .range = {}};
  if (check.starts_with('{') && check.ends_with('}')) {
    shape.choices = strings(std::string_view(check).substr(1, check.size() - 2), ',');
    shape.value.clear();
    for (const std::string& choice : shape.choices) shape.value += (shape.value.empty() ? "" : "|") + choice;
  } else if (head.find('|') != std::string::npos) {
    shape.choices = strings(head, '|');
  } else if (const std::size_t open = check.find('['), dash = check.find(" - "); dash != std::string::npos) {
    shape.range = fmt::format("{} to {}", check.substr(open + 1, dash - open - 1),
                              check.substr(dash + 3, check.size() - dash - 4));
  }
  return shape;
}

ValueKind kind_of(const Shape& shape) {
  if (!shape.choices.empty()) return ValueKind::word;
  if (shape.value.starts_with("FILE") || shape.value.starts_with("SCRIPT")) return ValueKind::file;
  if (shape.value == "DIR") return ValueKind::folder;
  if (shape.value == "POLICY") return ValueKind::policy;
  if (shape.value.starts_with("POLICY,") || shape.value.starts_with("POLICY[")) return ValueKind::policies;
  return ValueKind::other;
}

Argument describe(const CLI::Option& option) {
  Argument out;
  out.positional = option.get_positional() && !option.nonpositional();
  out.required = option.get_required();
  out.many = option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  out.meaning = option.get_description();
  out.given = option.results();
  out.otherwise = option.get_default_str();
  if (out.positional) {
    out.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() == 0) return out;  // a flag
  const Shape shape = shape_of(option.get_type_name());
  out.kind = kind_of(shape);
  out.choices = shape.choices;
  out.rest = out.positional && shape.value.ends_with("[ARG]...");
  if (!out.positional || out.rest) out.value = shape.value;
  out.range = shape.range;
  if (!shape.range.empty()) out.meaning += fmt::format(" ({})", shape.range);
  if (!out.otherwise.empty()) out.meaning += fmt::format(" (default: {})", out.otherwise);
  return out;
}

void add_footer(Description& out, const std::string& footer) {
  bool paragraph = false;  // whether the line before went on with one
  for (const std::string& line : strings(footer, '\n')) {
    if (line.starts_with("  ")) {
      out.examples += line.substr(2) + "\n";
    } else if (line.empty() || line == "Examples:") {
      paragraph = false;
    } else if (paragraph) {
      out.notes.back() += " " + line;
    } else {
      out.notes.push_back(line);
      paragraph = true;
    }
  }
}

}  // namespace

const std::string& Argument::name() const {
  const auto found = std::ranges::find_if(names, [](const std::string& name) { return name.starts_with("--"); });
  return found == names.end() ? names.front() : *found;
}

std::string full_name(Command command) {
  const Command parent = parent_of(command);
  return parent == command ? command.name() : fmt::format("{} {}", full_name(parent), command.name());
}

Description describe(Command command) {
  const CLI::App& app = command.app();
  Description out;
  out.name = full_name(command);
  const std::string text = app.get_description();
  const std::size_t end = text.find('\n');
  out.summary = text.substr(0, end);
  if (end != std::string::npos) out.text = trimmed(std::string_view(text).substr(end));
  add_footer(out, app.get_footer());
  for (const CLI::Option* option : app.get_options()) {
    Argument argument = describe(*option);
    (argument.positional ? out.positionals : out.options).push_back(std::move(argument));
  }
  out.needs_subcommand = app.get_require_subcommand_min() > 0;
  for (CLI::App* below : command.app().get_subcommands({})) out.subcommands.emplace_back(below);
  return out;
}

std::string synopsis(const Description& command) {
  std::string out = command.name;
  if (command.needs_subcommand) return out + " COMMAND";
  if (!command.subcommands.empty()) out += " [COMMAND]";
  out += " [OPTION]...";
  for (const Argument& argument : command.positionals) {
    if (argument.rest) {
      out += " " + argument.value;
      continue;
    }
    const std::string name = argument.names.front() + (argument.many ? "..." : "");
    out += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  return out;
}

std::optional<Command> subcommand(Command command, const std::string& name) {
  for (CLI::App* below : command.app().get_subcommands({}))
    if (below->get_name() == name) return Command(below);
  return std::nullopt;
}

std::vector<Command> every_command(Command command) {
  std::vector<Command> out{command};
  for (const Command sub : describe(command).subcommands) {
    const auto below = every_command(sub);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

Command parent_of(Command command) {
  CLI::App* const parent = command.app().get_parent();
  return parent == nullptr ? command : Command(parent);
}

Command root_of(Command command) {
  const Command parent = parent_of(command);
  return parent == command ? command : root_of(parent);
}

const Argument* option_named(const Description& command, std::string_view name) {
  const auto has = [&](const Argument& a) { return std::ranges::find(a.names, name) != a.names.end(); };
  const auto found = std::ranges::find_if(command.options, has);
  return found == command.options.end() ? nullptr : &*found;
}

}  // namespace rota::cli
