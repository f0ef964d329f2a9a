// A backend for tests, which does with its process what no backend should. Operations: `crash` writes to where nothing
// is; `leave` ends the process; `loop` computes on whatever is wished, and for ever; `next` adds one to each byte. It
// does not open as long as the file is there that it is configured with.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>

#include "accel/backend_abi.h"

namespace {

constexpr std::array<const char*, 5> kOperations{"crash", "leave", "loop", "next", nullptr};

int run(rota_accel_device* /*device*/, const rota_accel_run* run, char* /*why*/, std::size_t /*size*/) {
  const std::string_view name = run->header.operation;
  if (name == "crash") std::raise(SIGSEGV);
  if (name == "leave") ::_exit(3);
  while (name == "loop") ::pause();
  auto* bytes = static_cast<unsigned char*>(run->buffer);
  std::for_each(bytes, bytes + run->header.payload_bytes, [](unsigned char& byte) { ++byte; });
  return ROTA_ACCEL_DONE;
}

int plan(rota_accel_device* /*device*/, const rota_accel_header* header, rota_accel_plan* plan, char* /*why*/,
         std::size_t /*size*/) {
  *plan = {std::max<std::uint64_t>(1, header->payload_bytes), 0, header->payload_bytes, 0};
  return ROTA_ACCEL_DONE;
}

constexpr rota_accel_backend kBackend{
    .abi = ROTA_ACCEL_BACKEND_ABI,
    .name = "faulty",
    .operations = kOperations.data(),
    .open = [](const char* config, rota_accel_device** device, char* /*why*/, std::size_t /*size*/) -> int {
      while (::access(config, F_OK) == 0) ::poll(nullptr, 0, 10);
      *device = nullptr;
      return ROTA_ACCEL_DONE;
    },
    .describe = [](rota_accel_device* /*device*/, char* text, std::size_t size) { std::strncpy(text, "faulty", size); },
    .plan = &plan,
    .run = &run,
    .state = [](rota_accel_device* /*device*/, rota_accel_state* state) { *state = {-1, -1, -1, -1, -1}; },
    .close = [](rota_accel_device* /*device*/) {},
    .share = nullptr};

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) { return &kBackend; }
