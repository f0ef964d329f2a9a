#include "cli/command.h"

#include <gtest/gtest.h>

#include <ranges>
#include <string>
#include <vector>

namespace rota::cli {
namespace {

std::vector<std::string> names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(command->get_name());
  return out;
}

std::vector<std::string> declared_for(std::string_view name) {
  CLI::App app{"", "rota"};
  Action action;
  add_commands(app, action, name);
  return names(app);
}

TEST(Commands, AreDeclaredUnderTheNamesOfTheTable) {
  std::vector<std::string> all;
  for (const Declaration& declaration : declarations()) {
    CLI::App app{"", "rota"};
    Action action;
    declaration.declare(app, action);
    std::string declared;
    for (const std::string& name : names(app)) {
      declared += (declared.empty() ? "" : " ") + name;
      all.push_back(name);
    }
    EXPECT_EQ(declared, declaration.names);
  }
  EXPECT_EQ(declared_for(""), all);
}

TEST(Commands, OneIsDeclaredAloneAndAllWhereTheNameIsNobodysOrTellsOfAll) {
  EXPECT_EQ(declared_for("simulate"), std::vector<std::string>{"simulate"});
  EXPECT_EQ(declared_for("release").size(), 7U);
  const std::size_t all = declared_for("").size();
  EXPECT_GT(all, 30U);
  for (const char* const name : {"simulat", "--help", "manual", "cancel hold"})
    EXPECT_EQ(declared_for(name).size(), all);
}

}  // namespace
}  // namespace rota::cli
