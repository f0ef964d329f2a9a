#include "cli/command_line.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

namespace rota::cli {
namespace {

// The topmost command, which knows where each command's rest goes.
struct Root : CLI::App {
  using CLI::App::App;
  std::map<const CLI::App*, std::vector<std::string>*> rests;
};

Root& root_of(CLI::App* app) {
  while (app->get_parent() != nullptr) app = app->get_parent();
  return dynamic_cast<Root&>(*app);
}

}  // namespace

Option Option::type_name(const std::string& shown) const { return Option(option_->type_name(shown)); }

Option Option::required() const { return Option(option_->required()); }

Option Option::excludes(const std::string& other) const { return Option(option_->excludes(other)); }

Option Option::needs(const std::string& other) const { return Option(option_->needs(other)); }

Option Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::range(std::int64_t least, std::int64_t most) const {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::positive() const { return Option(option_->check(CLI::PositiveNumber)); }

Option Option::check(const std::function<std::string(const std::string&)>& fault) const {
  return Option(option_->check(fault));
}

Option Option::delimiter(char between) const { return Option(option_->delimiter(between)); }

Option Option::take_last() const { return Option(option_->take_last()); }

Option Option::default_str(const std::string& value) const { return Option(option_->default_str(value)); }

Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }

std::string Option::name() const { return option_->get_name(); }

bool Option::given() const { return option_->count() > 0; }

Command Command::add_subcommand(const std::string& name, const std::string& summary) const {
  return Command(app_->add_subcommand(name, summary));
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& about) const {
  return Option(app_->add_option(names, value, about));
}

template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, std::size_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;

void Command::add_rest(const std::string& name, const std::string& shown, std::vector<std::string>& words,
                       const std::string& about) const {
  root_of(app_).rests[app_] = &words;
  app_->add_option(name, words, about)->type_name(shown);
}

Option Command::add_option_function(const std::string& names, const std::function<void(const std::string&)>& take,
                                    const std::string& about) const {
  return Option(app_->add_option_function<std::string>(names, take, about));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& about) const {
  return Option(app_->add_flag(names, value, about));
}

Option Command::add_flag_callback(const std::string& names, const std::function<void()>& take,
                                  const std::string& about) const {
  return Option(app_->add_flag_callback(names, take, about));
}

void Command::description(const std::string& text) const {
  app_->description(fmt::format("{}\n{}", app_->get_description(), text));
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::callback(const std::function<void()>& run) const { app_->callback(run); }

void Command::require_subcommand(std::size_t least) const { app_->require_subcommand(least, 1); }

void Command::fallthrough() const { app_->fallthrough(); }

std::string Command::name() const { return app_->get_name(); }

std::optional<Command> Command::chosen() const {
  const std::vector<CLI::App*> below = app_->get_subcommands();
  if (below.empty()) return std::nullopt;
  return Command(below.front());
}

CommandLine::CommandLine()
    : app_(std::make_shared<Root>("schedule batch jobs, and rehearse schedules on your own job log", "rota")) {
  app_->set_help_flag("-h,--help", "print this help");
  app_->set_version_flag("--version", "", "print the version");
}

std::expected<CommandLine::Asked, UsageError> CommandLine::parse(std::vector<std::string> words) {
  std::ranges::reverse(words);  // as CLI11 wants them
  UsageError error;
  try {
    app_->parse(std::move(words));
    return Asked::command;
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::CallForVersion&) {
    return Asked::version;
  } catch (const CLI::ParseError& e) {
    error = {e.what(), e.get_name() == "RequiredError"};
  } catch (const UsageError& e) {
    error = e;
  }
  error.unknown = app_->remaining(true);
  std::erase(error.unknown, "--");  // which CLI11 keeps beside the words that no command takes
  return std::unexpected(error);
}

void CommandLine::set_rest(Command command, std::vector<std::string> words) {
  *root_of(app_.get()).rests.at(&command.app()) = std::move(words);
}

Command CommandLine::innermost() const {
  for (CLI::App* at = app_.get();;) {
    const auto below = at->get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
    if (below.empty()) return Command(at);
    at = below.front();
  }
}

}  // namespace rota::cli
