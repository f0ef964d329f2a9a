#include "log/line_blocks.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/utf16.h"
#include "log/packing.h"
#include "log/unpacker.h"

namespace rota::log {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10U;
constexpr std::size_t kLongestPiece = std::size_t{1} << 20U;  // of a line; somewhat more
constexpr std::size_t kLongestLine = std::size_t{64} << 20U;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which some programs put before UTF-8

// Without the beginning of a character at the end, the rest of which is yet to come.
std::string_view whole_characters(std::string_view text) {
  constexpr std::size_t kMostBytes = 4;
  for (std::size_t back = 1; back < kMostBytes && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;  // not the first of its character
    const std::size_t bytes = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : byte >= 0xC0U ? 2 : 1;
    return bytes > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

// Appends up to `most` bytes; false at the end of the file.
Result<bool> append_from(InputFile& file, std::string& out, std::size_t most) {
  const std::size_t before = out.size();
  Result<std::size_t> got = 0;
  out.resize_and_overwrite(before + most, [&](char* text, std::size_t) {
    got = file.read(text + before, most);
    return before + (got ? *got : 0);
  });
  if (!got) return std::unexpected(got.error());
  return *got > 0;
}

}  // namespace

struct LineBlocks::State {
  std::string shown;
  std::optional<InputFile> file;     // plain text from here ...
  std::unique_ptr<Unpacker> packed;  // ... or packed text from here ...
  std::string_view text;             // ... or text in memory from here
  std::int64_t size = -1;            // of the text
  std::int64_t input = -1;           // of the file
  std::int64_t taken = 0;            // bytes of the input that have been read
  std::int64_t unpacked = 0;         // bytes of text that were unpacked
  std::string buffer;                // text that is held
  std::size_t used = 0;              // its beginning, already given out
  std::size_t searched = 0;          // no newline from `used` up to here
  bool padded = false;               // the buffer ends with kPadding bytes that are no text
  bool ended = false;                // the input has no more than what is held
  bool cut = false;

  // Drops what was given out and appends more of the input. Sets `ended` at its end.
  Result<void> fill() {
    if (padded) buffer.resize(buffer.size() - kPadding);
    padded = false;
    buffer.erase(0, used);
    used = 0;
    searched = buffer.size();
    const auto more = packed != nullptr ? fill_from_packed() : file ? fill_from_file() : fill_from_text();
    pad();
    return more;
  }

  // Appends until there are whole lines, or so much text without any, or the input ends. What there is then; empty:
  // none.
  Result<std::string_view> lines_within(std::size_t longest) {
    for (;;) {
      const std::string_view lines = held();
      const std::size_t known = searched > used ? searched - used : 0;
      const std::size_t end = lines.substr(known).rfind('\n');
      if (end != std::string_view::npos) return lines.substr(0, known + end + 1);
      if (ended || lines.size() > longest) return std::string_view{};
      TRY(fill());
    }
  }

  void pad() {
    buffer.append(kPadding, '\n');
    padded = true;
  }

  Result<void> fill_from_packed() {
    const auto more = TRY(packed->append_to(buffer));
    ended = !more;
    if (unpacked == 0 && searched == 0) {
      if (auto known = refuse_utf16(buffer, shown); !known) return known;
      drop_mark();
    }
    taken = packed->consumed();
    unpacked += static_cast<std::int64_t>(buffer.size() - searched);
    if (taken > 0) {  // what is to come packs as what has come
      const double ratio = static_cast<double>(unpacked) / static_cast<double>(taken);
      size = input > 0 ? static_cast<std::int64_t>(ratio * static_cast<double>(input)) : -1;
    }
    return {};
  }

  void drop_mark() {
    if (buffer.starts_with(kByteOrderMark)) buffer.erase(0, kByteOrderMark.size());
  }

  Result<void> fill_from_file() {
    const auto more = TRY(append_from(*file, buffer, std::max(kBlock, buffer.size())));
    ended = !more;
    taken += static_cast<std::int64_t>(buffer.size() - searched);
    return {};
  }

  Result<void> fill_from_text() {
    if (taken == 0)
      if (auto known = refuse_utf16(text, shown); !known) return known;
    const std::string_view piece = text.substr(0, std::max(kBlock, buffer.size()));
    buffer += piece;
    text.remove_prefix(piece.size());
    taken += static_cast<std::int64_t>(piece.size());
    ended = text.empty();
    return {};
  }

  // What is held and has not been given out, without the padding.
  std::string_view held() const {
    return std::string_view(buffer).substr(used, buffer.size() - used - (padded ? kPadding : 0));
  }
};

LineBlocks::LineBlocks(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineBlocks::LineBlocks(LineBlocks&&) noexcept = default;
LineBlocks& LineBlocks::operator=(LineBlocks&&) noexcept = default;
LineBlocks::~LineBlocks() = default;

Result<LineBlocks> LineBlocks::open(const std::string& path) {
  auto file = TRY(InputFile::open(path));
  auto state = std::make_unique<State>();
  state->shown = file.shown();
  state->input = state->size = file.size();
  state->file = std::move(file);
  while (state->buffer.size() < kLongestMagic && !state->ended) {  // a pipe may give one byte at a time
    const auto more = TRY(append_from(*state->file, state->buffer, kBlock));
    state->ended = !more;
  }
  state->taken = static_cast<std::int64_t>(state->buffer.size());
  if (const Packing packing = packing_of(state->buffer); packing != Packing::none) {
    auto rest = state->ended ? std::nullopt : std::move(state->file);
    state->packed = unpacker(packing, PackedInput(std::exchange(state->buffer, {}), std::move(rest), state->shown));
    state->file.reset();
    state->size = state->packed->expected();
    state->ended = false;
  } else {
    TRY(refuse_utf16(state->buffer, state->shown));
    state->drop_mark();
    state->pad();
  }
  return LineBlocks(std::move(state));
}

LineBlocks LineBlocks::over(std::string_view text, std::string name) {
  auto state = std::make_unique<State>();
  state->shown = std::move(name);
  state->text = text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
  state->size = state->input = static_cast<std::int64_t>(text.size());
  return LineBlocks(std::move(state));
}

Result<std::string_view> LineBlocks::next() {
  const auto lines = state_->lines_within(kLongestLine);
  if (!lines) return lines;
  if (lines->empty() && !state_->ended)
    return fail(shown() + ": a line is longer than 64 MiB; that is no job log. Is it the right file?");
  if (lines->empty()) return last_line();
  state_->used += lines->size();
  return lines;
}

Result<std::string_view> LineBlocks::next_piece() {
  auto piece = state_->lines_within(kLongestPiece);
  if (!piece) return piece;
  if (piece->empty() && state_->ended) return last_line();
  if (piece->empty()) piece = whole_characters(state_->held());
  state_->used += piece->size();
  return piece;
}

// What stands behind the last newline, with one.
Result<std::string_view> LineBlocks::last_line() {
  State& s = *state_;
  if (s.held().empty()) return std::string_view{};
  s.cut = true;
  s.buffer.insert(s.buffer.size() - kPadding, 1, '\n');
  const std::string_view lines = s.held();
  s.used += lines.size();
  return lines;
}

Result<std::string_view> LineBlocks::peek() {
  const auto block = next();
  if (block) state_->used -= block->size();
  return block;
}

Result<std::string_view> LineBlocks::peek_piece() {
  const auto piece = next_piece();
  if (piece) state_->used -= piece->size();
  return piece;
}

bool LineBlocks::cut() const { return state_->cut; }
std::int64_t LineBlocks::size() const { return state_->size; }
const std::string& LineBlocks::shown() const { return state_->shown; }

double LineBlocks::share() const {
  const State& s = *state_;
  return s.input > 0 ? std::min(1.0, static_cast<double>(s.taken) / static_cast<double>(s.input)) : 0.0;
}

std::string workload_name(const std::string& path) {
  if (path == "-") return "standard input";
  std::string name = path.substr(path.rfind('/') + 1);
  name = without_packing(name);
  for (const std::string_view ending : {".swf", ".jsonl", ".json"})
    if (name.size() > ending.size() && name.ends_with(ending)) name = name.substr(0, name.size() - ending.size());
  return one_line(name);
}

}  // namespace rota::log
