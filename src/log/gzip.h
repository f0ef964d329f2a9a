// Gzip (RFC 1952), by libdeflate. Whole members at a time: fast, and the output of one member is held in memory. Files
// come through log/unpacker.h, which streams what is too large for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::log {

// Whether bytes begin as every gzip file does.
bool is_gzip(std::string_view bytes);

// Unpacks a gzip file that is held in memory, one member after the other. Not thread-safe.
class GzipReader {
 public:
  // `packed` must outlive the reader; `name` is for messages. More than `most` bytes of output in all fail.
  GzipReader(std::string_view packed, std::string name, std::size_t most = std::size_t{8} << 30U);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  bool done() const { return rest_.empty(); }
  // Appends the next member's text to out. Truncated or damaged data fail.
  Result<void> append_to(std::string& out);
  bool too_large() const { return too_large_; }      // it failed for that reason, and out is as it was
  std::size_t left() const { return rest_.size(); }  // packed bytes not yet read
  std::size_t expected() const;                      // size of the text if the rest is one honest member; a guess

 private:
  struct Free {
    void operator()(void* decompressor) const;
  };
  std::string_view rest_;
  std::string name_;
  std::size_t room_;  // bytes of output still allowed
  bool too_large_ = false;
  std::unique_ptr<void, Free> decompressor_;
};

// Packs text as one gzip member.
std::string gzip(std::string_view text, int level = 6);

}  // namespace rota::log
