#include "accel/pipeline.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

namespace rota::accel {
namespace {

std::uint64_t new_epoch() {
  std::uint64_t epoch = 0;
  while (epoch == 0) {
    if (::getrandom(&epoch, sizeof epoch, 0) != sizeof epoch) epoch = 0;
  }
  return epoch;
}

}  // namespace

Pipeline::Pipeline(ContainerOptions given, std::vector<std::unique_ptr<Device>> opened)
    : options(std::move(given)),
      devices(std::move(opened)),
      key(options.token.empty() ? nullptr : std::make_shared<const TlsKey>(options.token, Side::container)),
      epoch(new_epoch()),
      memory(options.memory, [this] { reader.ring(); }),
      ready(options.queue_places),
      computed(options.queue_places) {
  for (const auto& device : devices) {
    device->share(memory.shared());
    planners.push_back(std::make_unique<Planner>(*device, [this] { reader.ring(); }));
  }
}

void Pipeline::send(const SessionPtr& session, FrameHeader header, std::span<const std::byte> payload) {
  if (!session->broken() && session->add_message(framed(header, payload))) look_at(session);
}

void Pipeline::look_at(const SessionPtr& session) {
  {
    const std::lock_guard lock(mutex_);
    to_look_at_.push_back(session);
  }
  writer.ring();
}

void Pipeline::refuse(const SessionPtr& session, std::uint64_t task, std::uint32_t attempt, const Refusal& refusal) {
  ++(refusal.outcome == ROTA_ACCEL_CANCELLED ? counts.cancelled : counts.failed);
  send(session, {.type = FrameType::error, .task = task, .attempt = attempt}, encoded(refusal));
}

std::vector<SessionPtr> Pipeline::sessions_to_look_at() {
  const std::lock_guard lock(mutex_);
  return std::exchange(to_look_at_, {});
}

Planner* Pipeline::planner_for(const char* operation) const {
  const auto has_it = [&](const auto& one) {
    const auto& all = one->device().operations();
    return std::ranges::find(all, operation) != all.end();
  };
  const auto found = std::ranges::find_if(planners, has_it);
  return found == planners.end() ? nullptr : found->get();
}

bool Pipeline::on_cores() const {
  return std::ranges::all_of(devices,
                             [](const auto& one) { return one->name() == "openblas" || one->name() == "images"; });
}

std::string Pipeline::operations() const {
  std::string all;
  for (const auto& device : devices)
    for (const std::string& operation : device->operations()) all += (all.empty() ? "" : " ") + operation;
  return all;
}

}  // namespace rota::accel
