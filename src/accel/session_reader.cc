#include "accel/session_reader.h"

#include <utility>

namespace rota::accel {

SessionReader::SessionReader(Pipeline& pipeline, Admission& admission, SessionPtr session,
                             std::function<std::string()> state)
    : pipeline_(pipeline),
      admission_(admission),
      session_(std::move(session)),
      state_(std::move(state)),
      frames_(session_->channel()) {}

SessionReader::~SessionReader() {
  if (session_->rings() != nullptr) --pipeline_.sharing;
}

FrameReader::Outcome SessionReader::receive() {
  if (!greeted_ && session_->channel().begins_in_clear()) has_no_token_ = true;
  constexpr int kMostFrames = 16;  // at a time
  const FrameReader::Outcome outcome = frames_.read(*this, kMostFrames);
  if (outcome == FrameReader::Outcome::wrong || (outcome == FrameReader::Outcome::ended && !greeted_))
    ++pipeline_.counts.rejected;
  return outcome;
}

bool SessionReader::begin(const FrameHeader& header, std::span<std::byte>& place) {
  if (!greeted_ && header.type != FrameType::hello) return false;
  if (header.type != FrameType::data) return true;
  task_ = admission_.receiving(session_->number());
  if (!task_ || task_->number != header.task || task_->attempt != header.attempt || header.length == 0) return false;
  const std::uint64_t left = task_->submit.header.payload_bytes - task_->received;
  const bool last = (header.flags & kLast) != 0;
  if (header.length > left || last != (header.length == left)) return false;
  place = task_->buffer.bytes().subspan(task_->received, header.length);
  return true;
}

bool SessionReader::receive(const FrameHeader& header, std::span<const std::byte> payload) {
  return header.type == FrameType::data ? end_of_chunk(header) : message(header, payload);
}

bool SessionReader::end_of_chunk(const FrameHeader& header) {
  task_->received += header.length;
  pipeline_.counts.bytes_in += header.length;
  if ((header.flags & kShared) != 0) pipeline_.send(session_, {.type = FrameType::taken});
  if ((header.flags & kLast) != 0) admission_.received(session_->number());
  task_.reset();
  return true;
}

bool SessionReader::message(const FrameHeader& header, std::span<const std::byte> payload) {
  switch (header.type) {
    case FrameType::hello:
      return greeting(payload);
    case FrameType::submit: {
      Submit submit;
      return decode(payload, submit) && admission_.submit(session_, header, submit);
    }
    case FrameType::cancel:
      admission_.cancel(session_->number(), header.task);
      return true;
    case FrameType::ack:
      admission_.acknowledge(session_->number(), header.task, header.attempt);
      return true;
    case FrameType::ping:
      pipeline_.send(session_, {.type = FrameType::pong, .task = header.task});
      return true;
    case FrameType::status:
      pipeline_.send(session_, {.type = FrameType::state, .task = header.task}, bytes_of(state_()));
      return true;
    case FrameType::share:
      return share();
    case FrameType::taken:
      return slot_is_free();
    default:
      return false;
  }
}

bool SessionReader::share() {
  if (!session_->channel().is_on_node()) return false;
  if (std::exchange(asked_to_share_, true)) return session_->accepted();
  if (pipeline_.sharing < pipeline_.options.sharing) session_->offer(SharedRings::make());
  if (session_->rings() != nullptr) ++pipeline_.sharing;
  frames_.share(session_->rings());
  pipeline_.send(session_, {.type = FrameType::share});
  return true;
}

bool SessionReader::slot_is_free() {
  SharedRings* rings = session_->rings();
  if (rings == nullptr || !rings->given_back()) return false;
  if (session_->wants_slot.exchange(false)) pipeline_.look_at(session_);
  return true;
}

bool SessionReader::greeting(std::span<const std::byte> payload) {
  Hello hello;
  if (greeted_ || !decode(payload, hello)) return false;
  if (has_no_token_) {
    pipeline_.send(session_, {.type = FrameType::error},
                   encoded(Refusal{ROTA_ACCEL_BAD_TASK,
                                   "this container asks for a token; name the file that has it with --token-file"}));
    return true;  // the client hangs up, or is dropped like one that never greets
  }
  greeted_ = true;
  const Welcome welcome{.tasks = pipeline_.options.tasks,
                        .epoch = pipeline_.epoch,
                        .memory_bytes = pipeline_.memory.limit(),
                        .on_cores = pipeline_.on_cores() ? 1U : 0U,
                        .operations = pipeline_.operations()};
  pipeline_.send(session_, {.type = FrameType::welcome}, encoded(welcome));
  if (pipeline_.draining) pipeline_.send(session_, {.type = FrameType::drain});
  return true;
}

bool SessionReader::stalls_since(SteadyTime before) const {
  const bool owes = !greeted_ || frames_.within_frame() || admission_.receiving(session_->number()) != nullptr;
  return owes && frames_.last() < before;
}

}  // namespace rota::accel
