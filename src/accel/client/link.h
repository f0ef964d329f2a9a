// One connection of a client to a container: frames out and in, none of which waits. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accel/channel.h"
#include "accel/client/task_book.h"
#include "accel/frame_reader.h"
#include "accel/shared_rings.h"
#include "accel/wire.h"
#include "process/descriptor.h"

namespace rota::accel {

class Link {
 public:
  // `key`: null for a connection in clear.
  Link(process::Descriptor socket, TlsKeyPtr key) : channel_(std::move(socket), std::move(key)), reader_(channel_) {
    channel_.accept_files();
  }

  const Channel& channel() const { return channel_; }
  void add(const std::vector<std::byte>& frame);
  void add(Piece piece);  // room_for_piece() must hold
  bool room_for_piece() const { return rings_ ? rings_->has_slot() : !piece_ && waiting_.size() < kMostWaiting; }
  std::size_t most_of_piece() const { return rings_ ? kSlotBytes : kMostChunk; }
  // So many bytes come or go, which on the node is worth memory that both sides share: asks for it, once.
  void expect(std::size_t bytes);
  bool shared();                                                // SHARE has come; false: it is not due
  bool given_back() { return rings_ && rings_->given_back(); }  // TAKEN has come; the same
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
  std::unique_ptr<SharedRings> rings_;
  enum class Sharing : std::uint8_t { no, asked, answered } sharing_ = Sharing::no;
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
