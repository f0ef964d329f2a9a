// The reader thread: listens, and receives from all clients by one epoll, so that no client holds up another one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "accel/admission.h"
#include "accel/pipeline.h"
#include "accel/session_reader.h"
#include "process/descriptor.h"

namespace rota::accel {

struct Listener {
  process::Descriptor socket;
  bool tcp = false;
};

class Reader {
 public:
  Reader(Pipeline& pipeline, std::vector<Listener> listeners);
  void run();  // until the pipeline stops

 private:
  void watch(int file, std::uint64_t number) const;
  void accept(const Listener& listener);
  void receive(std::uint64_t session);
  bool has_room();
  void close(std::uint64_t session);
  void drop_stalled();
  void announce_drain();
  std::string state() const;

  Pipeline& pipeline_;
  const std::vector<Listener> listeners_;
  const process::Descriptor epoll_;
  Admission admission_;
  std::map<std::uint64_t, SessionReader> sessions_;
  std::set<std::uint64_t> with_more_;  // sessions that were left with frames that are here already
  std::uint64_t next_session_;
  SteadyTime looked_ = std::chrono::steady_clock::now();
  enum class Drain : std::uint8_t { no, announced, done } drain_ = Drain::no;
};

}  // namespace rota::accel
