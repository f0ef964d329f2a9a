#include "accel/session_reader.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace rota::accel {
namespace {

// As long as it takes for any pair of equal length, so that the time tells nothing of the token.
bool equal(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned>(a[i] ^ b[i]);
  return differ == 0;
}

}  // namespace

SessionReader::SessionReader(Pipeline& pipeline, Admission& admission, SessionPtr session, bool must_have_token,
                             std::function<std::string()> state)
    : pipeline_(pipeline),
      admission_(admission),
      session_(std::move(session)),
      must_have_token_(must_have_token),
      state_(std::move(state)) {}

bool SessionReader::receive() {
  constexpr int kMostFrames = 16;  // at a time
  for (int frames = 0; frames < kMostFrames; ++frames) {
    if (header_at_ < kHeaderBytes) {
      const Got got = fill(header_bytes_, header_at_);
      if (got != Got::all) return got == Got::some;
      if (!decode(header_bytes_, header_) || !begin_payload()) {
        ++pipeline_.counts.rejected;
        return false;
      }
    }
    const Got got = fill(payload_, payload_at_);
    if (got != Got::all) return got == Got::some;
    header_at_ = 0;
    if (end_of_frame()) continue;
    ++pipeline_.counts.rejected;
    return false;
  }
  return true;
}

SessionReader::Got SessionReader::fill(std::span<std::byte> into, std::size_t& at) {
  while (at < into.size()) {
    const ssize_t got = ::recv(session_->socket(), into.data() + at, into.size() - at, MSG_DONTWAIT);
    if (got == 0) return Got::end;
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Got::some : Got::end;
    at += static_cast<std::size_t>(got);
    last_ = std::chrono::steady_clock::now();
  }
  return Got::all;
}

bool SessionReader::begin_payload() {
  payload_at_ = 0;
  if (!greeted_ && header_.type != FrameType::hello) return false;
  if (header_.type != FrameType::data) {
    message_.resize(header_.length);
    payload_ = message_;
    return true;
  }
  task_ = admission_.receiving(session_->number());
  if (!task_ || task_->number != header_.task || task_->attempt != header_.attempt || header_.length == 0) return false;
  const std::uint64_t left = task_->submit.header.payload_bytes - task_->received;
  const bool last = (header_.flags & kLast) != 0;
  if (header_.length > left || last != (header_.length == left)) return false;
  payload_ = task_->buffer.bytes().subspan(task_->received, header_.length);
  return true;
}

bool SessionReader::end_of_frame() {
  if (crc32c(payload_) != header_.payload_crc) return false;
  return header_.type == FrameType::data ? end_of_chunk() : message();
}

bool SessionReader::end_of_chunk() {
  task_->received += header_.length;
  pipeline_.counts.bytes_in += header_.length;
  if ((header_.flags & kLast) != 0) admission_.received(session_->number());
  task_.reset();
  return true;
}

bool SessionReader::message() {
  switch (header_.type) {
    case FrameType::hello:
      return greeting();
    case FrameType::submit: {
      Submit submit;
      return decode(message_, submit) && admission_.submit(session_, header_, submit);
    }
    case FrameType::cancel:
      admission_.cancel(session_->number(), header_.task);
      return true;
    case FrameType::ack:
      admission_.acknowledge(session_->number(), header_.task, header_.attempt);
      return true;
    case FrameType::ping:
      pipeline_.send(session_, {.type = FrameType::pong, .task = header_.task});
      return true;
    case FrameType::status:
      pipeline_.send(session_, {.type = FrameType::state, .task = header_.task}, bytes_of(state_()));
      return true;
    default:
      return false;
  }
}

bool SessionReader::greeting() {
  Hello hello;
  if (greeted_ || !decode(message_, hello)) return false;
  if (must_have_token_ && !equal(hello.token, pipeline_.options.token)) {
    pipeline_.send(session_, {.type = FrameType::error},
                   encoded(Refusal{ROTA_ACCEL_BAD_TASK, "the container does not know this token"}));
    return true;  // the client hangs up, or is dropped like one that never greets
  }
  greeted_ = true;
  const Welcome welcome{.tasks = pipeline_.options.tasks,
                        .epoch = pipeline_.epoch,
                        .memory_bytes = pipeline_.memory.limit(),
                        .operations = pipeline_.operations()};
  pipeline_.send(session_, {.type = FrameType::welcome}, encoded(welcome));
  if (pipeline_.draining) pipeline_.send(session_, {.type = FrameType::drain});
  return true;
}

bool SessionReader::stalls_since(SteadyTime before) const {
  const bool owes = !greeted_ || header_at_ > 0 || admission_.receiving(session_->number()) != nullptr;
  return owes && last_ < before;
}

}  // namespace rota::accel
