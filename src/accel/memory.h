// The memory of a container: the buffers of all tasks and one scratch area, together never more than the limit that it
// was made with. Buffers are used again, since fresh pages cost a fault and a clearing each (2.6 GB/s against 9.7 of
// copying); idle ones are given back to the system when the room is wanted. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace rota::accel {

class Memory {
 public:
  // Bytes of a task, aligned to 4096; given back when it ends. What is in it is arbitrary, and may be another task's.
  class Buffer {
   public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { reset(); }
    void reset();
    explicit operator bool() const { return memory_ != nullptr; }
    std::span<std::byte> bytes() const { return bytes_; }

   private:
    friend Memory;
    Buffer(Memory* memory, std::span<std::byte> bytes) : memory_(memory), bytes_(bytes) {}
    Memory* memory_ = nullptr;
    std::span<std::byte> bytes_;
  };

  // `freed` is called after a buffer was given back to it, on the thread that did so, if ask_for_call() came before.
  Memory(std::uint64_t limit, std::function<void()> freed) : limit_(limit), freed_(std::move(freed)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  // after all buffers

  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const;  // by buffers and scratch, idle ones left out
  // Whether such a task could be accepted if it were alone.
  bool could_hold(std::uint64_t bytes, std::uint64_t scratch) const;
  // A buffer of so many bytes (at least one), and scratch of so many for when it is computed. Empty: not now.
  Buffer reserve(std::uint64_t bytes, std::uint64_t scratch);
  // The scratch area, for the one thread that computes a task whose buffer was reserved with as much. Null: the system
  // has no memory.
  std::byte* scratch(std::uint64_t bytes);
  void ask_for_call() { wanted_ = true; }

  static std::uint64_t rounded(std::uint64_t bytes);  // as reserve() counts them

 private:
  void give_back(std::span<std::byte> bytes);
  void make_room(std::uint64_t wanted);

  const std::uint64_t limit_;
  const std::function<void()> freed_;
  std::atomic<bool> wanted_ = false;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;  // by buffers
  std::uint64_t idle_ = 0;
  std::map<std::uint64_t, std::vector<std::byte*>> idle_buffers_;  // by size
  std::uint64_t scratch_reserved_ = 0;
  std::span<std::byte> scratch_;
};

}  // namespace rota::accel
