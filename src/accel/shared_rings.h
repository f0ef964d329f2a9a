// Memory that a container shares with one client on its node, beside their Unix socket: a ring of slots each way. The
// sender of a chunk copies it into the next slot and sends a frame without the bytes (kShared); the receiver copies it
// out before it looks at it, and gives the slot back (TAKEN). Two copies, as a socket makes, but no call of the system
// for them, no checksum, and so few slots that they stay in the cache. The bytes are used only where they were copied
// to: a client that writes into the memory later harms its own tasks alone, and it cannot cut the file short.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "process/descriptor.h"

namespace rota::accel {

inline constexpr std::size_t kSlotBytes = std::size_t{512} << 10U;
inline constexpr std::uint32_t kSlots = 4;
inline constexpr std::size_t kRingsBytes = kSlotBytes * kSlots * 2;  // both ways

class SharedRings {
 public:
  // At a container: null where the system gives no such memory.
  static std::unique_ptr<SharedRings> make();
  // At a client: null where the file is not one that a container makes.
  static std::unique_ptr<SharedRings> open(process::Descriptor file);
  SharedRings(const SharedRings&) = delete;
  SharedRings& operator=(const SharedRings&) = delete;
  ~SharedRings();

  int file() const { return file_.get(); }

  // -- the way out: one thread puts, one gives back
  bool has_slot() const { return free_ > 0; }
  void put(std::span<const std::byte> chunk);  // at most kSlotBytes; has_slot() must hold
  bool given_back();                           // TAKEN has come; false: no slot was out

  // -- the way in: one thread
  void take(std::span<std::byte> into);  // the next slot's bytes, at most kSlotBytes

 private:
  SharedRings(process::Descriptor file, std::byte* all, std::size_t out, std::size_t in)
      : file_(std::move(file)), all_(all), out_(all + out), in_(all + in) {}
  static std::byte* mapped(const process::Descriptor& file);

  const process::Descriptor file_;
  std::byte* const all_;
  std::byte* const out_;
  std::byte* const in_;
  std::atomic<std::uint32_t> free_ = kSlots;
  std::uint32_t next_out_ = 0;
  std::uint32_t next_in_ = 0;
};

}  // namespace rota::accel
