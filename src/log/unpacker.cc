#include "log/unpacker.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "log/gzip.h"

namespace rota::log {
namespace {

constexpr std::size_t kRead = std::size_t{256} << 10U;          // packed bytes read at a time
constexpr std::size_t kPiece = std::size_t{1} << 20U;           // of text at a time
constexpr std::size_t kMostHeld = std::size_t{64} << 20U;       // of a packed file that is held whole
constexpr std::size_t kMostAtOnce = std::size_t{256} << 20U;    // text of one member of such a file
constexpr std::uint64_t kXzMemory = std::uint64_t{256} << 20U;  // more than any preset of xz asks for

// What one call of a library did.
struct Step {
  enum class State : std::uint8_t { inside, whole, damaged, too_much };  // whole: a member has ended here
  std::size_t used = 0;
  std::size_t made = 0;
  State state = State::inside;
};

// What the libraries have in common: bytes in, text out.
class Stream : public Unpacker {
 public:
  Stream(PackedInput input, const char* kind) : input_(std::move(input)), kind_(kind) {}

  Result<bool> append_to(std::string& out) final {
    const std::size_t before = out.size();
    for (;;) {
      if (input_.held().empty() && !input_.ended()) {
        TRY(input_.refill());
      }
      if (input_.held().empty() && input_.ended() && whole_) return false;
      Step step;
      out.resize_and_overwrite(before + kPiece, [&](char* text, std::size_t) {
        step = unpack(input_.held(), text + before, whole_);
        return before + step.made;
      });
      const bool stuck = step.used == 0 && step.made == 0 && input_.ended() && step.state != Step::State::whole;
      if (step.state == Step::State::too_much)
        return fail("{}: the {} data asks for too much memory to unpack; pack it again.", input_.name(), kind_);
      if (stuck || step.state == Step::State::damaged)
        return fail("{}: the {} data is cut off or damaged. Fetch the file again, and test it with {} -t.",
                    input_.name(), kind_, kind_);
      input_.consume(step.used);
      whole_ = step.state == Step::State::whole;
      if (step.made > 0) return true;
    }
  }
  std::int64_t consumed() const final { return input_.consumed(); }

 private:
  // `fresh`: a member ended before these bytes.
  virtual Step unpack(std::string_view packed, char* text, bool fresh) = 0;

 protected:
  PackedInput input_;

 private:
  const char* kind_;
  bool whole_ = false;
};

class ZlibStream final : public Stream {
 public:
  explicit ZlibStream(PackedInput input) : Stream(std::move(input), "gzip") {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&state_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibStream() override { ::inflateEnd(&state_); }

 private:
  Step unpack(std::string_view packed, char* text, bool fresh) override {
    if (fresh) {  // tapes pad the end with zeros
      const std::size_t zeros = std::min(packed.find_first_not_of('\0'), packed.size());
      if (zeros > 0 || packed.empty()) return {zeros, 0, Step::State::whole};
      ::inflateReset(&state_);
    }
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    state_.avail_in = static_cast<uInt>(std::min(packed.size(), kPiece));
    state_.next_out = reinterpret_cast<Bytef*>(text);
    state_.avail_out = static_cast<uInt>(kPiece);
    const uInt offered = state_.avail_in;
    const int result = ::inflate(&state_, Z_NO_FLUSH);
    const Step::State state = result == Z_STREAM_END                    ? Step::State::whole
                              : result == Z_OK || result == Z_BUF_ERROR ? Step::State::inside
                                                                        : Step::State::damaged;
    return {offered - state_.avail_in, kPiece - state_.avail_out, state};
  }

  z_stream state_{};
};

class ZstdStream final : public Stream {
 public:
  explicit ZstdStream(PackedInput input) : Stream(std::move(input), "zstd"), state_(::ZSTD_createDStream()) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdStream() override { ::ZSTD_freeDStream(state_); }

