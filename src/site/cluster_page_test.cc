#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/page_test.h"
#include "site/cluster_file.h"

namespace rota::site {
namespace {

std::string heading(const std::string& table) {
  return fmt::format("### {}\n\n| key | takes | if left out | meaning |\n|---|---|---|---|\n",
                     table.empty() ? std::string("At the top") : fmt::format("In each `[[{}]]`", table));
}

TEST(ClusterPage, has_every_key) {
  std::string text;
  std::string table = "none yet";
  for (const ClusterKey& key : cluster_keys()) {
    if (key.table != table) text += (text.empty() ? "" : "\n") + heading(key.table);
    table = key.table;
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.takes,
                        key.fallback.empty() ? "must be there" : key.fallback, key.meaning);
  }
  expect_in_page("cluster-file.md", "keys", text);
}

TEST(ClusterPage, shows_messages_as_they_are) {
  const std::vector<std::pair<std::string, std::string>> slips{
      {"max_time = \"2d\"", "max_tme = \"2d\""},
      {"max_time = \"2d\"", "max_time = \"two days\""},
      {"nodes = \"n[001-008]\"", "nodes = \"n[001-800]\""},
      {"max_time = \"30m\"", "default = true"},
  };
  std::ifstream in(ROTA_SOURCE_DIR "/examples/kea.toml");
  const std::string kea((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string text = "```text\n";
  for (const auto& [right, slip] : slips) {
    std::string wrong = kea;
    wrong.replace(wrong.find(right), right.size(), slip);
    const auto machine = parse_cluster(wrong, "kea.toml");
    ASSERT_FALSE(machine) << slip;
    text += machine.error().message + "\n";
  }
  expect_in_page("cluster-file.md", "messages", text + "```\n");
}

}  // namespace
}  // namespace rota::site
