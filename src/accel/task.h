// A client's connection and its tasks, as the three threads of a container hand them on.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "accel/backend.h"
#include "accel/channel.h"
#include "accel/memory.h"
#include "accel/shared_rings.h"
#include "accel/wire.h"
#include "process/descriptor.h"

namespace rota::accel {

// The reader thread reads from its socket, the writer thread alone writes to it: a frame of another thread would land
// inside a result. The socket closes when no task and no thread has the session any more.
class Session {
 public:
  Session(std::uint64_t number, process::Descriptor socket, TlsKeyPtr key)
      : number_(number), channel_(std::move(socket), std::move(key)) {}

  std::uint64_t number() const { return number_; }
  Channel& channel() { return channel_; }
  // The connection is of no use any more: what is under way for it is dropped. Any thread.
  void break_off();
  bool broken() const { return broken_; }

  // Bytes of memory that its tasks hold.
  std::atomic<std::uint64_t> held = 0;

  // The memory that it shares with its client; null: none. Results go through it once the client has it, too.
  SharedRings* rings() const { return rings_.get(); }
  SharedRings* rings_for_results() const { return client_shares_ ? rings_.get() : nullptr; }
  void offer(std::unique_ptr<SharedRings> rings);  // by the reader thread, which then sends SHARE; null: there are none
  bool accepted();                                 // by the client; false: nothing was offered
  std::atomic<bool> wants_slot = false;            // the writer thread waits for one

  // A frame that is no result, for the writer thread. True: the writer does not know yet that there is one.
  bool add_message(std::vector<std::byte> frame);
  // All of them, by the writer thread.
  std::deque<std::vector<std::byte>> messages();

 private:
  const std::uint64_t number_;
  Channel channel_;
  std::atomic<bool> broken_ = false;
  std::unique_ptr<SharedRings> rings_;
  std::atomic<bool> client_shares_ = false;
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> messages_;
};

enum class TaskState : std::uint8_t {
  waiting,    // for its plan, then for memory: the reader thread has it,
  receiving,  // its payload: the same
  complete,   // waits for a place in the queue: the same
  queued,     // for computing, or computes
  answering,  // its result or error goes out: the writer thread has it
  answered    // until the client's ACK: the reader thread
};

class Planner;

struct Task {
  Task(std::shared_ptr<Session> from, std::uint64_t number_there, std::uint32_t attempt_there)
      : session(std::move(from)), number(number_there), attempt(attempt_there) {}
  ~Task() { release(); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Memory goes back as soon as it is not needed, not only when the client has acknowledged.
  void release() {
    session->held -= buffer.bytes().size();
    buffer.reset();
  }

  const std::shared_ptr<Session> session;
  const std::uint64_t number;
  const std::uint32_t attempt;
  Submit submit;
  Planner* planner = nullptr;  // of its device
  rota_accel_plan plan{};
  Refusal planned;             // or why it has no plan
  Memory::Buffer buffer;       // by the thread that has the task
  std::uint64_t received = 0;  // bytes of the payload
  Refusal outcome;             // once it has been computed
  std::atomic<TaskState> state = TaskState::waiting;
  std::atomic<bool> cancelled = false;
};

using SessionPtr = std::shared_ptr<Session>;
using TaskPtr = std::shared_ptr<Task>;

}  // namespace rota::accel