 private:
  Step unpack(std::string_view packed, char* text, bool fresh) override {
    if (fresh && packed.empty()) return {0, 0, Step::State::whole};
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{text, kPiece, 0};
    const std::size_t left = ::ZSTD_decompressStream(state_, &out, &in);
    if (::ZSTD_isError(left) != 0) return {0, 0, Step::State::damaged};
    return {in.pos, out.pos, left == 0 ? Step::State::whole : Step::State::inside};
  }

  ZSTD_DStream* state_;
};

class XzStream final : public Stream {
 public:
  explicit XzStream(PackedInput input) : Stream(std::move(input), "xz") {
    if (::lzma_stream_decoder(&state_, kXzMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzStream() override { ::lzma_end(&state_); }

 private:
  Step unpack(std::string_view packed, char* text, bool fresh) override {
    if (fresh && packed.empty()) return {0, 0, Step::State::whole};
    state_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    state_.avail_in = packed.size();
    state_.next_out = reinterpret_cast<std::uint8_t*>(text);
    state_.avail_out = kPiece;
    const lzma_ret result = ::lzma_code(&state_, input_.ended() ? LZMA_FINISH : LZMA_RUN);
    const Step::State state = result == LZMA_STREAM_END                                   ? Step::State::whole
                              : result == LZMA_OK || result == LZMA_BUF_ERROR             ? Step::State::inside
                              : result == LZMA_MEMLIMIT_ERROR || result == LZMA_MEM_ERROR ? Step::State::too_much
                                                                                          : Step::State::damaged;
    return {packed.size() - state_.avail_in, kPiece - state_.avail_out, state};
  }

  lzma_stream state_ = LZMA_STREAM_INIT;
};

// Whole members at a time, as long as both they and the file are small; the rest is streamed.
class Gzip final : public Unpacker {
 public:
  explicit Gzip(PackedInput input) : input_(std::move(input)) {}

  Result<bool> append_to(std::string& out) override {
    TRY(hold());
    if (stream_) return stream_->append_to(out);
    if (input_.held().empty()) return false;
    GzipReader reader(input_.held(), input_.name(), kMostAtOnce);
    if (input_.ended() && reader.expected() <= kMostAtOnce) {
      auto done = reader.append_to(out);
      if (!done && !reader.too_large()) return std::unexpected(done.error());
      if (done) {
        input_.consume(input_.held().size() - reader.left());
        return true;
      }
    }
    stream_.emplace(std::move(input_));
    return stream_->append_to(out);
  }
  std::int64_t consumed() const override { return stream_ ? stream_->consumed() : input_.consumed(); }
  std::int64_t expected() const override {
    return input_.ended() ? static_cast<std::int64_t>(GzipReader(input_.held(), input_.name()).expected()) : -1;
  }

  Result<void> hold() {
    while (!stream_ && !input_.ended() && input_.held().size() <= kMostHeld) {
      if (auto more = input_.refill(); !more) return more;
    }
    return {};
  }

 private:
  PackedInput input_;
  std::optional<ZlibStream> stream_;
};

}  // namespace

Result<void> PackedInput::refill() {
  buffer_.erase(0, used_);
  before_ += static_cast<std::int64_t>(std::exchange(used_, 0));
  const std::size_t before = buffer_.size();
  const std::size_t most = std::max(kRead, before / 2);
  Result<std::size_t> got = 0;
  buffer_.resize_and_overwrite(before + most, [&](char* bytes, std::size_t) {
    got = rest_->read(bytes + before, most);
    return before + (got ? *got : 0);
  });
  if (!got) return std::unexpected(got.error());
  if (*got == 0) rest_.reset();
  return {};
}

std::unique_ptr<Unpacker> unpacker(Packing packing, PackedInput input) {
  if (packing == Packing::gzip) {
    auto gzip = std::make_unique<Gzip>(std::move(input));
    static_cast<void>(gzip->hold());  // what fails is told when the text is asked for
    return gzip;
  }
  if (packing == Packing::zstd) return std::make_unique<ZstdStream>(std::move(input));
  CHECK(packing == Packing::xz, "plain text needs no unpacker");
  return std::make_unique<XzStream>(std::move(input));
}

}  // namespace rota::log
