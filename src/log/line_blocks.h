// Text files in blocks of whole lines, so that a log of any length is read with little memory. What is packed (gzip,
// Zstandard, xz) is recognised by its first bytes, whatever the file is called; a byte-order mark is dropped, and text
// in UTF-16 refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace rota::log {

class LineBlocks {
 public:
  static constexpr std::size_t kPadding = 8;  // bytes behind a block that may be read, so that parsers can take words

  static Result<LineBlocks> open(const std::string& path);          // "-" is standard input
  static LineBlocks over(std::string_view text, std::string name);  // text must outlive it
  LineBlocks(LineBlocks&&) noexcept;
  LineBlocks& operator=(LineBlocks&&) noexcept;
  ~LineBlocks();

  // The next whole lines; the last byte is a newline, added where the text does not end with one. Empty at the end.
  // Valid until the next call. A line of more than 64 MiB fails, as do read errors and damaged packed data.
  Result<std::string_view> next();

  // The next whole lines where lines may be of any length: one that is longer than 1 MiB comes in pieces, which end
  // with a whole character where the text is UTF-8.
  Result<std::string_view> next_piece();

  Result<std::string_view> peek();        // what next() will give,
  Result<std::string_view> peek_piece();  // and what next_piece() will

  // visit(line) for each line that is left, without its newline, until one fails. `progress` hears of each block.
  template <class Visit>
  Result<void> each_line(const Visit& visit, const std::function<void(double)>& progress = {}) {
    for (;;) {
      const auto block = TRY(next());
      if (progress) progress(share());
      if (block.empty()) return {};
      for (std::string_view rest = block; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(line.size() + 1);
        if (auto visited = visit(line); !visited) return visited;
      }
    }
  }

  bool cut() const;                  // the text did not end with a newline; known at its end
  double share() const;              // of the input that has been read, 0..1; 0 where its size is unknown
  std::int64_t size() const;         // bytes of text in all, as far as known; -1: unknown. A guess for packed text
  const std::string& shown() const;  // what to call it in messages

 private:
  struct State;
  explicit LineBlocks(std::unique_ptr<State> state);
  Result<std::string_view> last_line();
  std::unique_ptr<State> state_;
};

// A name for titles: without folders, and without endings such as ".gz", ".swf" and ".jsonl".
std::string workload_name(const std::string& path);

}  // namespace rota::log
