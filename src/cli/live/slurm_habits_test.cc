#include "cli/live/slurm_habits.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/page_test.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"

namespace rota::cli {
namespace {

TEST(ForeignCommands, StandInTheDocumentWithWhatDoesTheSameHere) {
  std::string table = "| elsewhere | Rota |\n|---|---|\n";
  for (const ForeignCommand& each : foreign_commands()) {
    std::string names;
    for (const std::string_view name : split(each.names, ' '))
      names += fmt::format("{}{}`", names.empty() ? "`" : ", `", name);
    table += fmt::format("| {} | `{}` |\n", names, each.ours);
  }
  expect_in_page("live-commands.md", "foreign commands", table);
}

TEST(ForeignCommands, NameCommandsThatThereAreAndHideNone) {
  const CommandLine line;
  Action action;
  add_commands(line.root(), action);
  for (const ForeignCommand& each : foreign_commands()) {
    for (const std::string_view name : split(each.names, ' '))
      EXPECT_FALSE(subcommand(line.root(), std::string(name))) << each.names;
    ASSERT_TRUE(each.ours.starts_with("rota "));
    for (const auto part : split(each.ours.substr(5), ',')) {
      const std::string_view name = trimmed(part);
      EXPECT_TRUE(subcommand(line.root(), std::string(name.substr(0, name.find(' '))))) << each.ours;
    }
  }
}

}  // namespace
}  // namespace rota::cli
