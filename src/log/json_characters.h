// The text of a file, character by character, as nlohmann-json's parser takes it, so that no file need be held: nor a
// line of it, for what a program writes as JSON often has no line ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "log/line_blocks.h"
#include "log/swf.h"

namespace rota::log {

class JsonCharacters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  // Must outlive the iterators.
  struct Source {
    LineBlocks& blocks;
    const SwfOptions& options;
    std::string_view block = {};
    std::size_t before = 0;   // of the text, so many characters,
    std::size_t at = 0;       // and of the block
    std::int64_t line = 1;    // of what comes next,
    std::int64_t filled = 1;  // and of the last that was no blank
    std::optional<Error> error = {};

    bool more() {
      if (at < block.size() || error) return !error;
      const auto next = blocks.next_piece();
      if (!next) {
        error = next.error();
        return false;
      }
      if (options.progress) options.progress(blocks.share());
      before += block.size();
      block = *next;
      at = 0;
      return !block.empty();
    }
    void advance() {
      const char c = block[at++];
      if (!is_blank(c)) filled = line;
      if (c == '\n') ++line;
    }
    // What the parser stumbled over, after so many characters that it took, and the rest of the line.
    std::string_view stumbled_over(std::size_t taken) const {
      const std::size_t last = taken > before ? taken - before - 1 : 0;
      const std::string_view rest = block.substr(std::min(last, block.size()));
      return rest.substr(0, rest.find('\n'));
    }
    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  };

  JsonCharacters() = default;  // the end
  explicit JsonCharacters(Source& source) : source_(&source) {}
  const char& operator*() const { return source_->block[source_->at]; }
  JsonCharacters& operator++() {
    source_->advance();
    return *this;
  }
  JsonCharacters operator++(int) { return ++*this; }
  bool operator==(const JsonCharacters& other) const { return ended() == other.ended(); }
  bool operator!=(const JsonCharacters& other) const { return !(*this == other); }

 private:
  bool ended() const { return source_ == nullptr || !source_->more(); }
  Source* source_ = nullptr;
};

}  // namespace rota::log
