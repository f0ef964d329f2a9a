// What one client sends, frame by frame. Payloads are received into the memory of their tasks, and everything is
// checked before it is used: a client may send any bytes. The reader thread alone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "accel/admission.h"
#include "accel/pipeline.h"

namespace rota::accel {

class SessionReader {
 public:
  // `must_have_token`: the client has come by TCP. `state` makes the text that STATUS is answered with.
  SessionReader(Pipeline& pipeline, Admission& admission, SessionPtr session, bool must_have_token,
                std::function<std::string()> state);

  // Reads what is there, but not for so long that other clients wait. False: the connection has ended, or is to end.
  bool receive();
  // It owes something, the rest of a frame or of a payload, and has sent nothing since then.
  bool stalls_since(SteadyTime before) const;
  bool greeted() const { return greeted_; }
  const SessionPtr& session() const { return session_; }

 private:
  enum class Got : std::uint8_t { all, some, end };
  Got fill(std::span<std::byte> into, std::size_t& at);
  bool begin_payload();
  bool end_of_frame();
  bool end_of_chunk();
  bool message();
  bool greeting();

  Pipeline& pipeline_;
  Admission& admission_;
  const SessionPtr session_;
  const bool must_have_token_;
  const std::function<std::string()> state_;
  bool greeted_ = false;
  SteadyTime last_ = std::chrono::steady_clock::now();
  HeaderBytes header_bytes_{};
  std::size_t header_at_ = 0;
  FrameHeader header_;
  std::vector<std::byte> message_;  // payload of a frame that is no DATA
  TaskPtr task_;                    // whose DATA comes; its payload goes into its buffer
  std::span<std::byte> payload_;    // where that of this frame goes
  std::size_t payload_at_ = 0;
};

}  // namespace rota::accel
