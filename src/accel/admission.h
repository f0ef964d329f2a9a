// The tasks of all clients from SUBMIT until the compute thread has them, and after it until their ACK. It grants
// memory, in turn among the clients: a client has at most half of it while others want some, three quarters when alone,
// and only so many grants ahead of its bytes. Complete tasks go to the queue in turn, too, so that a client with many
// does not hold up one with few. A reader never waits for a place in the queue, else no ping would be answered while a
// kernel runs: complete tasks stay here, bounded by the memory. The reader thread alone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "accel/pipeline.h"

namespace rota::accel {

class Admission {
 public:
  explicit Admission(Pipeline& pipeline) : pipeline_(pipeline) {}

  // False: the client breaks the rules, and its connection is to be closed.
  bool submit(const SessionPtr& session, const FrameHeader& header, const Submit& submit);
  // The task whose payload comes next, as far as it is announced; null: no payload is due.
  TaskPtr receiving(std::uint64_t session) const;
  void received(std::uint64_t session);  // that task has its whole payload
  void cancel(std::uint64_t session, std::uint64_t task);
  void acknowledge(std::uint64_t session, std::uint64_t task, std::uint32_t attempt);
  void forget(std::uint64_t session);  // its connection has gone

  // Does what memory and queue allow by now. To be called after any of the above, and when the reader is woken.
  void advance();
  // Refuses what waits for a plan or for memory: it may be run elsewhere.
  void drain();

  std::size_t count(TaskState state) const;
  std::size_t unfinished() const;  // tasks that have not been answered
  std::size_t tasks() const;       // with those that wait for an ACK

 private:
  struct Client {
    SessionPtr session;
    std::map<std::uint64_t, TaskPtr> tasks;
    std::deque<TaskPtr> waiting;  // for memory
    std::deque<TaskPtr> receiving;
    std::deque<TaskPtr> complete;
    std::uint64_t announced = 0;                 // bytes of `receiving`
    std::optional<std::uint64_t> in_vain_since;  // by grants_: its first task has waited for memory since then
  };
  enum class Grant : std::uint8_t { made, not_its_turn, no_memory };

  void planned(std::map<std::uint64_t, Client>::iterator client, const TaskPtr& task);
  void refuse(std::map<std::uint64_t, Client>::iterator client, const TaskPtr& task, const Refusal& refusal);
  Grant grant(Client& client);
  bool may_have_more(const Client& client, std::uint64_t bytes) const;
  void grant_all();
  bool hand_over_all();
  void complete(Client& client, const TaskPtr& task);
  // No other thread has the task; taken out of the queue, if it is there.
  bool is_here(const TaskPtr& task);
  Client* find(std::uint64_t session);
  void end(std::map<std::uint64_t, Client>::iterator client, std::uint64_t task);

  Pipeline& pipeline_;
  std::map<std::uint64_t, Client> clients_;  // by session; those with tasks
  std::deque<std::uint64_t> for_memory_;     // sessions with waiting tasks, each once
  std::deque<std::uint64_t> for_place_;      // with complete ones
  std::uint64_t grants_ = 0;                 // that were made
};

}  // namespace rota::accel
