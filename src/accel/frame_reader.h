// Frames from a channel, at the container and at its clients alike: each header is checked before a length in it is
// believed, and each payload goes straight to where its receiver wants it. Never waits. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "accel/channel.h"
#include "accel/shared_rings.h"
#include "accel/wire.h"

namespace rota::accel {

class FrameReader {
 public:
  // Gets what comes. False: no such frame is due, and the connection is of no use.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // A header has come. `place`: where its payload of header.length bytes goes; left empty, the reader has a place.
    virtual bool begin(const FrameHeader& header, std::span<std::byte>& place) = 0;
    // The payload is whole, and its checksum is right.
    virtual bool receive(const FrameHeader& header, std::span<const std::byte> payload) = 0;
  };
  enum class Outcome : std::uint8_t {
    open,   // all that is there was read
    more,   // so many frames were read, and there may be more, also where the socket has none
    ended,  // the other side has hung up, or cannot be reached any more
    wrong,  // bytes that are no frame, or one that is not due
  };

  explicit FrameReader(Channel& channel) : channel_(channel) {}

  Outcome read(Receiver& receiver, int most_frames);
  void share(SharedRings* rings) { rings_ = rings; }  // payloads may come through these
  bool within_frame() const { return header_at_ > 0; }
  std::chrono::steady_clock::time_point last() const { return last_; }  // when bytes came, or it was made

 private:
  enum class Got : std::uint8_t { all, some, end };
  Got fill(std::span<std::byte> into, std::size_t& at);

  bool take_shared();

  Channel& channel_;
  SharedRings* rings_ = nullptr;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  HeaderBytes header_bytes_{};
  std::size_t header_at_ = 0;
  FrameHeader header_;
  std::vector<std::byte> message_;  // a payload that has no other place
  std::span<std::byte> payload_;    // where that of this frame goes
  std::size_t payload_at_ = 0;
};

}  // namespace rota::accel
