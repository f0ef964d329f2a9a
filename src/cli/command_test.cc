#include "cli/command.h"

#include <gtest/gtest.h>

#include <ranges>
#include <string>
#include <vector>

#include "cli/describe.h"

namespace rota::cli {
namespace {

std::vector<std::string> names(const CommandLine& line) {
  std::vector<std::string> out;
  for (const Command command : describe(line.root()).subcommands) out.push_back(command.name());
  return out;
}

std::vector<std::string> declared_for(std::string_view name) {
  const CommandLine line;
  Action action;
  add_commands(line.root(), action, name);
  return names(line);
}

TEST(Commands, AreDeclaredUnderTheNamesOfTheTable) {
  std::vector<std::string> all;
  for (const Declaration& declaration : declarations()) {
    const CommandLine line;
    Action action;
    declaration.declare(line.root(), action);
    std::string declared;
    for (const std::string& name : names(line)) {
      declared += (declared.empty() ? "" : " ") + name;
      all.push_back(name);
    }
    EXPECT_EQ(declared, declaration.names);
  }
  EXPECT_EQ(declared_for(""), all);
}

TEST(Commands, OneIsDeclaredAloneAndAllWhereTheNameIsUnknownOrOfAll) {
  EXPECT_EQ(declared_for("simulate"), std::vector<std::string>{"simulate"});
  EXPECT_EQ(declared_for("release").size(), 7U);
  const std::size_t all = declared_for("").size();
  EXPECT_GT(all, 30U);
  for (const char* const name : {"simulat", "--help", "manual", "cancel hold"})
    EXPECT_EQ(declared_for(name).size(), all);
}

}  // namespace
}  // namespace rota::cli
