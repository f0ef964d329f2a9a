#include "log/gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::size_t kMostRatio = 1032;  // deflate cannot pack tighter (zlib's "technical details")
constexpr std::size_t kLeast = 65536;     // bytes of room to try first
constexpr std::size_t kMargin = 64;       // capacity left, so that callers can append a little without copying it all
constexpr std::size_t kTrailer = 8;       // CRC and size at the end of a member

libdeflate_decompressor* decompressor(void* pointer) { return static_cast<libdeflate_decompressor*>(pointer); }

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

void GzipReader::Free::operator()(void* pointer) const { libdeflate_free_decompressor(decompressor(pointer)); }

GzipReader::GzipReader(std::string_view packed, std::string name, std::size_t most)
    : rest_(packed), name_(std::move(name)), room_(most), decompressor_(libdeflate_alloc_decompressor()) {
  if (decompressor_ == nullptr) throw std::bad_alloc();
}

GzipReader::~GzipReader() = default;

std::size_t GzipReader::expected() const {
  if (rest_.size() < kTrailer) return 0;
  std::size_t size = 0;  // the last four bytes: size of the last member modulo 2^32, lowest byte first
  for (std::size_t i = 1; i <= 4; ++i) size = size << 8U | static_cast<std::uint8_t>(rest_[rest_.size() - i]);
  return std::min(size, rest_.size() * kMostRatio);
}

Result<void> GzipReader::append_to(std::string& out) {
  const std::size_t before = out.size();
  std::size_t room = std::max(kLeast, expected());
  for (;;) {
    room = std::min(room, room_);
    std::size_t used = 0, made = 0;
    libdeflate_result result = LIBDEFLATE_BAD_DATA;
    out.reserve(before + room + kMargin);
    out.resize_and_overwrite(before + room, [&](char* text, std::size_t) {
      result = libdeflate_gzip_decompress_ex(decompressor(decompressor_.get()), rest_.data(), rest_.size(),
                                             text + before, room, &used, &made);
      return before + (result == LIBDEFLATE_SUCCESS ? made : 0);
    });
    if (result == LIBDEFLATE_SUCCESS) {
      room_ -= made;
      rest_.remove_prefix(used);
      if (rest_.find_first_not_of('\0') == std::string_view::npos) rest_ = {};  // tapes pad the end with zeros
      return {};
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
      return fail(name_ + ": the gzip data is cut off or damaged. Fetch the file again, and test it with gzip -t.");
    if (room == room_) {
      too_large_ = true;
      return fail("{}: the gzip data unpacks to more than {}; split the log.", name_,
                  format_size(static_cast<std::int64_t>(before + room)));
    }
    room = room > room_ / 2 ? room_ : room * 2;
  }
}

std::string gzip(std::string_view text, int level) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(level);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  const std::size_t size = libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size());
  libdeflate_free_compressor(compressor);
  CHECK(size > 0, "the bound of the compressor is room enough");
  out.resize(size);
  return out;
}

}  // namespace rota::log
