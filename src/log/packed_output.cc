#include "log/packed_output.h"

#include <lzma.h>
#include <zstd.h>

#include <new>
#include <streambuf>
#include <utility>

#include "base/check.h"
#include "log/gzip.h"

namespace rota::log {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;  // of text; of gzip a member each
constexpr std::size_t kPacked = std::size_t{128} << 10U;
constexpr int kZstdLevel = 9;
constexpr std::uint32_t kXzPreset = 6;

class Packer {
 public:
  Packer() = default;
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  virtual ~Packer() = default;
  virtual void pack(std::string_view text, bool last, std::ostream& to) = 0;
};

void put(std::ostream& to, const std::string& bytes, std::size_t size) {
  to.write(bytes.data(), static_cast<std::streamsize>(size));
}

class GzipPacker final : public Packer {
 public:
  void pack(std::string_view text, bool last, std::ostream& to) override {
    if (text.empty() && (!last || any_)) return;  // a gzip file has at least one member
    const std::string packed = gzip(text);
    put(to, packed, packed.size());
    any_ = true;
  }

 private:
  bool any_ = false;
};

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : state_(::ZSTD_createCCtx()), packed_(kPacked, '\0') {
    if (state_ == nullptr) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(state_, ZSTD_c_compressionLevel, kZstdLevel);
    ::ZSTD_CCtx_setParameter(state_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdPacker() override { ::ZSTD_freeCCtx(state_); }

  void pack(std::string_view text, bool last, std::ostream& to) override {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
      const std::size_t left = ::ZSTD_compressStream2(state_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      CHECK(::ZSTD_isError(left) == 0, "packing fails only for want of memory");
      put(to, packed_, out.pos);
      done = last ? left == 0 : in.pos == in.size;
    }
  }

 private:
  ZSTD_CCtx* state_;
  std::string packed_;
};

class XzPacker final : public Packer {
 public:
  XzPacker() : packed_(kPacked, '\0') {
    if (::lzma_easy_encoder(&state_, kXzPreset, LZMA_CHECK_CRC64) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzPacker() override { ::lzma_end(&state_); }

  void pack(std::string_view text, bool last, std::ostream& to) override {
    state_.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
    state_.avail_in = text.size();
    for (bool done = false; !done;) {
      state_.next_out = reinterpret_cast<std::uint8_t*>(packed_.data());
      state_.avail_out = packed_.size();
      const lzma_ret result = ::lzma_code(&state_, last ? LZMA_FINISH : LZMA_RUN);
      CHECK(result == LZMA_OK || result == LZMA_STREAM_END, "packing fails only for want of memory");
      put(to, packed_, packed_.size() - state_.avail_out);
      done = last ? result == LZMA_STREAM_END : state_.avail_in == 0 && state_.avail_out > 0;
    }
  }

 private:
  lzma_stream state_ = LZMA_STREAM_INIT;
  std::string packed_;
};

std::unique_ptr<Packer> packer_of(Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<GzipPacker>();
  if (packing == Packing::zstd) return std::make_unique<ZstdPacker>();
  CHECK(packing == Packing::xz, "plain text is not packed");
  return std::make_unique<XzPacker>();
}

}  // namespace

class PackingStream::Buffer : public std::streambuf {
 public:
  Buffer(std::ostream& to, Packing packing) : to_(to), packer_(packer_of(packing)), text_(kPiece, '\0') { clear(); }

  void pack(bool last) {
    packer_->pack({pbase(), static_cast<std::size_t>(pptr() - pbase())}, last, to_);
    clear();
  }

 protected:
  int_type overflow(int_type c) override {
    pack(false);
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  void clear() { setp(text_.data(), text_.data() + text_.size()); }
  std::ostream& to_;
  std::unique_ptr<Packer> packer_;
  std::string text_;
};

PackingStream::PackingStream(std::ostream& to, Packing packing)
    : std::ostream(nullptr), buffer_(std::make_unique<Buffer>(to, packing)) {
  rdbuf(buffer_.get());
}

PackingStream::~PackingStream() = default;

void PackingStream::finish() { buffer_->pack(true); }

Result<PackedOutput> PackedOutput::create(const std::string& path) {
  auto file = TRY(OutputFile::create(path));
  PackedOutput out(std::move(file));
  const Packing packing = packing_named(path);
  if (packing != Packing::none) out.packing_ = std::make_unique<PackingStream>(out.file_->stream(), packing);
  return out;
}

Result<void> PackedOutput::commit() {
  if (packing_) packing_->finish();
  return file_->commit();
}

}  // namespace rota::log
