// The writer thread: the only one that writes to sockets. Each client gets one chunk in its turn, and messages go
// between chunks; a client that does not read keeps its own results waiting and no others.
#pragma once

#include <deque>
#include <map>
#include <variant>
#include <vector>

#include "accel/pipeline.h"
#include "process/descriptor.h"

namespace rota::accel {

class Writer {
 public:
  explicit Writer(Pipeline& pipeline);
  void run();  // until the pipeline stops

 private:
  // Messages, and results so small that copying costs less than a call of the system.
  struct Messages {
    std::vector<std::byte> bytes;
    std::size_t at = 0;
  };
  // One frame of the result of the client's first task.
  struct Chunk {
    HeaderBytes header;
    std::span<const std::byte> payload;  // none: it lies in the shared memory
    std::size_t size;                    // bytes of the result
    std::size_t at = 0;                  // in header and payload together
  };
  struct Nothing {};
  enum class Sent : std::uint8_t { all, some, broken };

  struct Outgoing {
    SessionPtr session;
    std::deque<TaskPtr> results;
    std::uint64_t offset = 0;  // in the result of the first one
    std::variant<Nothing, Messages, Chunk> current;
    SteadyTime progress;
    bool blocked = false;  // its socket is full, and watched
    bool no_slot = false;  // its shared memory is full
    bool waits() const { return blocked || no_slot; }
  };

  void collect();
  void write_all();
  bool write_turn(Outgoing& out);
  void begin_frame(Outgoing& out);
  void gather(Outgoing& out, Messages& messages);
  void begin_chunk(Outgoing& out);
  static bool has_slot(Session& session);
  void finish_frame(Outgoing& out);
  void answered(Task& task);
  Sent send(Outgoing& out);
  void watch(Outgoing& out, bool blocked) const;
  void drop(Outgoing& out);
  Outgoing& outgoing(const SessionPtr& session);

  Pipeline& pipeline_;
  const process::Descriptor epoll_;
  std::map<std::uint64_t, Outgoing> clients_;  // by session; those with something to be sent
};

}  // namespace rota::accel
