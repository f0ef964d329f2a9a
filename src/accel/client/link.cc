#include "accel/client/link.h"

namespace rota::accel {
namespace {

constexpr std::size_t kSmallPiece = 2048;  // below this a copy costs less than a call of the system
constexpr std::size_t kWorthSharing = std::size_t{64} << 10U;

}  // namespace

void Link::add(const std::vector<std::byte>& frame) {
  std::vector<std::byte>& line = piece_ ? behind_ : waiting_;
  line.insert(line.end(), frame.begin(), frame.end());
}

void Link::add(Piece piece) {
  expect(piece.payload.size());
  if (rings_) {
    rings_->put(piece.payload);
    piece.header.flags |= kShared;
    const HeaderBytes header = encoded(piece.header);
    return add({header.begin(), header.end()});
  }
  if (piece.payload.size() <= kSmallPiece) return add(framed(piece.header, piece.payload));
  piece.header.payload_crc = crc32c(piece.payload);
  const HeaderBytes header = encoded(piece.header);
  piece_ = piece;
  piece_header_ = header;
  piece_at_ = 0;
}

void Link::expect(std::size_t bytes) {
  if (sharing_ != Sharing::no || bytes < kWorthSharing || !channel_.is_on_node()) return;
  sharing_ = Sharing::asked;
  add(framed({.type = FrameType::share}));
}

// A container that has no such memory left sends no file.
bool Link::shared() {
  if (sharing_ != Sharing::asked) return false;
  sharing_ = Sharing::answered;
  rings_ = SharedRings::open(channel_.take_file());
  if (!rings_) return true;
  reader_.share(rings_.get());
  add(framed({.type = FrameType::share}));
  return true;
}

bool Link::write() {
  while (has_to_write()) {
    std::size_t sent = 0;
    if (at_ < waiting_.size()) {
      if (!send(std::span(waiting_).subspan(at_), {}, sent)) return false;
      at_ += sent;
      if (at_ == waiting_.size()) {
        waiting_.clear();
        at_ = 0;
      }
    } else {
      const bool in_header = piece_at_ < kHeaderBytes;
      const auto first =
          in_header ? std::span<const std::byte>(piece_header_).subspan(piece_at_) : std::span<const std::byte>();
      if (!send(first, piece_->payload.subspan(in_header ? 0 : piece_at_ - kHeaderBytes), sent)) return false;
      piece_at_ += sent;
      if (piece_at_ == kHeaderBytes + piece_->payload.size()) {
        piece_.reset();
        waiting_.swap(behind_);
      }
    }
    if (sent == 0) return true;
  }
  return true;
}

bool Link::read(FrameReader::Receiver& receiver) {
  const FrameReader::Outcome outcome = reader_.read(receiver, kMostFrames);
  has_more_ = outcome == FrameReader::Outcome::more;
  return has_more_ || outcome == FrameReader::Outcome::open;
}

bool Link::send(std::span<const std::byte> first, std::span<const std::byte> second, std::size_t& sent) {
  return channel_.send(first, second, sent) != Channel::Flow::ended;
}

}  // namespace rota::accel
