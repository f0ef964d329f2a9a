#include "cli/help.h"

#include <algorithm>

#include "base/letters.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/live/slurm_habits.h"

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
  return argument.value.empty() ? out : out + " " + argument.value;
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
  return out + wrapped(meaning, kWidth, kColumn) + "\n";
}

std::string rows(const char* title, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return "";
  std::string out = std::string("\n") + title + ":\n";
  for (const Argument& argument : arguments) out += row(label(argument), argument.meaning);
  return out;
}

std::string indented(const std::string& lines) {
  std::string out;
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) out += "  " + std::string(line) + "\n";
  }
  return out;
}

// The command that was being given when the command line went wrong.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  for (;;) {
    const auto below = at->get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
    if (below.empty()) return *at;
    at = below.front();
  }
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kLetter = 2;  // of an option, with its dash: any other is as near
  if (word.starts_with('-') && word.size() <= kLetter) return "";
  const std::string_view near = nearest(word, {known.begin(), known.end()});
  return near.empty() ? "" : "; did you mean " + std::string(near) + "?";
}

// All names of an option of `rota submit`; none: it has no such one.
std::vector<std::string> asked_of_submit(const std::string& word) {
  CLI::App app;
  Action none;
  add_submit(app, none);
  const Command submit = describe(*app.get_subcommand("submit"));
  const Argument* const option = option_named(submit, word);
  return option == nullptr ? std::vector<std::string>{} : option->names;
}

// An option that there is was given behind --, where nothing is one.
std::string unexpected(const Command& command, const std::string& given) {
  const std::string word = given.substr(0, given.starts_with("--") ? given.find('=') : std::string::npos);
  std::vector<std::string> known;
  if (word.starts_with('-') && option_named(command, word) == nullptr) {
    const auto names = command.name == "rota update" ? asked_of_submit(word) : std::vector<std::string>{};
    const auto here =
        std::ranges::find_if(names, [&](const std::string& name) { return option_named(command, name) != nullptr; });
    if (here != names.end()) return "`rota update` knows " + word + " as " + *here;
    if (!names.empty()) {
      return "`rota update` does not change " + word +
             ", which is said when a job is submitted; cancel the job and submit it anew with it";
    }
    const std::string no_option = "`" + command.name + "` has no option " + rota::quoted(word);
    if (const std::string_view hint = slurm_hint(command.name, word); !hint.empty())
      return no_option + ": " + std::string(hint);
    for (const Argument& option : command.options) known.insert(known.end(), option.names.begin(), option.names.end());
    return no_option + did_you_mean(word, known);
  }
  if (command.subcommands.empty()) return "`" + command.name + "` has no use for " + rota::quoted(word);
  for (const CLI::App* sub : command.subcommands) known.push_back(sub->get_name());
  return "`" + command.name + "` has no command " + rota::quoted(word) + did_you_mean(word, known);
}

// CLI11 begins with the option's name; the rest is said in Rota's way where it is about the value.
std::string wrong_value(const CLI::App& app, const Command& command, const std::string& said) {
  std::vector<Argument> arguments = command.options;
  arguments.insert(arguments.end(), command.positionals.begin(), command.positionals.end());
  for (const Argument& argument : arguments) {
    const auto named =
        std::ranges::find_if(argument.names, [&](const std::string& name) { return said.starts_with(name + ":"); });
    if (named == argument.names.end()) continue;
    const std::string& name = *named;
    if (said.starts_with(name + ": At Most ")) return name + " is given more than once";
    if (said.find(" required ") != std::string::npos)
      return name + " is followed by a value: " + name + " " + argument.value;
    const CLI::Option* option = app.get_option_no_throw(name);
    const std::string given =
        option == nullptr || option->empty() ? "" : ", not " + rota::quoted(option->results().back());
    if (!argument.choices.empty()) return name + " takes " + alternatives(argument.choices) + given;
    if (!argument.range.empty()) return name + " takes a whole number from " + argument.range + given;
  }
  return said;
}

std::string said_by(const CLI::App& app, const CLI::App& at, const Command& command, const CLI::ParseError& error) {
  std::vector<std::string> extra = app.remaining(true);
  std::erase(extra, "--");  // which CLI11 keeps beside the words that nobody wanted
  if (!extra.empty()) return unexpected(command, extra.front());
  if (error.get_name() == "RequiredError" && command.needs_subcommand) {
    std::string out = "`" + command.name + "` is followed by a command:";
    std::vector<std::string> names;
    for (const CLI::App* sub : command.subcommands) names.push_back(sub->get_name());
    return out + " " + alternatives(names);
  }
  if (error.get_name() == "RequiredError") {
    const std::string what = error.what();  // begins with the name of what is not there
    const std::string lacking = what.starts_with("--") ? what.substr(0, what.find(' ')) : "its argument";
    return "`" + command.name + "` lacks " + lacking + ": " + synopsis(command);
  }
  return wrong_value(at, command, error.what());
}

}  // namespace

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

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  const Command command = describe(*app);
  std::string out = "Usage: " + synopsis(command) + "\n\n" + wrapped(sentence(command.summary), kWidth, 0) + "\n";
  if (!command.text.empty()) out += "\n" + wrapped(command.text, kWidth, 0) + "\n";
  out += rows("Arguments", command.positionals);
  if (!command.subcommands.empty()) out += "\nCommands:\n";
  for (const CLI::App* sub : command.subcommands) out += row(sub->get_name(), describe(*sub).summary);
  out += rows("Options", command.options);
  for (const std::string& note : command.notes) out += "\n" + wrapped(note, kWidth, 0) + "\n";
  if (!command.examples.empty()) out += "\nExamples:\n" + indented(command.examples);
  return out;
}

std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = innermost(app);
  const Command command = describe(at);
  std::string said = said_by(app, at, command, error);
  if (!said.ends_with('.') && !said.ends_with('?')) said += ".";
  return one_line(said) + " See `" + command.name + " --help`.";
}

}  // namespace rota::cli
