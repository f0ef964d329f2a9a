#include "accel/backend.h"

#include <dlfcn.h>

#include <array>

#include "base/file.h"
#include "base/text.h"

namespace rota::accel {
namespace {

using Why = std::array<char, 512>;

rota_accel_outcome outcome_of(int code) {
  // A number that no outcome has is a defect of the backend; the task may do well elsewhere.
  if (code < ROTA_ACCEL_DONE || code >= ROTA_ACCEL_LEAVING) return ROTA_ACCEL_UNSUPPORTED;
  return static_cast<rota_accel_outcome>(code);
}

Refusal refusal_of(int code, Why& why) {
  why.back() = '\0';
  return {outcome_of(code), why.data()};
}

std::vector<std::string> places_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  return places_of_shared_object("librota-accel-" + name + ".so");
}

struct Unload {
  void operator()(void* object) const { ::dlclose(object); }
};
using Object = std::unique_ptr<void, Unload>;

class DeviceHere : public Device {
 public:
  DeviceHere(Object object, const rota_accel_backend& backend, rota_accel_device* device)
      : object_(std::move(object)), backend_(&backend), device_(device) {
    for (const char* const* name = backend.operations; *name != nullptr; ++name) operations_.emplace_back(*name);
  }
  ~DeviceHere() override { backend_->close(device_); }

  std::string name() const override { return backend_->name; }
  std::string description() const override;
  const std::vector<std::string>& operations() const override { return operations_; }
  bool lost() const override { return lost_; }
  rota_accel_state state() override;
  void share(const SharedMemory& memory) override;
  Refusal plan(const rota_accel_header& header, rota_accel_plan& plan) override;
  Refusal run(const rota_accel_run& run) override;

 private:
  Object object_;  // none: it is part of the program
  const rota_accel_backend* backend_;
  rota_accel_device* device_;
  std::vector<std::string> operations_;
  std::atomic<bool> lost_ = false;
};

std::string DeviceHere::description() const {
  Why text{};
  backend_->describe(device_, text.data(), text.size());
  text.back() = '\0';
  return one_line(text.data());
}

rota_accel_state DeviceHere::state() {
  rota_accel_state state{-1, -1, -1, -1, -1};
  backend_->state(device_, &state);
  return state;
}

void DeviceHere::share(const SharedMemory& memory) {
  if (backend_->share != nullptr) backend_->share(device_, memory.bytes.data(), memory.bytes.size());
}

Refusal DeviceHere::plan(const rota_accel_header& header, rota_accel_plan& plan) {
  if (lost_) return {ROTA_ACCEL_DEVICE_LOST, "the device was lost; restart its container"};
  Why why{};
  plan = {};
  const int code = backend_->plan(device_, &header, &plan, why.data(), why.size());
  return code == ROTA_ACCEL_DONE ? checked(plan, header.payload_bytes) : refusal_of(code, why);
}

Refusal DeviceHere::run(const rota_accel_run& run) {
  if (lost_) return {ROTA_ACCEL_DEVICE_LOST, "the device was lost; restart its container"};
  Why why{};
  const int code = backend_->run(device_, &run, why.data(), why.size());
  if (code == ROTA_ACCEL_DEVICE_LOST) lost_ = true;
  return refusal_of(code, why);
}

Result<std::unique_ptr<Device>> opened(Object object, const rota_accel_backend& backend, const std::string& config) {
  rota_accel_device* device = nullptr;
  Why why{};
  if (backend.open(config.c_str(), &device, why.data(), why.size()) != ROTA_ACCEL_DONE)
    return fail("the backend {} cannot begin: {}", backend.name, refusal_of(ROTA_ACCEL_BAD_TASK, why).why);
  return std::make_unique<DeviceHere>(std::move(object), backend, device);
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(const std::string& named) {
  const auto equals = named.find('=');
  const std::string name = named.substr(0, equals);
  const std::string config = equals == std::string::npos ? "" : named.substr(equals + 1);
  std::string why;
  Object object;
  for (const std::string& place : places_of(name)) {
    if (object) break;
    object.reset(::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!object) why = ::dlerror();
  }
  if (!object)
    return fail("the backend {} cannot be opened ({}); docs/accelerators.md says where backends come from.",
                rota::quoted(name), one_line(why));
  const auto entry =
      reinterpret_cast<decltype(rota_accel_backend_entry)*>(::dlsym(object.get(), "rota_accel_backend_entry"));
  if (entry == nullptr)
    return fail("{} is no backend: it has no rota_accel_backend_entry; accel/backend_abi.h describes one.",
                rota::quoted(name));
  const rota_accel_backend* backend = entry();
  if (backend == nullptr || backend->abi != ROTA_ACCEL_BACKEND_ABI)
    return fail("the backend {} is of another version than this program; take both from one build.",
                rota::quoted(name));
  return opened(std::move(object), *backend, config);
}

Result<std::unique_ptr<Device>> Device::open(const rota_accel_backend& backend, const std::string& config) {
  return opened({}, backend, config);
}

Refusal Device::checked(const rota_accel_plan& plan, std::uint64_t payload) {
  if (plan.buffer_bytes > 0 && payload <= plan.buffer_bytes && plan.result_offset <= plan.buffer_bytes &&
      plan.result_bytes <= plan.buffer_bytes - plan.result_offset)
    return {ROTA_ACCEL_DONE, ""};
  return {ROTA_ACCEL_UNSUPPORTED, "the backend has planned a buffer that does not hold payload and result"};
}

}  // namespace rota::accel
