// Frames between an accelerator container and the clients of it, over TCP or a Unix socket (accel/channel.h).
//
// A frame is a header of 32 bytes and at most 1 MiB of payload, so that a ping or a cancel never waits behind more than
// one chunk. All numbers are little endian. Both checksums are CRC-32C (RFC 3720, appendix B.4). Each side checks a
// header before it believes a length in it; a wrong frame ends the connection.
//
//   client                              container
//   HELLO (version)                 ->
//                                   <-  WELCOME (version, epoch, limits, operations)
//   SUBMIT (operation, sizes)       ->
//                                   <-  GRANT (bytes of the result): memory is reserved; or ERROR
//   DATA... (payload, in the order      as many tasks as were granted may be on their way
//         of the grants)            ->
//                                   <-  RESULT... or ERROR
//   ACK                             ->  the container forgets the task
//   CANCEL                          ->  the task ends with ERROR, or with its result where that was quicker
//   PING                            ->  PONG with the number in `task`
//   STATUS                          ->  STATE, a text in JSON
//                                   <-  DRAIN: no task is accepted any more; those accepted end as usual
//   SHARE                           ->  over a Unix socket, once: SHARE with a file (accel/shared_rings.h), or without
//   SHARE                           ->  the client has it: DATA and RESULT may come through it
//   TAKEN                          <->  a slot of it is free again
//
// The number of a task is the client's, unique in its connection; `attempt` tells apart the runs of one task on several
// connections. A container runs what it is sent; that a result counts once is the client's matter, which accepts only
// the current attempt (accel/client/client.h). The epoch tells a restarted container from one that was cut off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accel/backend_abi.h"

namespace rota::accel {

inline constexpr std::uint32_t kMagic = 0x41544f52;  // "ROTA"
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::uint32_t kMostChunk = 1U << 20U;     // payload of a DATA or RESULT frame
inline constexpr std::uint32_t kMostMessage = 64U << 10U;  // payload of any other frame
inline constexpr std::size_t kMostToken = 256;

enum class FrameType : std::uint8_t {
  hello = 1,
  welcome,
  submit,
  grant,
  data,
  result,
  ack,
  cancel,
  error,
  ping,
  pong,
  drain,
  status,
  state,
  share,
  taken
};

// Flags of DATA and RESULT.
inline constexpr std::uint16_t kLast = 1;  // no more chunks follow
inline constexpr std::uint16_t kShared =
    2;  // the payload lies in the next slot of the shared memory, not behind the header

struct FrameHeader {
  FrameType type = FrameType::ping;
  std::uint16_t flags = 0;
  std::uint64_t task = 0;
  std::uint32_t attempt = 0;
  std::uint32_t length = 0;  // the payload that follows has so many bytes
  std::uint32_t payload_crc = 0;
};

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

// CRC-32C, by the instruction of SSE 4.2 where the processor has it (about 8 GB/s).
std::uint32_t crc32c(std::span<const std::byte> bytes);

HeaderBytes encoded(const FrameHeader& header);
// False: the bytes are no header, or announce more than such a frame may have; the connection is of no use any more.
bool decode(const HeaderBytes& bytes, FrameHeader& header);

// A whole frame without chunks, for control frames.
std::vector<std::byte> framed(FrameHeader header, std::span<const std::byte> payload = {});

struct Hello {
  std::uint32_t version = kVersion;
  std::uint64_t epoch = 0;  // the container's that this client knew before; 0: none
};
struct Welcome {
  std::uint32_t version = kVersion;
  std::uint32_t tasks = 0;         // that a client may have in the container
  std::uint64_t epoch = 0;         // new at each start of the container; never 0
  std::uint64_t memory_bytes = 0;  // for all tasks: none larger is accepted
  std::uint32_t on_cores = 0;      // 1: it computes on cores alone, and has no accelerator
  std::string operations;          // names with blanks between them
};
struct Submit {
  rota_accel_header header{};
  std::uint32_t limit_ms = 0;  // the most that the task may compute; 0: any
};
struct Refusal {  // what ERROR carries
  rota_accel_outcome outcome = ROTA_ACCEL_BAD_TASK;
  std::string why;
};

std::vector<std::byte> encoded(const Hello& hello);
std::vector<std::byte> encoded(const Welcome& welcome);
std::vector<std::byte> encoded(const Submit& submit);
std::vector<std::byte> encoded(const Refusal& refusal);
std::vector<std::byte> encoded(std::uint64_t number);  // what GRANT carries
// False: the payload is none of that kind.
bool decode(std::span<const std::byte> payload, Hello& hello);
bool decode(std::span<const std::byte> payload, Welcome& welcome);
bool decode(std::span<const std::byte> payload, Submit& submit);
bool decode(std::span<const std::byte> payload, Refusal& refusal);
bool decode(std::span<const std::byte> payload, std::uint64_t& number);

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Whether the end may be another one on another run.
inline bool is_final(rota_accel_outcome outcome) { return outcome <= ROTA_ACCEL_TIME_LIMIT; }

}  // namespace rota::accel
