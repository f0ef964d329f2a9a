#include "foreign/users.h"

#include <fmt/core.h>

#include <array>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "foreign/foreign_engine.h"

namespace rota::foreign {
namespace {

using Kind = ClientOrder::Kind;
using Answer = QueueOrders::Answer;

constexpr std::array kPartitions{"all", "day", "night"};

const JobRow* row_of(Number number, const OtherCluster& cluster) {
  if (const JobRow* row = cluster.find(number)) return row;
  const auto forgotten = cluster.forgotten().find(number);
  return forgotten == cluster.forgotten().end() ? nullptr : &forgotten->second;
}

// As far as the order says.
bool stands_as(const JobRow& row, const ClientOrder& order) {
  const Change& change = order.change;
  switch (order.kind) {
    case Kind::submit:
      return row.asks == order.wish && row.hold == order.by;
    case Kind::cancel:
      return row.state == State::ended && row.how == Ending::cancelled;
    case Kind::hold:
      return row.hold == order.by;
    case Kind::release:
      return row.hold == Hold::none;
    case Kind::change:
      return change.limit.value_or(row.asks.limit) == row.asks.limit &&
             change.priority.value_or(row.asks.priority) == row.asks.priority &&
             change.processors.value_or(row.asks.processors) == row.asks.processors &&
             change.nodes.value_or(row.asks.nodes) == row.asks.nodes &&
             change.memory.value_or(row.asks.memory) == row.asks.memory &&
             change.partition.value_or(row.asks.partition) == row.asks.partition;
  }
  return false;
}

}  // namespace

void Users::act(QueueOrders& orders, const View& view) {
  if (!asked_.empty() && chance_.chance(0.25)) return ask_again(orders, view);
  JobId job;
  ClientOrder order = any_order(view, job);
  const std::string key = order.key;
  ask(orders, view, asked_[key] = {job, std::move(order)});
}

// As a client does that has had no answer, or whose request comes twice.
void Users::ask_again(QueueOrders& orders, const View& view) {
  Asked& asked = std::next(asked_.begin(), chance_.between(0, static_cast<std::int64_t>(asked_.size()) - 1))->second;
  const Job* job = asked.job.valid() ? view.find_job(asked.job) : nullptr;
  if (asked.order.kind == Kind::submit || (job && !job->gone())) ask(orders, view, asked);
}

ClientOrder Users::any_order(const View& view, JobId& job) {
  ClientOrder order{.key = fmt::format("{}-{}", seed_, asked_.size())};
  std::vector<std::pair<JobId, Number>> there;
  view.for_each_job([&](JobId id, const Job& each) {
    if (!each.gone()) there.emplace_back(id, each.spec.number);
  });
  order.kind = there.empty() ? Kind::submit : static_cast<Kind>(chance_.between(0, 4));
  order.by = chance_.chance(0.5) ? Hold::by_user : Hold::by_operator;
  if (order.kind == Kind::submit) {
    if (chance_.chance(0.7)) order.by = Hold::none;
    order.wish = any_wish();
    return order;
  }
  std::tie(job, order.job) =
      there[static_cast<std::size_t>(chance_.between(0, static_cast<std::int64_t>(there.size()) - 1))];
  if (order.kind != Kind::change) return order;
  Change& change = order.change;
  if (chance_.chance(0.5)) change.limit = seconds(chance_.between(0, 900));
  if (chance_.chance(0.5)) change.priority = chance_.between(0, 3);
  if (chance_.chance(0.5)) change.processors = static_cast<std::uint32_t>(chance_.between(1, 6));
  if (chance_.chance(0.3)) change.nodes = static_cast<std::uint32_t>(chance_.between(0, 2));
  if (chance_.chance(0.3)) change.memory = chance_.between(0, 6);
  if (chance_.chance(0.3)) change.partition = kPartitions[static_cast<std::size_t>(chance_.between(0, 2))];
  return order;
}

Wish Users::any_wish() {
  Wish wish;
  wish.user = static_cast<std::uint32_t>(chance_.between(1, 3));
  wish.processors = static_cast<std::uint32_t>(chance_.between(1, chance_.chance(0.2) ? 60 : 5));
  wish.nodes = chance_.chance(0.3) ? static_cast<std::uint32_t>(chance_.between(1, 3)) : 0;
  wish.memory = chance_.chance(0.3) ? chance_.between(1, 6) : 0;
  wish.limit = seconds(chance_.between(10, 900));
  wish.priority = chance_.between(0, 3);
  wish.partition = kPartitions[static_cast<std::size_t>(chance_.between(0, 2))];
  wish.gated = true;
  wish.requeue = chance_.chance(0.4);
  return wish;
}

void Users::ask(QueueOrders& orders, const View& view, Asked& asked) {
  ++tally_.orders;
  if (asked.life != life_) asked.open = 0;
  asked.life = life_;
  ++asked.open;
  const ClientOrder& order = asked.order;
  const Machine& machine = *view.options().machine;
  const auto call = [this, key = order.key, life = life_](const Answer& answer) { answered(key, life, answer); };
  switch (order.kind) {
    case Kind::submit: {
      QueueOrders::Request request;
      request.spec = {.limit = order.wish.limit,
                      .memory = order.wish.memory,
                      .processors = order.wish.processors,
                      .nodes = order.wish.nodes,
                      .user = order.wish.user,
                      .priority = static_cast<std::int32_t>(order.wish.priority),
                      .partition = partition_of(machine, order.wish.partition),
                      .licence = {},
                      .restart = order.wish.requeue ? Restart::from_start : Restart::never,
                      .accelerator_type = {},
                      .qos = {}};
      request.held = bar_of(order.by);
      return orders.submit(request, order.key, call);
    }
    case Kind::cancel:
      return orders.cancel(asked.job, order.key, call);
    case Kind::hold:
      return orders.hold(asked.job, bar_of(order.by), order.key, call);
    case Kind::release:
      return orders.release(asked.job, bar_of(order.by), order.key, call);
    case Kind::change: {
      QueueOrders::Terms terms;
      const Change& change = order.change;
      terms.limit = change.limit;
      if (change.priority) terms.priority = static_cast<std::int32_t>(*change.priority);
      terms.processors = change.processors;
      terms.nodes = change.nodes;
      terms.memory = change.memory;
      if (change.partition) terms.partition = partition_of(machine, *change.partition);
      return orders.amend(asked.job, terms, order.key, call);
    }
  }
}

void Users::answered(const std::string& key, std::uint64_t life, const Answer& answer) {
  Asked& asked = asked_.at(key);
  if (life != life_) return break_off(fmt::format("order {} is answered by an engine that is gone", key));
  if (--asked.open < 0) return break_off(fmt::format("order {} is answered more often than asked", key));
  if (answer.kind == Answer::Kind::unknown) ++tally_.unanswered;
  if (answer.kind == Answer::Kind::done) ++tally_.done;
  if (answer.kind == Answer::Kind::refused) ++tally_.refused;
  if (answer.kind == Answer::Kind::unknown) return;  // an answer that came before stands
  const bool is_other = asked.answer && (asked.answer->kind != answer.kind || asked.answer->number != answer.number);
  if (is_other) return break_off(fmt::format("order {} is answered otherwise the second time", key));
  asked.answer = answer;
}

std::string Users::waiting() const {
  for (const auto& [key, asked] : asked_) {
    if (asked.life == life_ && asked.open > 0) return fmt::format("order {} has had no answer", key);
  }
  return {};
}

std::optional<std::string> Users::breach(const OtherCluster& cluster) {
  for (const auto& [key, asked] : asked_) {
    if (!breach_) breach_ = breach(asked, cluster);
  }
  std::map<std::string, int> submitted;
  for (const auto* jobs : {&cluster.jobs(), &cluster.forgotten()}) {
    for (const auto& [number, row] : *jobs) {
      if (row.key.empty()) continue;
      if (!asked_.contains(row.key)) break_off(fmt::format("job {} was ordered by no user", number));
      if (++submitted[row.key] > 1) break_off(fmt::format("job {} was submitted twice", number));
    }
  }
  return breach_;
}

std::optional<std::string> Users::breach(const Asked& asked, const OtherCluster& cluster) {
  const ClientOrder& order = asked.order;
  const auto carried_out = cluster.answers().find(order.key);
  const bool changed = carried_out != cluster.answers().end() && carried_out->second.changed;
  if (!asked.answer) return std::nullopt;
  if (asked.answer->kind == Answer::Kind::refused)
    return changed ? std::optional(fmt::format("order {} was refused, and has changed something", order.key))
                   : std::nullopt;
  if (carried_out == cluster.answers().end() || carried_out->second.refusal)
    return fmt::format("order {} is said to be done, and is not", order.key);
  const bool is_new = order.kind == Kind::submit;
  const JobRow* row = row_of(is_new ? asked.answer->number : order.job, cluster);
  if (!row) return fmt::format("order {} was done to a job that never was", order.key);
  if (is_new && row->key != order.key) return fmt::format("job {} is not the one of order {}", row->number, order.key);
  if (row->changed_by != order.key) return std::nullopt;
  ++tally_.verified;
  if (!stands_as(*row, order)) return fmt::format("job {} is not as order {} has it", row->number, order.key);
  return std::nullopt;
}

}  // namespace rota::foreign
