#include "accel_matrix/device.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

namespace rota::accel_matrix {
namespace {

using std::uint64_t;

constexpr int kMostOrder = 46'340;                 // its square fits into 31 bits
constexpr std::int64_t kMostBytes = 1LL << 40U;    // the most that a task is sent or sends
constexpr std::int64_t kMostWait = 3'600'000'000;  // microseconds
constexpr uint64_t kAlignment = 4096;

constexpr std::size_t kOrder = 0, kSeeded = 1, kSeed = 2, kAnswer = 3;  // places among the parameters

int fail(int outcome, char* why, std::size_t size, const char* sentence, long long number = 0) {
  if (size > 0) std::snprintf(why, size, sentence, number);
  return outcome;
}

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is(const rota_accel_header& header, std::string_view name) { return name == header.operation; }

// Where the parts of a task lie, from one beginning: that of the buffer, or of the scratch where the matrices are made
// from a seed. The matrix that is factored lies first and what belongs to it behind it; they are the result.
struct Layout {
  int order;
  uint64_t square;         // bytes of one matrix
  uint64_t sent;           // bytes of matrices that a payload holds
  uint64_t result_offset;  // where the parts begin
  uint64_t result;
  uint64_t parts;  // up to their end
  uint64_t work;   // scratch beside them
};

Layout layout_of(const rota_accel_device& device, const rota_accel_header& header) {
  Layout layout{};
  layout.order = static_cast<int>(header.parameters[kOrder]);
  const auto n = static_cast<uint64_t>(layout.order);
  layout.square = layout.sent = layout.result = n * n * sizeof(double);
  if (is(header, "lu")) layout.result += n * sizeof(std::int32_t);
  if (is(header, "qr")) layout.result += n * sizeof(double);
  if (is(header, "gemm")) {
    layout.sent *= 2;
    layout.result_offset = aligned(layout.sent);
  }
  layout.parts = layout.result_offset + layout.result;
  layout.work = device.work(header.operation, layout.order) * sizeof(double);
  return layout;
}

int plan_noop(const rota_accel_header& header, rota_accel_plan& plan, char* why, std::size_t size) {
  if (header.parameters[0] < 0 || header.parameters[0] > kMostWait)
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "noop waits for 0 to 3,600,000,000 microseconds, not %lld",
                header.parameters[0]);
  plan = {std::max<uint64_t>(1, header.payload_bytes), 0, header.payload_bytes, 0};
  return ROTA_ACCEL_DONE;
}

int plan_seeded(const rota_accel_header& header, const Layout& layout, rota_accel_plan& plan, char* why,
                std::size_t size) {
  const uint64_t most = std::max(header.payload_bytes, layout.result);
  const std::int64_t answer = header.parameters[kAnswer];
  if (answer < 0 || static_cast<uint64_t>(answer) > most)
    return fail(ROTA_ACCEL_BAD_TASK, why, size,
                "an answer has from 0 bytes to those of the payload or of the whole result, not %lld", answer);
  const auto bytes = static_cast<uint64_t>(answer);
  plan = {std::max({uint64_t{1}, header.payload_bytes, bytes}), 0, bytes, aligned(layout.parts) + layout.work};
  return ROTA_ACCEL_DONE;
}

int plan(rota_accel_device* device, const rota_accel_header* given, rota_accel_plan* plan, char* why,
         std::size_t size) {
  const rota_accel_header& header = *given;
  if (header.payload_bytes > static_cast<uint64_t>(kMostBytes))
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "a payload has at most %lld bytes", kMostBytes);
  if (is(header, "noop")) return plan_noop(header, *plan, why, size);
  const std::int64_t order = header.parameters[kOrder];
  if (order < 1 || order > kMostOrder)
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "the order n of a matrix is from 1 to 46340, not %lld", order);
  const Layout layout = layout_of(*device, header);
  if (header.parameters[kSeeded] == 1) return plan_seeded(header, layout, *plan, why, size);
  if (header.parameters[kSeeded] != 0)
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "parameter 1 is 0 (a matrix is sent) or 1 (made from a seed), not %lld",
                header.parameters[kSeeded]);
  if (header.payload_bytes != layout.sent)
    return fail(ROTA_ACCEL_BAD_TASK, why, size, "matrices of this order are sent as %lld bytes; or give a seed for one",
                static_cast<long long>(layout.sent));
  *plan = {layout.parts, layout.result_offset, layout.result, layout.work};
  return ROTA_ACCEL_DONE;
}

int wait(const rota_accel_run& run, const Cancelled& cancelled) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(run.header.parameters[0]);
  while (run.header.parameters[0] > 0) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= 0ns) break;
    if (cancelled()) return ROTA_ACCEL_CANCELLED;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 10ms));
  }
  return ROTA_ACCEL_DONE;
}

