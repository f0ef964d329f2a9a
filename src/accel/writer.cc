#include "accel/writer.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace rota::accel {
namespace {

constexpr std::uint64_t kWakeup = 0;
constexpr std::size_t kSmallResult = 2048;
constexpr std::size_t kMostGathered = std::size_t{64} << 10U;
constexpr int kLookPeriod = 200;  // milliseconds

std::span<const std::byte> result_of(const Task& task) {
  return task.buffer.bytes().subspan(task.plan.result_offset, task.plan.result_bytes);
}

FrameHeader answer_to(const Task& task, FrameType type) {
  return {.type = type, .task = task.number, .attempt = task.attempt};
}

// The whole answer in one frame, where it is small or an error.
bool fits_message(const Task& task) {
  return task.outcome.outcome != ROTA_ACCEL_DONE || task.plan.result_bytes <= kSmallResult;
}

std::vector<std::byte> message_of(const Task& task) {
  if (task.outcome.outcome != ROTA_ACCEL_DONE) return framed(answer_to(task, FrameType::error), encoded(task.outcome));
  FrameHeader header = answer_to(task, FrameType::result);
  header.flags = kLast;
  return framed(header, result_of(task));
}

}  // namespace

Writer::Writer(Pipeline& pipeline) : pipeline_(pipeline), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeup;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pipeline_.writer.file(), &event);
}

void Writer::run() {
  std::array<epoll_event, 64> events;
  while (!pipeline_.stops) {
    const bool more = std::ranges::any_of(clients_, [](const auto& client) { return !client.second.waits(); });
    const int wait = more ? 0 : clients_.empty() ? -1 : kLookPeriod;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == kWakeup) {
        pipeline_.writer.clear();
      } else if (const auto at = clients_.find(number); at != clients_.end()) {
        watch(at->second, false);
      }
    }
    collect();
    write_all();
  }
}

void Writer::collect() {
  for (const SessionPtr& session : pipeline_.sessions_to_look_at()) outgoing(session).no_slot = false;
  while (auto task = pipeline_.computed.try_pop()) {
    Outgoing& out = outgoing((*task)->session);
    out.results.push_back(std::move(*task));
  }
}

Writer::Outgoing& Writer::outgoing(const SessionPtr& session) {
  Outgoing& out = clients_[session->number()];
  if (!out.session) {
    out.session = session;
    out.progress = std::chrono::steady_clock::now();
  }
  return out;
}

void Writer::write_all() {
  const SteadyTime before = std::chrono::steady_clock::now() - pipeline_.options.stall;
  for (auto next = clients_.begin(); next != clients_.end();) {
    const auto at = next++;
    Outgoing& out = at->second;
    if (out.waits() && out.progress < before) out.session->break_off();
    if (out.session->broken() || (!out.waits() && !write_turn(out))) {
      drop(out);
      clients_.erase(at);
    }
  }
}

// False: there is nothing more to be sent, or the client has gone.
bool Writer::write_turn(Outgoing& out) {
  if (std::holds_alternative<Nothing>(out.current)) begin_frame(out);
  if (std::holds_alternative<Nothing>(out.current)) return out.no_slot;
  const Sent sent = send(out);
  if (sent == Sent::broken) out.session->break_off();
  if (sent == Sent::some) watch(out, true);
  if (sent == Sent::all) finish_frame(out);
  return sent != Sent::broken;
}

void Writer::begin_frame(Outgoing& out) {
  Messages messages;
  gather(out, messages);
  if (!messages.bytes.empty()) {
    out.current = std::move(messages);
  } else if (!out.results.empty()) {
    begin_chunk(out);
  }
}

