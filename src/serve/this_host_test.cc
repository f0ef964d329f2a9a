#include "serve/this_host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rota::serve {
namespace {

TEST(ThisHost, has_as_many_accelerators_as_the_driver_has_numbered_devices) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "this_host_devices";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_EQ(nvidia_accelerators(folder), 0);
  for (const char* name : {"nvidia0", "nvidia1", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia-caps", "null"})
    std::ofstream(folder / name) << "";
  EXPECT_EQ(nvidia_accelerators(folder), 3);
  EXPECT_EQ(nvidia_accelerators(folder / "none"), 0);
  std::filesystem::remove_all(folder);
}

TEST(ThisHost, stands_behind_a_file_that_describes_no_nodes_as_it_was_when_the_state_was_made) {
  const std::string here = cluster_of_this_host(), now = "[service]\n" + here.substr(here.find('\n') + 1);
  std::string before = here;
  before.replace(before.find("processors = "), std::string("processors = ").size(), "processors = 1");
  const std::string with = with_node_kept(now, before);
  EXPECT_TRUE(with.starts_with("[service]\n\n# This computer"));
  EXPECT_TRUE(with.ends_with(before.substr(before.find("[[nodes]]"))));
  const std::string described = "processors = 4\n";
  EXPECT_EQ(with_node_kept(described, before), described);
  EXPECT_EQ(with_node_kept(now, described), now);
}

}  // namespace
}  // namespace rota::serve