Ending fill(const rota_accel_header& header, const Layout& layout, std::byte* parts, const Cancelled& cancelled) {
  const std::int64_t seed = header.parameters[kSeed];
  auto* first = reinterpret_cast<double*>(parts);
  const Matrix a{first, layout.order};
  Ending ending = fill_seeded(a, seed, is(header, "cholesky"), cancelled);
  if (is(header, "gemm") && !ending.cancelled)
    ending = fill_seeded({first + a.size(), layout.order}, seed + 1, false, cancelled);
  return ending;
}

Ending compute(rota_accel_device& device, const rota_accel_header& header, const Layout& layout, std::byte* parts,
               const Aid& aid) {
  const auto order = static_cast<std::size_t>(layout.order);
  const Matrix a{reinterpret_cast<double*>(parts), layout.order};
  std::byte* behind = parts + layout.square;
  if (is(header, "lu")) return device.lu(a, {reinterpret_cast<std::int32_t*>(behind), order}, aid);
  if (is(header, "cholesky")) return device.cholesky(a, aid);
  if (is(header, "qr")) return device.qr(a, {reinterpret_cast<double*>(behind), order}, aid);
  const Matrix b{reinterpret_cast<double*>(behind), layout.order};
  return device.multiply(a, b, {reinterpret_cast<double*>(parts + layout.result_offset), layout.order}, aid);
}

int run_task(rota_accel_device& device, const rota_accel_run& run, char* why, std::size_t size) {
  const Cancelled cancelled = [&] { return run.cancelled(run.context) != 0; };
  if (is(run.header, "noop")) return wait(run, cancelled);
  const Layout layout = layout_of(device, run.header);
  const bool seeded = run.header.parameters[kSeeded] == 1;
  auto* buffer = static_cast<std::byte*>(run.buffer);
  auto* scratch = static_cast<std::byte*>(run.scratch);
  std::byte* parts = seeded ? scratch : buffer;
  auto* work = reinterpret_cast<double*>(seeded ? scratch + aligned(layout.parts) : scratch);
  Ending ending;
  if (seeded) ending = fill(run.header, layout, parts, cancelled);
  if (!ending.cancelled)
    ending = compute(device, run.header, layout, parts, {{work, layout.work / sizeof(double)}, cancelled});
  if (ending.cancelled) return ROTA_ACCEL_CANCELLED;
  if (ending.bad_pivot > 0)
    return fail(ROTA_ACCEL_NUMERIC, why, size,
                is(run.header, "lu") ? "the matrix is singular: pivot %lld is zero"
                                     : "the matrix is not positive definite: pivot %lld is not above zero",
                ending.bad_pivot);
  if (seeded) std::memcpy(buffer, parts + layout.result_offset, std::min(run.plan.result_bytes, layout.result));
  return ROTA_ACCEL_DONE;
}

int run(rota_accel_device* device, const rota_accel_run* given, char* why, std::size_t size) {
  try {
    return run_task(*device, *given, why, size);
  } catch (const Failure& failure) {
    return failed(failure, why, size);
  } catch (const std::bad_alloc&) {
    return failed({ROTA_ACCEL_NO_MEMORY, "the system gives the backend no memory"}, why, size);
  }
}

void describe(rota_accel_device* device, char* text, std::size_t size) {
  std::snprintf(text, size, "%s", device->description().c_str());
}

void state(rota_accel_device* device, rota_accel_state* state) { *state = device->state(); }
void share(rota_accel_device* device, void* memory, std::size_t bytes) { device->share(memory, bytes); }
void close_device(rota_accel_device* device) { delete device; }

constexpr std::array<const char*, 6> kOperations{"lu", "qr", "cholesky", "gemm", "noop", nullptr};

// The highest that the system knows of, in degrees; -1: none.
std::int64_t temperature() {
  std::int64_t highest = -1;
  for (int zone = 0; zone < 16; ++zone) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/sys/class/thermal/thermal_zone%d/temp", zone);
    std::FILE* file = std::fopen(path.data(), "re");
    if (file == nullptr) break;
    long long thousandths = -1;
    if (std::fscanf(file, "%lld", &thousandths) == 1)
      highest = std::max<std::int64_t>(highest, thousandths < 0 ? -1 : thousandths / 1000);
    std::fclose(file);
  }
  return highest;
}

}  // namespace

rota_accel_state state_of_node() {
  struct sysinfo node{};
  rota_accel_state state{-1, -1, -1, temperature(), -1};
  if (::sysinfo(&node) != 0) return state;
  state.memory_bytes = static_cast<std::int64_t>(node.totalram) * node.mem_unit;
  state.memory_used_bytes =
      state.memory_bytes - static_cast<std::int64_t>(node.freeram + node.bufferram) * node.mem_unit;
  return state;
}

int failed(const Failure& failure, char* why, std::size_t size) {
  if (size > 0) std::snprintf(why, size, "%s", failure.why.c_str());
  return failure.outcome;
}

rota_accel_backend backend_named(const char* name, decltype(rota_accel_backend::open) open) {
  return {ROTA_ACCEL_BACKEND_ABI, name,  kOperations.data(), open, &describe, &plan, &run, &state,
          &close_device,          &share};
}

}  // namespace rota::accel_matrix
