// What a container and the process of its backend send each other over two sockets, a message of one structure each:
// tasks over one, questions over the other, so that the latter are answered while a task computes. Both ends are the
// same program, so that memory is sent as it stands.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>

#include "accel/backend_abi.h"
#include "process/descriptor.h"

namespace rota::accel {

enum class Wanted : std::uint32_t {
  share,   // `bytes` of memory, in the file that comes with the message; no answer
  run,     // answered once the task has ended
  cancel,  // the task that runs; no answer
  plan,    // over the other socket, as the next one
  state
};

struct BackendRequest {
  Wanted wanted = Wanted::state;
  rota_accel_header header{};
  rota_accel_plan plan{};
  std::uint64_t buffer = 0;  // where in the shared memory
  std::uint64_t scratch = 0;
  std::uint64_t bytes = 0;
};

// Also what the process begins with, on both sockets: opened or not. Then the text has lines, as Introduction does.
struct BackendAnswer {
  std::int32_t outcome = ROTA_ACCEL_DONE;
  rota_accel_plan plan{};
  rota_accel_state state{};
  std::array<char, 2048> text{};

  void set_text(const std::string& from) { from.copy(text.data(), text.size() - 1); }
};

template <class Message>
bool send_message(int socket, const Message& message, std::span<const int> files = {}) {
  std::string bytes(reinterpret_cast<const char*>(&message), sizeof message);
  return process::send_whole(socket, bytes, files);
}

// Waits for one. False: the other end has gone, or sends what is none.
template <class Message>
bool receive_message(int socket, Message& message, std::deque<process::Descriptor>& files) {
  std::string bytes;
  while (bytes.empty())
    if (!process::receive(socket, bytes, files)) return false;
  if (bytes.size() != sizeof message) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  return true;
}
template <class Message>
bool receive_message(int socket, Message& message) {
  std::deque<process::Descriptor> none;
  return receive_message(socket, message, none);
}

}  // namespace rota::accel
