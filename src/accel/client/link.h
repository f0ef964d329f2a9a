// One connection of a client to a container: frames out and in, none of which waits. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "accel/channel.h"
#include "accel/client/task_book.h"
#include "accel/frame_reader.h"
#include "accel/wire.h"
#include "process/descriptor.h"

namespace rota::accel {

class Link {
 public:
  // `key`: null for a connection in clear.
  Link(process::Descriptor socket, TlsKeyPtr key) : channel_(std::move(socket), std::move(key)), reader_(channel_) {}

  const Channel& channel() const { return channel_; }
  void add(const std::vector<std::byte>& frame);
  void add(const Piece& piece);  // room_for_piece() must hold
  bool room_for_piece() const { return !piece_ && waiting_.size() < kMostWaiting; }
  bool wants_to_write() const { return has_to_write() && !channel_.must_receive_first(); }
  bool write();                                // as much as goes; false: the connection is lost
  bool read(FrameReader::Receiver& receiver);  // as much as is there, but not for ever; the same
  bool has_more() const { return has_more_; }  // to be read, whatever the socket says

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{64} << 10U;
  static constexpr int kMostFrames = 64;  // at a time
  bool has_to_write() const { return piece_ || at_ < waiting_.size(); }
  bool send(std::span<const std::byte> first, std::span<const std::byte> second, std::size_t& sent);

  Channel channel_;
  FrameReader reader_;
  bool has_more_ = false;
  // In the order in which they go out: a request to cancel a task comes behind each piece of it.
  std::vector<std::byte> waiting_;
  std::size_t at_ = 0;
  std::optional<Piece> piece_;
  HeaderBytes piece_header_{};
  std::size_t piece_at_ = 0;
  std::vector<std::byte> behind_;
};

}  // namespace rota::accel
