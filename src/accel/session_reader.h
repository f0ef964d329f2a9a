// What one client sends, frame by frame. Payloads are received into the memory of their tasks, and everything is
// checked before it is used: a client may send any bytes. The reader thread alone.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "accel/admission.h"
#include "accel/frame_reader.h"
#include "accel/pipeline.h"

namespace rota::accel {

class SessionReader final : private FrameReader::Receiver {
 public:
  // `state` makes the text that STATUS is answered with.
  SessionReader(Pipeline& pipeline, Admission& admission, SessionPtr session, std::function<std::string()> state);

  SessionReader(const SessionReader&) = delete;
  SessionReader& operator=(const SessionReader&) = delete;
  ~SessionReader() override;

  // Reads what is there, but not for so long that other clients wait.
  FrameReader::Outcome receive();
  // It owes something, the rest of a frame or of a payload, and has sent nothing since then.
  bool stalls_since(SteadyTime before) const;
  bool greeted() const { return greeted_; }
  const SessionPtr& session() const { return session_; }

 private:
  bool begin(const FrameHeader& header, std::span<std::byte>& place) override;
  bool receive(const FrameHeader& header, std::span<const std::byte> payload) override;
  bool end_of_chunk(const FrameHeader& header);
  bool message(const FrameHeader& header, std::span<const std::byte> payload);
  bool greeting(std::span<const std::byte> payload);
  bool share();
  bool slot_is_free();

  Pipeline& pipeline_;
  Admission& admission_;
  const SessionPtr session_;
  const std::function<std::string()> state_;
  bool has_no_token_ = false;
  bool greeted_ = false;
  bool asked_to_share_ = false;
  FrameReader frames_;
  TaskPtr task_;  // whose DATA comes; its payload goes into its buffer
};

}  // namespace rota::accel
