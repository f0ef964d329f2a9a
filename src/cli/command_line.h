// Commands and their options as they are declared, and a command line as it is read by them. The verbs are those of
// CLI11, which does the work. Its header costs seconds in each file that includes it: only command_line.cc and
// describe.cc do.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rota::cli {

// What is wrong with a command line. The functions that are handed to callback() and the like may throw it.
struct UsageError {
  std::string text;                       // begins with the name of the option that it is about
  bool lacking = false;                   // which is required, and not there
  std::vector<std::string> unknown = {};  // words that no command takes; parse() fills it in
};

// One option or positional argument. This and Command are handles: copy them, and hold them as long as the CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option type_name(const std::string& shown) const;  // what stands for its value in the help
  Option required() const;
  // Another one by its name, as "--policy", which has been declared before.
  Option excludes(const std::string& other) const;
  Option needs(const std::string& other) const;
  Option one_of(const std::vector<std::string>& words) const;
  Option range(std::int64_t least, std::int64_t most) const;
  Option positive() const;
  Option check(const std::function<std::string(const std::string&)>& fault) const;  // "": the value is right
  Option delimiter(char between) const;                                             // one word may be several values
  Option take_last() const;                                                         // given twice it is not refused
  Option default_str(const std::string& value) const;  // tells in the help what holds without it
  Option capture_default_str() const;                  // the same: what the variable holds now

  std::string name() const;
  bool given() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_subcommand(const std::string& name, const std::string& summary) const;
  // `names`: "-o,--output"; of a positional "INPUT". `value` outlives the CommandLine. command_line.cc lists the types
  // T.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& about) const;
  // A positional that no parser reads: `words` are a command of the user's as it was typed, with the "--" before it, or
  // a script and its arguments. `shown` stands for them in the help.
  void add_rest(const std::string& name, const std::string& shown, std::vector<std::string>& words,
                const std::string& about) const;
  Option add_option_function(const std::string& names, const std::function<void(const std::string&)>& take,
                             const std::string& about) const;
  Option add_flag(const std::string& names, bool& value, const std::string& about) const;
  Option add_flag_callback(const std::string& names, const std::function<void()>& take, const std::string& about) const;
  void description(const std::string& text) const;        // stands below the summary
  void footer(const std::string& text) const;             // notes and examples: describe.h
  void callback(const std::function<void()>& run) const;  // once it has been read whole
  void require_subcommand(std::size_t least) const;       // and at most one
  void fallthrough() const;                               // options of the command above may stand behind this one

  std::string name() const;
  std::optional<Command> chosen() const;  // the command below it that the command line names; not behind "--"
  CLI::App& app() const { return *app_; }
  bool operator==(const Command&) const = default;

 private:
  CLI::App* app_;
};

class CommandLine {
 public:
  CommandLine();

  Command root() const { return Command(app_.get()); }

  enum class Asked { command, help, version };
  // `words`: those behind "rota", but for what is the rest of a command (words_apart.h), which goes to its add_rest().
  // Sets the variables of the options and runs the callbacks, for Asked::command only.
  std::expected<Asked, UsageError> parse(std::vector<std::string> words);
  void set_rest(Command command, std::vector<std::string> words);
  Command innermost() const;  // of the commands that parse() has come to

 private:
  std::shared_ptr<CLI::App> app_;  // shared by none: knows how to delete what is not declared here
};

}  // namespace rota::cli
