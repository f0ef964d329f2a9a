#include "accel/frame_reader.h"

namespace rota::accel {

FrameReader::Outcome FrameReader::read(Receiver& receiver, int most_frames) {
  for (int frames = 0; frames < most_frames; ++frames) {
    if (header_at_ < kHeaderBytes) {
      const Got got = fill(header_bytes_, header_at_);
      if (got != Got::all) return got == Got::some ? Outcome::open : Outcome::ended;
      payload_ = {};
      payload_at_ = 0;
      if (!decode(header_bytes_, header_) || !receiver.begin(header_, payload_)) return Outcome::wrong;
      if ((header_.flags & kShared) != 0) {
        header_at_ = 0;
        if (!take_shared() || !receiver.receive(header_, payload_)) return Outcome::wrong;
        continue;
      }
      if (payload_.empty()) {
        message_.resize(header_.length);
        payload_ = message_;
      }
    }
    const Got got = fill(payload_, payload_at_);
    if (got != Got::all) return got == Got::some ? Outcome::open : Outcome::ended;
    header_at_ = 0;
    if (crc32c(payload_) != header_.payload_crc || !receiver.receive(header_, payload_)) return Outcome::wrong;
  }
  return Outcome::more;
}

// Only what has a place of its own comes so: a chunk.
bool FrameReader::take_shared() {
  if (rings_ == nullptr || payload_.empty() || payload_.size() > kSlotBytes) return false;
  rings_->take(payload_);
  return true;
}

FrameReader::Got FrameReader::fill(std::span<std::byte> into, std::size_t& at) {
  while (at < into.size()) {
    std::size_t got = 0;
    const Channel::Flow flow = channel_.receive(into.subspan(at), got);
    if (flow != Channel::Flow::moved) return flow == Channel::Flow::waits ? Got::some : Got::end;
    at += got;
    last_ = std::chrono::steady_clock::now();
  }
  return Got::all;
}

}  // namespace rota::accel
