// One connection of a client to a container: frames out and in, none of which waits. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "accel/client/task_book.h"
#include "accel/wire.h"
#include "process/descriptor.h"

namespace rota::accel {

class Link {
 public:
  // What the frames that come are for. False: the connection is of no use.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual bool place_for(const FrameHeader& header, std::span<std::byte>& place) = 0;  // of RESULT
    virtual bool receive(const FrameHeader& header, std::span<const std::byte> payload) = 0;
  };

  explicit Link(process::Descriptor socket) : socket_(std::move(socket)) {}

  int socket() const { return socket_.get(); }
  void add(const std::vector<std::byte>& frame);
  void add(const Piece& piece);  // room_for_piece() must hold
  bool room_for_piece() const { return !piece_ && waiting_.size() < kMostWaiting; }
  bool wants_to_write() const { return piece_ || at_ < waiting_.size(); }
  bool write();                   // as much as goes; false: the connection is lost
  bool read(Receiver& receiver);  // as much as is there, but not for ever; the same

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{64} << 10U;
  enum class Got : std::uint8_t { all, some, end };
  Got fill(std::span<std::byte> into, std::size_t& at) const;
  bool send(std::span<const std::byte> first, std::span<const std::byte> second, std::size_t& sent) const;

  const process::Descriptor socket_;
  // In the order in which they go out: a request to cancel a task comes behind each piece of it.
  std::vector<std::byte> waiting_;
  std::size_t at_ = 0;
  std::optional<Piece> piece_;
  HeaderBytes piece_header_{};
  std::size_t piece_at_ = 0;
  std::vector<std::byte> behind_;

  HeaderBytes header_bytes_{};
  std::size_t header_at_ = 0;
  FrameHeader header_;
  std::vector<std::byte> message_;
  std::span<std::byte> payload_;
  std::size_t payload_at_ = 0;
};

}  // namespace rota::accel
