#include "accel/shared_rings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

namespace rota::accel {
namespace {

process::Descriptor copy_of(int file) { return process::Descriptor(::fcntl(file, F_DUPFD_CLOEXEC, 0)); }

TEST(SharedRings, CarryChunksBothWaysInOrder) {
  const auto container = SharedRings::make();
  const auto client = SharedRings::open(copy_of(container->file()));
  for (int round = 0; round < 3; ++round) {
    for (const auto& [from, to] :
         {std::pair(container.get(), client.get()), std::pair(client.get(), container.get())}) {
      for (std::uint32_t i = 0; i < kSlots; ++i) {
        EXPECT_TRUE(from->has_slot());
        from->put(std::array{std::byte(i), std::byte(round)});
      }
      EXPECT_FALSE(from->has_slot());
      for (std::uint32_t i = 0; i < kSlots; ++i) {
        std::array<std::byte, 2> got{};
        to->take(got);
        EXPECT_EQ(got, (std::array{std::byte(i), std::byte(round)}));
        EXPECT_TRUE(from->given_back());
      }
      EXPECT_FALSE(from->given_back()) << "no slot is out";
    }
  }
}

TEST(SharedRings, CannotBeCutShortByAClient) {
  const auto container = SharedRings::make();
  EXPECT_NE(::ftruncate(container->file(), 4096), 0);
  EXPECT_NE(::ftruncate(container->file(), 2 * kRingsBytes), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(container->file());
  EXPECT_LT(process::Descriptor(::open(path.c_str(), O_RDWR | O_TRUNC | O_CLOEXEC)).get(), 0);
}

TEST(SharedRings, AreNotMadeOfAnyFile) {
  EXPECT_FALSE(SharedRings::open({}));
  EXPECT_FALSE(SharedRings::open(process::Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  process::Descriptor open_ended(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open_ended.get(), kRingsBytes), 0);
  EXPECT_FALSE(SharedRings::open(copy_of(open_ended.get()))) << "it could be cut short";
  ASSERT_EQ(::fcntl(open_ended.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(SharedRings::open(copy_of(open_ended.get())));
}

}  // namespace
}  // namespace rota::accel
