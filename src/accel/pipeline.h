// What the three threads of a container share: reader -> queue -> compute -> queue -> writer (Li 2016). Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "accel/backend.h"
#include "accel/bounded_queue.h"
#include "accel/memory.h"
#include "accel/planner.h"
#include "accel/task.h"
#include "accel/wakeup.h"
#include "accel/wire.h"

namespace rota::accel {

using SteadyTime = std::chrono::steady_clock::time_point;

struct ContainerOptions {
  std::uint64_t memory = std::uint64_t{1} << 30U;  // bytes for all tasks
  std::size_t queue_places = 4;  // in each queue: 86 % of the device is used with 1, 93 % with 4, 95 % with 8
  std::size_t clients = 1024;    // connections at a time
  std::uint32_t tasks = 256;     // that one client has at a time
  std::uint32_t sharing = 16;    // clients on the node that share memory with it at a time: kRingsBytes for each
  std::chrono::milliseconds stall{30'000};  // a client that owes bytes, or does not accept any, for longer is dropped
  std::string token = {};                   // that clients on TCP must have, and encrypt by; empty: none, and in clear
};

struct Counts {
  std::atomic<std::uint64_t> submitted = 0;
  std::atomic<std::uint64_t> done = 0;       // their results were sent whole
  std::atomic<std::uint64_t> failed = 0;     // by the backend, or refused by it
  std::atomic<std::uint64_t> cancelled = 0;  // by their clients, or at their limit
  std::atomic<std::uint64_t> dropped = 0;    // their clients have gone
  std::atomic<std::uint64_t> rejected = 0;   // connections that sent what is no frame, or have no right token
  std::atomic<std::uint64_t> bytes_in = 0;   // payloads
  std::atomic<std::uint64_t> bytes_out = 0;  // results
  std::atomic<std::uint64_t> computed_us = 0;
};

class Pipeline {
 public:
  Pipeline(ContainerOptions given, std::vector<std::unique_ptr<Device>> opened);

  // A message for the client, as the writer thread gets to it.
  void send(const SessionPtr& session, FrameHeader header, std::span<const std::byte> payload = {});
  void refuse(const SessionPtr& session, std::uint64_t task, std::uint32_t attempt, const Refusal& refusal);
  // The writer thread is to look at the session again.
  void look_at(const SessionPtr& session);
  std::vector<SessionPtr> sessions_to_look_at();

  Planner* planner_for(const char* operation) const;  // null: no device has it
  std::string operations() const;
  bool on_cores() const;  // all that it has are Rota's own backends for cores

  const ContainerOptions options;
  const std::vector<std::unique_ptr<Device>> devices;
  const TlsKeyPtr key;  // by which clients on TCP encrypt; null: they do not
  const std::uint64_t epoch;
  const SteadyTime begun = std::chrono::steady_clock::now();
  Wakeup reader;
  Wakeup writer;
  Wakeup drained;  // rings when a draining container has no task left
  Memory memory;
  BoundedQueue<TaskPtr> ready;             // whole payloads, for the compute thread
  BoundedQueue<TaskPtr> computed;          // for the writer thread
  std::atomic<bool> place_wanted = false;  // the reader thread waits for a place in `ready`
  std::atomic<bool> draining = false;
  std::atomic<bool> stops = false;
  Counts counts;
  std::uint32_t sharing = 0;                       // clients that share memory; the reader thread alone
  std::vector<std::unique_ptr<Planner>> planners;  // one for each device

 private:
  std::mutex mutex_;
  std::vector<SessionPtr> to_look_at_;
};

}  // namespace rota::accel
