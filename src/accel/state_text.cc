#include "accel/state_text.h"

#include <fmt/core.h>

namespace rota::accel {
namespace {

std::string in_json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return quoted + '"';
}

// One member more; what is not known (-1) is left out.
void add(std::string& object, const char* name, std::int64_t value) {
  if (value >= 0) object += fmt::format("{}\"{}\":{}", object.back() == '{' ? "" : ",", name, value);
}
void add(std::string& object, const char* name, std::uint64_t value) {
  add(object, name, static_cast<std::int64_t>(value));
}

std::string device_text(const Planner& planner) {
  const Device& device = planner.device();
  const rota_accel_state state = planner.state();
  std::string operations;
  for (const std::string& one : device.operations()) operations += (operations.empty() ? "" : " ") + one;
  std::string object =
      fmt::format(R"({{"backend":{},"description":{},"operations":{},"state":"{}")", in_json(device.name()),
                  in_json(device.description()), in_json(operations), device.lost() ? "lost" : "up");
  add(object, "memory", state.memory_bytes);
  add(object, "memory_used", state.memory_used_bytes);
  add(object, "busy_permille", state.busy_permille);
  add(object, "temperature", state.temperature);
  add(object, "errors", state.errors);
  add(object, "crashes", device.crashes());
  return object + "}";
}

}  // namespace

std::string state_text(const Pipeline& pipeline, const Admission& admission, std::size_t clients) {
  const auto up = std::chrono::steady_clock::now() - pipeline.begun;
  std::string object =
      fmt::format(R"({{"state":"{}","epoch":"{:016x}")", pipeline.draining ? "draining" : "up", pipeline.epoch);
  add(object, "up_seconds", std::chrono::duration_cast<std::chrono::seconds>(up).count());
  add(object, "clients", clients);
  add(object, "memory", pipeline.memory.limit());
  add(object, "memory_used", pipeline.memory.used());
  add(object, "waiting", admission.count(TaskState::waiting));
  add(object, "receiving", admission.count(TaskState::receiving));
  add(object, "complete", admission.count(TaskState::complete));
  add(object, "computing", admission.count(TaskState::queued));
  add(object, "answering", admission.count(TaskState::answering));
  const Counts& counts = pipeline.counts;
  add(object, "submitted", counts.submitted.load());
  add(object, "done", counts.done.load());
  add(object, "failed", counts.failed.load());
  add(object, "cancelled", counts.cancelled.load());
  add(object, "dropped", counts.dropped.load());
  add(object, "rejected", counts.rejected.load());
  add(object, "bytes_in", counts.bytes_in.load());
  add(object, "bytes_out", counts.bytes_out.load());
  add(object, "computed_us", counts.computed_us.load());
  object += ",\"devices\":[";
  for (std::size_t i = 0; i < pipeline.planners.size(); ++i)
    object += (i == 0 ? "" : ",") + device_text(*pipeline.planners[i]);
  return object + "]}";
}

}  // namespace rota::accel
