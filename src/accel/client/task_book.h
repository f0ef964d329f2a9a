// The tasks of a client from submission to their end, and what is to be sent of them. A task ends once: its result
// counts only if it is of the current attempt, and when the connection is lost, what was under way begins a new one.
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accel/wire.h"

namespace rota::accel {

struct Order {
  Submit submit;
  std::span<const std::byte> payload;
  std::span<std::byte> result;  // empty: memory is allocated
  void* tag = nullptr;
};

struct FreeBytes {
  void operator()(std::byte* bytes) const;
};

struct End {
  std::uint64_t task = 0;
  void* tag = nullptr;
  Refusal outcome;
  std::uint32_t runs = 0;
  std::span<std::byte> result;
  std::unique_ptr<std::byte, FreeBytes> own;  // where the result was allocated
};

// A piece of a payload, as a frame.
struct Piece {
  FrameHeader header;
  std::span<const std::byte> payload;
};

class TaskBook {
 public:
  void add(std::uint64_t number, const Order& order);
  bool empty() const { return tasks_.empty(); }
  bool under_way() const { return under_way_ > 0; }
  std::vector<End> ends();  // those that have come to be since the last call

  // -- what goes out
  // The next task as a frame, where fewer than `most` are under way.
  std::optional<std::vector<std::byte>> next_submit(std::uint32_t most);
  bool has_piece() const { return !to_send_.empty(); }
  Piece next_piece(std::size_t most);  // the next chunk to send, after a grant; its checksum is yet to be made
  // Whether the container is to be asked to cancel it; otherwise it has ended here, or is not known.
  bool cancel(std::uint64_t number, FrameHeader& header);

  // -- what comes in; false: the container breaks the rules
  // `unwanted`: there is no room for the result, and the task is to be cancelled.
  bool granted(const FrameHeader& header, std::uint64_t result_bytes, bool& unwanted);
  // Where the payload of such a RESULT goes.
  bool place_for(const FrameHeader& header, std::span<std::byte>& place);
  bool received(const FrameHeader& header);  // its payload is there; `ended` with the last one
  bool refused(const FrameHeader& header, const Refusal& refusal);

  void connection_lost();
  void end_all(const Refusal& why);

 private:
  enum class State : std::uint8_t { queued, submitted, sending, sent };
  struct Task {
    Order order;
    State state = State::queued;
    std::uint32_t attempt = 0;
    std::uint64_t moved = 0;  // bytes sent, then bytes received
    std::uint64_t result_bytes = 0;
    std::span<std::byte> result;
    std::unique_ptr<std::byte, FreeBytes> own;
    std::optional<Refusal> unwanted;  // the caller does not want it any more: how it is to end
  };
  using Tasks = std::map<std::uint64_t, Task>;

  Tasks::iterator current(const FrameHeader& header);
  void end(Tasks::iterator at, Refusal outcome);
  std::optional<Refusal> make_room(Task& task);

  Tasks tasks_;
  std::deque<std::uint64_t> to_submit_;
  std::deque<std::uint64_t> to_send_;
  std::size_t under_way_ = 0;
  std::vector<std::byte> scrap_;  // for results that are not wanted
  std::vector<End> ends_;
};

}  // namespace rota::accel
