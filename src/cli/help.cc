#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/letters.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/live/slurm_habits.h"
#include "cli/printed.h"
#include "cli/words_apart.h"

namespace rota::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 26;  // where meanings begin

std::string label(const Argument& argument) {
  std::string out;
  for (const std::string& name : argument.names) out += (out.empty() ? "" : ", ") + name;
  if (argument.rest) return argument.value;
  if (argument.positional) return out + (argument.many ? "..." : "");
  if (argument.names.front().starts_with("--")) out.insert(0, "    ");
  return argument.value.empty() ? out : fmt::format("{} {}", out, argument.value);
}

std::string sentence(std::string phrase) {
  if (!phrase.empty()) phrase.front() = upper(phrase.front());
  return phrase + ".";
}

std::string row(const std::string& what, const std::string& meaning) {
  std::string out = "  " + what;
  if (out.size() + 2 > kColumn) {
    out += "\n" + std::string(kColumn, ' ');
  } else {
    out.resize(kColumn, ' ');
  }
  return fmt::format("{}{}\n", out, wrapped(meaning, kWidth, kColumn));
}

std::string rows(const char* title, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return "";
  std::string out = fmt::format("\n{}:\n", title);
  for (const Argument& argument : arguments) out += row(label(argument), argument.meaning);
  return out;
}

std::string indented(const std::string& lines) {
  std::string out;
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) out += fmt::format("  {}\n", line);
  }
  return out;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kLetter = 2;  // of an option, with its dash: any other is as near
  if (word.starts_with('-') && word.size() <= kLetter) return "";
  const auto name = [](std::string_view of) { return of.substr(std::min(of.size(), of.find_first_not_of('-'))); };
  std::vector<std::string_view> names;  // without dashes, which all options have alike
  for (const std::string& each : known) names.push_back(name(each));
  const std::string_view near = nearest(name(word), names);
  if (near.empty()) return "";
  return fmt::format("; did you mean {}?",
                     known[static_cast<std::size_t>(std::ranges::find(names, near) - names.begin())]);
}

// All names of an option of `rota submit`; none: it has no such one.
std::vector<std::string> asked_of_submit(const std::string& word) {
  const CommandLine line;
  Action none;
  add_submit(line.root(), none);
  const Description submit = describe(*subcommand(line.root(), "submit"));
  const Argument* const option = option_named(submit, word);
  return option == nullptr ? std::vector<std::string>{} : option->names;
}

// An option that there is was given behind --, where nothing is one.
std::string unexpected(const Description& command, const std::string& given) {
  const std::string word = given.substr(0, given.starts_with("--") ? given.find('=') : std::string::npos);
  std::vector<std::string> known;
  if (word.starts_with('-') && option_named(command, word) == nullptr) {
    const std::string_view hint = slurm_hint(command.name, word);
    const auto names = command.name == "rota update" ? asked_of_submit(word) : std::vector<std::string>{};
    const auto here =
        std::ranges::find_if(names, [&](const std::string& name) { return option_named(command, name) != nullptr; });
    if (here != names.end()) return fmt::format("`rota update` knows {} as {}", word, *here);
    if (!names.empty() && hint.empty()) {
      return fmt::format(
          "`rota update` does not change {}, which is said when a job is submitted; cancel the job and submit it anew "
          "with it",
          word);
    }
    const std::string no_option = fmt::format("`{}` has no option {}", command.name, rota::quoted(word));
    if (!hint.empty()) return fmt::format("{}: {}", no_option, hint);
    for (const Argument& option : command.options) known.insert(known.end(), option.names.begin(), option.names.end());
    return no_option + did_you_mean(word, known);
  }
  if (command.subcommands.empty()) return fmt::format("`{}` has no use for {}", command.name, rota::quoted(word));
  for (const Command sub : command.subcommands) known.push_back(sub.name());
  if (command.name == "rota") known.insert(known.end(), {"help", "version"});
  return fmt::format("`{}` has no command {}{}", command.name, rota::quoted(word), did_you_mean(word, known));
}