void Writer::begin_chunk(Outgoing& out) {
  SharedRings* const rings = out.session->rings_for_results();
  out.no_slot = rings != nullptr && !has_slot(*out.session);
  if (out.no_slot) return;
  Task& task = *out.results.front();
  const auto result = result_of(task);
  const auto size = std::min<std::uint64_t>(rings != nullptr ? kSlotBytes : kMostChunk, result.size() - out.offset);
  const auto payload = result.subspan(out.offset, size);
  FrameHeader header = answer_to(task, FrameType::result);
  const bool last = out.offset + size == result.size();
  if (last) task.state = TaskState::answered;  // before the client can acknowledge it
  header.flags = last ? kLast : 0;
  header.length = static_cast<std::uint32_t>(size);
  if (rings != nullptr) {
    header.flags |= kShared;
    rings->put(payload);
    out.current = Chunk{encoded(header), {}, size};
  } else {
    header.payload_crc = crc32c(payload);
    out.current = Chunk{encoded(header), payload, size};
  }
}

// The wish comes before the second look: what is given back between them rings.
bool Writer::has_slot(Session& session) {
  if (session.rings()->has_slot()) return true;
  session.wants_slot = true;
  return session.rings()->has_slot();
}

void Writer::gather(Outgoing& out, Messages& messages) {
  const auto add = [&](const std::vector<std::byte>& frame) {
    messages.bytes.insert(messages.bytes.end(), frame.begin(), frame.end());
  };
  for (const auto& message : out.session->messages()) add(message);
  while (out.offset == 0 && !out.results.empty() && messages.bytes.size() < kMostGathered &&
         fits_message(*out.results.front())) {
    Task& task = *out.results.front();
    add(message_of(task));
    answered(task);
    out.results.pop_front();
  }
}

Writer::Sent Writer::send(Outgoing& out) {
  std::span<const std::byte> first, second;
  std::size_t* at = nullptr;
  if (auto* messages = std::get_if<Messages>(&out.current)) {
    at = &messages->at;
    first = std::span(messages->bytes).subspan(*at);
  } else {
    auto& chunk = std::get<Chunk>(out.current);
    at = &chunk.at;
    if (*at < kHeaderBytes) first = std::span(chunk.header).subspan(*at);
    second = chunk.payload.subspan(*at < kHeaderBytes ? 0 : *at - kHeaderBytes);
  }
  std::size_t sent = 0;
  const Channel::Flow flow = out.session->channel().send(first, second, sent);
  if (flow != Channel::Flow::moved) return flow == Channel::Flow::waits ? Sent::some : Sent::broken;
  out.progress = std::chrono::steady_clock::now();
  *at += sent;
  return sent == first.size() + second.size() ? Sent::all : Sent::some;
}

void Writer::finish_frame(Outgoing& out) {
  if (const auto* chunk = std::get_if<Chunk>(&out.current)) {
    out.offset += chunk->size;
    Task& task = *out.results.front();
    if (out.offset == task.plan.result_bytes) {
      answered(task);
      out.results.pop_front();
      out.offset = 0;
    }
  }
  out.current = Nothing{};
}

void Writer::answered(Task& task) {
  if (task.outcome.outcome == ROTA_ACCEL_DONE) {
    ++pipeline_.counts.done;
    pipeline_.counts.bytes_out += task.plan.result_bytes;
  } else {
    const bool unwanted = task.outcome.outcome == ROTA_ACCEL_CANCELLED || task.outcome.outcome == ROTA_ACCEL_TIME_LIMIT;
    ++(unwanted ? pipeline_.counts.cancelled : pipeline_.counts.failed);
  }
  task.state = TaskState::answered;
  task.release();
}

// Once: the next writable moment takes it off again.
void Writer::watch(Outgoing& out, bool blocked) const {
  if (out.blocked == blocked) return;
  out.blocked = blocked;
  epoll_event event{};
  event.events = EPOLLOUT;
  event.data.u64 = out.session->number();
  ::epoll_ctl(epoll_.get(), blocked ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, out.session->channel().socket(), &event);
}

void Writer::drop(Outgoing& out) {
  watch(out, false);
  pipeline_.counts.dropped += out.results.size();
  for (const TaskPtr& task : out.results) task->release();
}

}  // namespace rota::accel
