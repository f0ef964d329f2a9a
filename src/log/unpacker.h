// Packed files as text, piece by piece, so that neither the packed file nor its text need be held: gzip by libdeflate
// where that is small enough to be held after all, which is faster, else by zlib; Zstandard by libzstd, xz by liblzma.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "log/packing.h"

namespace rota::log {

// Packed bytes: what is held of them, and the file that the others come from.
class PackedInput {
 public:
  PackedInput(std::string begin, std::optional<InputFile> rest, std::string name)
      : buffer_(std::move(begin)), rest_(std::move(rest)), name_(std::move(name)) {}

  std::string_view held() const { return std::string_view(buffer_).substr(used_); }
  bool ended() const { return !rest_; }  // there is no more than what is held
  void consume(std::size_t bytes) { used_ += bytes; }
  Result<void> refill();  // adds to what is held
  const std::string& name() const { return name_; }
  std::int64_t consumed() const { return before_ + static_cast<std::int64_t>(used_); }

 private:
  std::string buffer_;
  std::size_t used_ = 0;
  std::int64_t before_ = 0;  // consumed bytes that are no longer in the buffer
  std::optional<InputFile> rest_;
  std::string name_;
};

// Not thread-safe.
class Unpacker {
 public:
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;

  // Appends more of the text, if only a little or, at an empty member, nothing; false: there is no more. Damaged data
  // and what is cut off fail with a sentence.
  virtual Result<bool> append_to(std::string& out) = 0;
  virtual std::int64_t consumed() const = 0;            // packed bytes, so far
  virtual std::int64_t expected() const { return -1; }  // size of the text, a guess before it is read; -1: unknown
};

// `packing` is not none.
std::unique_ptr<Unpacker> unpacker(Packing packing, PackedInput input);

}  // namespace rota::log
