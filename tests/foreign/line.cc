#include "foreign/line.h"

namespace rota::foreign {

void Line::send(Message message) {
  message.life = life_;
  if (chance_.chance(faults_.loses)) return;
  const Duration takes{faults_.longest > Duration{0} ? chance_.between(0, faults_.longest.count()) : 0};
  on_the_way_.emplace(std::pair(loop_.now() + takes, ++messages_), std::move(message));
  loop_.set(*this, on_the_way_.begin()->first.first);
}

void Line::ring() {
  while (!on_the_way_.empty() && on_the_way_.begin()->first.first <= loop_.now()) {
    const auto next = on_the_way_.extract(on_the_way_.begin());
    arrive(next.mapped());
  }
  if (!on_the_way_.empty()) loop_.set(*this, on_the_way_.begin()->first.first);
}

void Line::arrive(const Message& message) {
  if (!message.to_cluster) {
    if (!end_ || message.life != life_) return;
    if (const auto* listing = std::get_if<Listing>(&message.what)) end_->hear(*listing);
    if (const auto* done = std::get_if<Done>(&message.what)) end_->hear(*done);
    if (const auto* reply = std::get_if<Reply>(&message.what)) end_->hear(*reply);
    return;
  }
  cluster_.run_to(loop_.now());
  if (const auto* order = std::get_if<Order>(&message.what)) {
    if (cluster_.away()) return;
    const Done done = carry_out(*order);
    if (message.life == life_) send({false, done});
  } else if (const auto* wish = std::get_if<ClientOrder>(&message.what)) {
    if (!cluster_.away()) answer(message.life, {wish->key, cluster_.carry_out(*wish)});
  } else if (!cluster_.away() && message.life == life_) {
    send({false, cluster_.listing()});
  }
}

void Line::answer(std::uint64_t life, Reply reply) {
  if (life == life_) send({false, std::move(reply)});
}

Line::Done Line::carry_out(const Order& order) {
  Result<void> done;
  switch (order.kind) {
    case Order::Kind::start:
      done = cluster_.start(order.number, order.where);
      break;
    case Order::Kind::cancel:
      done = cluster_.cancel(order.number);
      break;
    case Order::Kind::requeue:
      done = cluster_.requeue(order.number);
      break;
  }
  return {order, cluster_.now(), done ? std::nullopt : std::optional(done.error().message)};
}

}  // namespace rota::foreign