// `said` begins with the option's name; the rest is said in Rota's way where it is about the value.
std::string wrong_value(const Description& command, const std::string& said) {
  std::vector<Argument> arguments = command.options;
  arguments.insert(arguments.end(), command.positionals.begin(), command.positionals.end());
  for (const Argument& argument : arguments) {
    const auto named =
        std::ranges::find_if(argument.names, [&](const std::string& name) { return said.starts_with(name + ":"); });
    if (named == argument.names.end()) continue;
    const std::string& name = *named;
    if (said.starts_with(name + ": At Most ")) return name + " is given more than once";
    if (said.find(" required ") != std::string::npos)
      return fmt::format("{} is followed by a value: {} {}", name, name, argument.value);
    const std::string given = argument.given.empty() ? "" : ", not " + rota::quoted(argument.given.back());
    if (!argument.choices.empty()) return fmt::format("{} takes {}{}", name, alternatives(argument.choices), given);
    if (!argument.range.empty()) return fmt::format("{} takes a whole number from {}{}", name, argument.range, given);
  }
  return said;
}

std::string said_of(const Description& command, const UsageError& error) {
  if (!error.unknown.empty()) return unexpected(command, error.unknown.front());
  if (error.lacking && command.needs_subcommand) {
    std::string out = fmt::format("`{}` is followed by a command:", command.name);
    std::vector<std::string> names;
    for (const Command sub : command.subcommands) names.push_back(sub.name());
    return fmt::format("{} {}", out, alternatives(names));
  }
  if (error.lacking) {
    const std::string lacking =
        error.text.starts_with("--") ? error.text.substr(0, error.text.find(' ')) : "its argument";
    return fmt::format("`{}` lacks {}: {}", command.name, lacking, synopsis(command));
  }
  return wrong_value(command, error.text);
}

std::string usage_sentence(const Description& command, const UsageError& error) {
  std::string said = said_of(command, error);
  if (!said.ends_with('.') && !said.ends_with('?')) said += ".";
  return fmt::format("{} See `{} --help`.", one_line(said), command.name);
}

}  // namespace

std::string readable_settings(std::string_view settings) {
  constexpr std::size_t kLine = 60;
  std::string out;
  for (const char c : settings) {
    if (c == '+' && settings.size() > kLine) out += ' ';
    out += c;
  }
  return out;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string help_text(Command of) {
  const Description command = describe(of);
  std::string out = fmt::format("Usage: {}\n\n{}\n", synopsis(command), wrapped(sentence(command.summary), kWidth, 0));
  if (!command.text.empty()) out += fmt::format("\n{}\n", wrapped(command.text, kWidth, 0));
  out += rows("Arguments", command.positionals);
  if (!command.subcommands.empty()) out += "\nCommands:\n";
  for (const Command sub : command.subcommands) out += row(sub.name(), describe(sub).summary);
  out += rows("Options", command.options);
  for (const std::string& note : command.notes) out += fmt::format("\n{}\n", wrapped(note, kWidth, 0));
  if (!command.examples.empty()) out += "\nExamples:\n" + indented(command.examples);
  return out;
}

Result<std::string> understood(CommandLine& line, const std::vector<std::string>& words) {
  if (const std::string_view ours = words.empty() ? "" : our_command(words.front()); !ours.empty())
    return fail("`rota` has no command {}; what does that here is `{}`. See `rota --help`.",
                rota::quoted(words.front()), ours);
  const auto apart = TRY(words_apart(line.root(), words));
  for (const std::string& each : apart.remarks) remark("rota: " + each);
  if (!apart.rest.empty()) line.set_rest(apart.at, apart.rest);
  const auto asked = line.parse(apart.options);
  if (!asked) return fail(usage_sentence(describe(line.innermost()), asked.error()));
  if (*asked == CommandLine::Asked::command) return "";
  if (*asked == CommandLine::Asked::version) return "rota " ROTA_VERSION "\n";
  Command of = line.root();
  while (const auto chosen = of.chosen()) of = *chosen;
  return help_text(of);
}

}  // namespace rota::cli
