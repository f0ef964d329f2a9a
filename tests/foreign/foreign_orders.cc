#include "foreign/foreign_orders.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rota::foreign {
namespace {

constexpr Duration kPatience = seconds(90);  // longer than a message takes there and back
constexpr int kTries = 6;

}  // namespace

void ForeignOrders::hold(JobId job, Bars by, const std::string& key, Call call) {
  const Hold hold = by == kHeldByUser ? Hold::by_user : Hold::by_operator;
  take(job, {.key = key, .kind = ClientOrder::Kind::hold, .by = hold}, std::move(call));
}

void ForeignOrders::release(JobId job, Bars from, const std::string& key, Call call) {
  const Hold hold = from == kHeldByUser ? Hold::by_user : Hold::by_operator;
  take(job, {.key = key, .kind = ClientOrder::Kind::release, .by = hold}, std::move(call));
}

void ForeignOrders::amend(JobId job, const Terms& terms, const std::string& key, Call call) {
  if (terms.begin || terms.licences || terms.name)
    return refuse(key, std::move(call), "that cluster knows no begin times, licences or names of jobs.");
  Change change{terms.limit, terms.priority, terms.processors, terms.nodes, terms.memory};
  if (terms.partition) change.partition = name_of(*terms.partition);
  take(job, {.key = key, .kind = ClientOrder::Kind::change, .change = change}, std::move(call));
}

void ForeignOrders::cancel(JobId job, const std::string& key, Call call) {
  take(job, {.key = key, .kind = ClientOrder::Kind::cancel}, std::move(call));
}

// It is left to Rota to start.
void ForeignOrders::submit(const Request& request, const std::string& key, Call call) {
  const JobSpec& spec = request.spec;
  if (spec.licence.valid() || request.begin != kEpoch)
    return refuse(key, std::move(call), "that cluster knows no begin times or licences.");
  ClientOrder order{.key = key, .kind = ClientOrder::Kind::submit, .by = Hold::none};
  if (request.held != kNoBars) order.by = request.held == kHeldByUser ? Hold::by_user : Hold::by_operator;
  order.wish = {.user = spec.user,
                .processors = spec.processors,
                .nodes = spec.nodes,
                .memory = spec.memory,
                .limit = spec.limit,
                .priority = spec.priority,
                .partition = name_of(spec.partition),
                .gated = true,
                .requeue = spec.restart == Restart::from_start};
  pending_.push_back({std::move(order), std::move(call)});
  send_those_that_are_next();
}

const std::string& ForeignOrders::name_of(PartitionId partition) const {
  const Machine& machine = *state_().options().machine;
  return machine.partitions[(partition.valid() ? partition : machine.default_partition).value].name;
}

void ForeignOrders::take(JobId job, ClientOrder order, Call call) {
  const Job* known = state_().find_job(job);
  if (!known || known->gone()) return refuse(order.key, std::move(call), "the job is not there any more.");
  order.job = known->spec.number;
  pending_.push_back({std::move(order), std::move(call)});
  send_those_that_are_next();
}

void ForeignOrders::refuse(const std::string& key, Call call, std::string why) {
  pending_.push_back({{.key = key}, std::move(call), Answer{Answer::Kind::refused, std::move(why)}});
  set_alarm_();
}

void ForeignOrders::send_those_that_are_next() {
  std::set<Number> busy;
  for (Pending& each : pending_) {
    if (each.answer) continue;
    const bool is_next = each.order.job == 0 || busy.insert(each.order.job).second;
    if (!is_next || each.sent != kNever) continue;
    each.sent = loop_.now();
    ++each.tries;
    line_.order(each.order);
  }
  set_alarm_();
}

void ForeignOrders::hear(const Line::Reply& reply) {
  const auto found = std::ranges::find_if(pending_, [&](const Pending& each) {
    return !each.answer && each.order.key == reply.key && each.sent != kNever;
  });
  if (found == pending_.end()) return;  // it was answered before
  const bool is_new_job = found->order.kind == ClientOrder::Kind::submit;
  Answer answer;
  if (reply.answer.refusal) {
    answer = {Answer::Kind::refused, *reply.answer.refusal};
  } else {
    answer.number = is_new_job ? reply.answer.job : 0;
  }
  const Call call = std::move(found->call);
  pending_.erase(found);
  send_those_that_are_next();
  call(answer);
}

// One that was sent for the last time is waited for as long as the others: nothing of it is on its way then.
void ForeignOrders::look() {
  std::vector<std::pair<Call, Answer>> answers;
  for (Pending& each : pending_) {
    const bool is_late = !each.answer && each.sent != kNever && each.sent + kPatience <= loop_.now();
    if (!is_late) continue;
    each.sent = kNever;
    if (each.tries == kTries) each.answer = Answer{Answer::Kind::unknown, "the manager has not answered."};
  }
  std::erase_if(pending_, [&](Pending& each) {
    if (each.answer) answers.emplace_back(std::move(each.call), std::move(*each.answer));
    return each.answer.has_value();
  });
  send_those_that_are_next();
  for (const auto& [call, answer] : answers) call(answer);
}

Instant ForeignOrders::next() const {
  Instant next = kNever;
  for (const Pending& each : pending_) {
    if (each.answer) return loop_.now();
    if (each.sent != kNever) next = std::min(next, each.sent + kPatience);
  }
  return next;
}

}  // namespace rota::foreign
