// Bindings of slots a second (policy/bind/slots.h) while jobs come and go: 50 jobs of 32 slots run in a rack of so many
// nodes, of which a third have accelerators; the oldest ends when the next one starts, and after every hundredth job an
// accelerator node goes and comes back.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "policy/bind/slots.h"

namespace rota {
namespace {

constexpr std::size_t kJobs = 50;
constexpr std::size_t kSlotsOfAJob = 32;
constexpr RackId kRack{0};

void bind_slots(benchmark::State& state) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const std::uint32_t hosts = nodes / 3;
  SlotBinding binding;
  for (std::uint32_t n = 0; n < hosts; ++n) binding.join({n}, kRack);
  Random random(1);
  std::vector<std::uint32_t> free(kJobs * kSlotsOfAJob);
  std::iota(free.begin(), free.end(), 0U);
  std::deque<std::vector<SlotId>> running;
  std::uint64_t jobs = 0;
  for ([[maybe_unused]] auto _ : state) {
    if (running.size() == kJobs) {
      binding.close(running.front());
      for (const SlotId slot : running.front()) free.push_back(slot.value);
      running.pop_front();
    }
    std::vector<SlotId>& job = running.emplace_back();
    for (std::size_t i = 0; i < kSlotsOfAJob; ++i) {
      job.push_back({free.back()});
      free.pop_back();
      binding.open(job.back(), {static_cast<std::uint32_t>(random.between(0, nodes - 1))}, kRack);
    }
    if (++jobs % 100 == 0) {
      const NodeId host{static_cast<std::uint32_t>(random.between(0, hosts - 1))};
      binding.leave(host);
      binding.join(host, kRack);
    }
    benchmark::DoNotOptimize(binding.take_moves());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(binding.bindings()));
  state.counters["moved"] = static_cast<double>(binding.moved());
}
BENCHMARK(bind_slots)->Arg(16)->Arg(150)->Arg(3000);

}  // namespace
}  // namespace rota
