#include "accel/admission.h"

#include <algorithm>
#include <utility>

namespace rota::accel {
namespace {

// One task is on the wire and the next ones announced: that hides the round trip, and no client reserves more than that
// while others wait.
constexpr std::size_t kFewGrants = 2;
constexpr std::size_t kMostGrants = 64;
constexpr std::uint64_t kSmallGrants = kMostChunk;  // bytes up to which more than a few may be open

// A task that does not fit is overtaken by smaller ones so many times, then all wait for it.
constexpr std::uint64_t kMostOvertaken = 64;

void erase_from(std::deque<TaskPtr>& tasks, const TaskPtr& task) {
  const auto at = std::ranges::find(tasks, task);
  if (at != tasks.end()) tasks.erase(at);
}

// Into a line that it may stand in already.
void enter(std::deque<std::uint64_t>& line, std::uint64_t session) {
  if (std::ranges::find(line, session) == line.end()) line.push_back(session);
}

Refusal leaving() { return {ROTA_ACCEL_LEAVING, "the container accepts no more tasks; it is being stopped"}; }
Refusal cancelled() { return {ROTA_ACCEL_CANCELLED, "cancelled by its client"}; }

}  // namespace

bool Admission::submit(const SessionPtr& session, const FrameHeader& header, const Submit& submit) {
  Client& client = clients_[session->number()];
  client.session = session;
  if (client.tasks.size() >= pipeline_.options.tasks || client.tasks.contains(header.task)) return false;
  ++pipeline_.counts.submitted;
  const auto refuse = [&](const Refusal& refusal) {
    pipeline_.refuse(session, header.task, header.attempt, refusal);
    if (client.tasks.empty()) clients_.erase(session->number());
    return true;
  };
  if (pipeline_.draining) return refuse(leaving());
  auto task = std::make_shared<Task>(session, header.task, header.attempt);
  task->submit = submit;
  task->planner = pipeline_.planner_for(submit.header.operation);
  if (task->planner == nullptr)
    return refuse({ROTA_ACCEL_UNSUPPORTED, "this container has no such operation; it has " + pipeline_.operations()});
  client.tasks.emplace(header.task, task);
  if (task->planner->plan(task)) planned(clients_.find(session->number()), task);
  return true;
}

void Admission::planned(std::map<std::uint64_t, Client>::iterator at, const TaskPtr& task) {
  if (task->planned.outcome != ROTA_ACCEL_DONE) return refuse(at, task, task->planned);
  if (!pipeline_.memory.could_hold(task->plan.buffer_bytes, task->plan.scratch_bytes))
    return refuse(at, task,
                  {ROTA_ACCEL_NO_MEMORY,
                   "the task needs more memory than the container has; split it, or start "
                   "the container with more (rota accel serve --memory)"});
  if (at->second.waiting.empty()) enter(for_memory_, at->first);
  at->second.waiting.push_back(task);
}

void Admission::refuse(std::map<std::uint64_t, Client>::iterator client, const TaskPtr& task, const Refusal& refusal) {
  pipeline_.refuse(task->session, task->number, task->attempt, refusal);
  end(client, task->number);
}

TaskPtr Admission::receiving(std::uint64_t session) const {
  const auto at = clients_.find(session);
  return at == clients_.end() || at->second.receiving.empty() ? nullptr : at->second.receiving.front();
}

void Admission::received(std::uint64_t session) {
  Client* client = find(session);
  const TaskPtr task = client->receiving.front();
  client->receiving.pop_front();
  client->announced -= task->buffer.bytes().size();
  complete(*client, task);
}

void Admission::complete(Client& client, const TaskPtr& task) {
  task->state = TaskState::complete;
  if (client.complete.empty()) enter(for_place_, client.session->number());
  client.complete.push_back(task);
}

void Admission::cancel(std::uint64_t session, std::uint64_t number) {
  const auto owner = clients_.find(session);
  if (owner == clients_.end()) return;
  Client& client = owner->second;
  const auto at = client.tasks.find(number);
  if (at == client.tasks.end()) return;
  const TaskPtr task = at->second;
  task->cancelled = true;
  if (!is_here(task)) return;  // the compute thread sees it, or its result is on its way
  if (task->state == TaskState::receiving) client.announced -= task->buffer.bytes().size();
  task->planner->withdraw(task);
  erase_from(client.waiting, task);
  erase_from(client.receiving, task);
  erase_from(client.complete, task);
  task->release();
  refuse(owner, task, cancelled());
}

bool Admission::is_here(const TaskPtr& task) {
  return task->state <= TaskState::complete || (task->state == TaskState::queued && pipeline_.ready.remove(task));
}

void Admission::acknowledge(std::uint64_t session, std::uint64_t number, std::uint32_t attempt) {
  const auto owner = clients_.find(session);
  if (owner == clients_.end()) return;
  const auto at = owner->second.tasks.find(number);
  if (at == owner->second.tasks.end()) return;
  if (at->second->attempt == attempt && at->second->state == TaskState::answered) end(owner, number);
}

void Admission::end(std::map<std::uint64_t, Client>::iterator client, std::uint64_t task) {
  client->second.tasks.erase(task);
  if (client->second.tasks.empty()) clients_.erase(client);
}

void Admission::forget(std::uint64_t session) {
  Client* client = find(session);
  if (client == nullptr) return;
  for (const auto& [number, task] : client->tasks) {
    task->cancelled = true;
    if (!is_here(task)) continue;
    task->planner->withdraw(task);
    task->release();
    ++pipeline_.counts.dropped;
  }
  clients_.erase(session);
}

void Admission::advance() {
  for (const auto& planner : pipeline_.planners) {
    for (const TaskPtr& task : planner->take_answered()) {
      if (!task->cancelled) planned(clients_.find(task->session->number()), task);
    }
  }
  // Asked for before it is looked at: what is freed meanwhile rings the reader.
  if (!for_memory_.empty()) {
    grant_all();
    if (!for_memory_.empty()) {
      pipeline_.memory.ask_for_call();
      grant_all();
    }
  }
  if (!hand_over_all()) {
    pipeline_.place_wanted = true;
    hand_over_all();
  }
}

void Admission::grant_all() {
  std::size_t in_vain = 0;
  while (in_vain < for_memory_.size()) {
    const std::uint64_t session = for_memory_.front();
    for_memory_.pop_front();
    Client* client = find(session);
    if (client == nullptr || client->waiting.empty()) continue;
    const Grant grant = this->grant(*client);
    if (grant == Grant::no_memory && grants_ - *client->in_vain_since > kMostOvertaken) {
      for_memory_.push_front(session);
      return;
    }
    if (client->waiting.empty()) continue;
    for_memory_.push_back(session);
    if (grant == Grant::made) {
      in_vain = 0;
      continue;
    }
    ++in_vain;
  }
}

Admission::Grant Admission::grant(Client& client) {
  const TaskPtr task = client.waiting.front();
  if (client.receiving.size() >= kFewGrants &&
      (client.receiving.size() >= kMostGrants || client.announced >= kSmallGrants))
    return Grant::not_its_turn;
  if (!may_have_more(client, task->plan.buffer_bytes)) return Grant::not_its_turn;
  task->buffer = pipeline_.memory.reserve(task->plan.buffer_bytes, task->plan.scratch_bytes);
  if (!task->buffer) {
    if (!client.in_vain_since) client.in_vain_since = grants_;
    return Grant::no_memory;
  }
  const std::uint64_t size = task->buffer.bytes().size();
  client.session->held += size;
  client.in_vain_since.reset();
  ++grants_;
  client.waiting.pop_front();
  pipeline_.send(client.session, {.type = FrameType::grant, .task = task->number, .attempt = task->attempt},
                 encoded(task->plan.result_bytes));
  if (task->submit.header.payload_bytes == 0) {
    complete(client, task);
    return Grant::made;
  }
  task->state = TaskState::receiving;
  client.announced += size;
  client.receiving.push_back(task);
  return Grant::made;
}

bool Admission::may_have_more(const Client& client, std::uint64_t bytes) const {
  const std::uint64_t held = client.session->held;
  const std::uint64_t quarters = clients_.size() == 1 ? 3 : 2;
  return held == 0 || held + Memory::rounded(bytes) <= pipeline_.memory.limit() / 4 * quarters;
}

bool Admission::hand_over_all() {
  while (!for_place_.empty()) {
    const std::uint64_t session = for_place_.front();
    Client* client = find(session);
    if (client != nullptr && !client->complete.empty()) {
      TaskPtr task = client->complete.front();
      task->state = TaskState::queued;
      if (!pipeline_.ready.try_push(task)) {
        task->state = TaskState::complete;
        return false;
      }
      client->complete.pop_front();
    }
    for_place_.pop_front();
    if (client != nullptr && !client->complete.empty()) for_place_.push_back(session);
  }
  return true;
}

void Admission::drain() {
  for (auto next = clients_.begin(); next != clients_.end();) {
    const auto at = next++;
    Client& client = at->second;
    client.waiting.clear();
    std::vector<TaskPtr> waiting;
    for (const auto& [number, task] : client.tasks)
      if (task->state == TaskState::waiting) waiting.push_back(task);
    for (const TaskPtr& task : waiting) {
      task->cancelled = true;  // a plan that comes is not wanted
      task->planner->withdraw(task);
      refuse(at, task, leaving());
    }
  }
}

std::size_t Admission::count(TaskState state) const {
  std::size_t count = 0;
  for (const auto& [session, client] : clients_)
    count += static_cast<std::size_t>(
        std::ranges::count_if(client.tasks, [&](const auto& entry) { return entry.second->state == state; }));
  return count;
}

std::size_t Admission::unfinished() const { return tasks() - count(TaskState::answered); }

std::size_t Admission::tasks() const {
  std::size_t count = 0;
  for (const auto& [session, client] : clients_) count += client.tasks.size();
  return count;
}

Admission::Client* Admission::find(std::uint64_t session) {
  const auto at = clients_.find(session);
  return at == clients_.end() ? nullptr : &at->second;
}

}  // namespace rota::accel
