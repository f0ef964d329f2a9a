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

}  // namespace
}  // namespace rota::serve
