// The memory of a container: one file in memory that has exactly the bytes of its limit, which this process maps and
// the processes of its backends map, too. The buffers of all tasks lie in it, from its beginning, each in the first gap
// that holds it, so that pages are used again (fresh ones cost a fault and a clearing each: 2.6 GB/s against 9.7 of
// copying); the scratch of the task that computes lies at its end. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "process/descriptor.h"

namespace rota::accel {

// What all processes map, and where this one has it.
struct SharedMemory {
  int file = -1;  // none: the system gives no such memory
  std::span<std::byte> bytes;
};

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
  Memory(std::uint64_t limit, std::function<void()> freed);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  // after all buffers

  SharedMemory shared() const { return {file_.get(), all_}; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const;  // by buffers and scratch
  // Whether such a task could be accepted if it were alone.
  bool could_hold(std::uint64_t bytes, std::uint64_t scratch) const;
  // A buffer of so many bytes (at least one), and scratch of so many for when it is computed. Empty: not now.
  Buffer reserve(std::uint64_t bytes, std::uint64_t scratch);
  // The scratch, for the one thread that computes a task whose buffer was reserved with as much.
  std::byte* scratch(std::uint64_t bytes) const { return all_.data() + all_.size() - rounded(bytes); }
  void ask_for_call() { wanted_ = true; }

  static std::uint64_t rounded(std::uint64_t bytes);  // as reserve() counts them

 private:
  void give_back(std::span<std::byte> bytes);

  const std::uint64_t limit_;
  const std::function<void()> freed_;
  std::atomic<bool> wanted_ = false;
  process::Descriptor file_;
  std::span<std::byte> all_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // buffers: where each begins, its size
  std::uint64_t used_ = 0;                        // by them
  std::uint64_t scratch_ = 0;                     // reserved
};

}  // namespace rota::accel
