#include "accel/wire.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <utility>

namespace rota::accel {
namespace {

// Appends numbers byte by byte, so that the order of bytes is that of the wire on any machine.
class Packing {
 public:
  template <std::integral Number>
  Packing& number(Number value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Number); ++i) bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));
    return *this;
  }
  Packing& text(std::string_view text) {
    const auto bytes = bytes_of(text);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  std::vector<std::byte> done() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Unpacking {
 public:
  explicit Unpacking(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <std::integral Number>
  Unpacking& number(Number& value) {
    if (bytes_.size() < sizeof(Number)) {
      whole_ = false;
      return *this;
    }
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) bits |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
    value = static_cast<Number>(bits);
    bytes_ = bytes_.subspan(sizeof(Number));
    return *this;
  }
  std::string rest() {
    const auto all = std::exchange(bytes_, {});
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  std::span<const std::byte> take(std::size_t size) {
    if (bytes_.size() < size) {
      whole_ = false;
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  bool whole() const { return whole_; }
  bool ended() const { return whole_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool whole_ = true;
};

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}();

std::uint32_t crc_by_table(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte b : bytes) crc = (crc >> 8U) ^ kCrcTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xffU];
  return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_by_instruction(std::span<const std::byte> bytes) {
  std::uint64_t crc = ~0U;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at) rest = __builtin_ia32_crc32qi(rest, std::to_integer<unsigned char>(*at));
  return ~rest;
}
#endif

bool carries_chunks(FrameType type) { return type == FrameType::data || type == FrameType::result; }

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool there = __builtin_cpu_supports("sse4.2") != 0;
  if (there) return crc_by_instruction(bytes);
#endif
  return crc_by_table(bytes);
}

HeaderBytes encoded(const FrameHeader& header) {
  HeaderBytes bytes;
  std::size_t at = 0;
  const auto put = [&](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at++] = static_cast<std::byte>(value >> (8 * i));
  };
  put(kMagic, 4);
  put(kVersion, 1);
  put(static_cast<std::uint8_t>(header.type), 1);
  put(header.flags, 2);
  put(header.task, 8);
  put(header.attempt, 4);
  put(header.length, 4);
  put(header.payload_crc, 4);
  put(crc32c(std::span(bytes).first(at)), 4);
  return bytes;
}

bool decode(const HeaderBytes& bytes, FrameHeader& header) {
  std::uint32_t magic = 0;
  std::uint32_t crc = 0;
  std::uint8_t version = 0;
  std::uint8_t type = 0;
  Unpacking(bytes)
      .number(magic)
      .number(version)
      .number(type)
      .number(header.flags)
      .number(header.task)
      .number(header.attempt)
      .number(header.length)
      .number(header.payload_crc)
      .number(crc);
  if (magic != kMagic || version != kVersion) return false;
  if (crc != crc32c(std::span(bytes).first(kHeaderBytes - 4))) return false;
  if (type < static_cast<std::uint8_t>(FrameType::hello) || type > static_cast<std::uint8_t>(FrameType::taken))
    return false;
  header.type = static_cast<FrameType>(type);
  return header.length <= (carries_chunks(header.type) ? kMostChunk : kMostMessage);
}

std::vector<std::byte> framed(FrameHeader header, std::span<const std::byte> payload) {
  header.length = static_cast<std::uint32_t>(payload.size());
  header.payload_crc = crc32c(payload);
  const HeaderBytes first = encoded(header);
  std::vector<std::byte> frame;
  frame.reserve(first.size() + payload.size());
  frame.insert(frame.end(), first.begin(), first.end());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

std::vector<std::byte> encoded(const Hello& hello) {
  return Packing().number(hello.version).number(hello.epoch).done();
}

bool decode(std::span<const std::byte> payload, Hello& hello) {
  return Unpacking(payload).number(hello.version).number(hello.epoch).ended();
}

std::vector<std::byte> encoded(const Welcome& welcome) {
  return Packing()
      .number(welcome.version)
      .number(welcome.tasks)
      .number(welcome.epoch)
      .number(welcome.memory_bytes)
      .number(welcome.on_cores)
      .text(welcome.operations)
      .done();
}

bool decode(std::span<const std::byte> payload, Welcome& welcome) {
  Unpacking from(payload);
  from.number(welcome.version).number(welcome.tasks).number(welcome.epoch).number(welcome.memory_bytes);
  from.number(welcome.on_cores);
  welcome.operations = from.rest();
  return from.whole() && welcome.tasks > 0 && welcome.epoch != 0;
}

std::vector<std::byte> encoded(const Submit& submit) {
  Packing to;
  to.text({submit.header.operation, ROTA_ACCEL_NAME_BYTES});
  for (const std::int64_t parameter : submit.header.parameters) to.number(parameter);
  return to.number(submit.header.payload_bytes).number(submit.limit_ms).done();
}

bool decode(std::span<const std::byte> payload, Submit& submit) {
  Unpacking from(payload);
  const auto name = from.take(ROTA_ACCEL_NAME_BYTES);
  for (std::int64_t& parameter : submit.header.parameters) from.number(parameter);
  from.number(submit.header.payload_bytes).number(submit.limit_ms);
  if (!from.ended()) return false;
  std::memcpy(submit.header.operation, name.data(), name.size());
  return name.back() == std::byte{0};
}

std::vector<std::byte> encoded(const Refusal& refusal) {
  constexpr std::size_t kMostText = 1024;
  return Packing()
      .number(static_cast<std::uint32_t>(refusal.outcome))
      .text(std::string_view(refusal.why).substr(0, kMostText))
      .done();
}

bool decode(std::span<const std::byte> payload, Refusal& refusal) {
  std::uint32_t outcome = 0;
  Unpacking from(payload);
  from.number(outcome);
  refusal.why = from.rest();
  if (!from.whole() || outcome == ROTA_ACCEL_DONE || outcome > ROTA_ACCEL_LEAVING) return false;
  refusal.outcome = static_cast<rota_accel_outcome>(outcome);
  return true;
}

std::vector<std::byte> encoded(std::uint64_t number) { return Packing().number(number).done(); }

bool decode(std::span<const std::byte> payload, std::uint64_t& number) {
  return Unpacking(payload).number(number).ended();
}

}  // namespace rota::accel
