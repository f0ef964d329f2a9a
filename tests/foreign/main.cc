// Runs seeds of the foreign cluster, each twice, and says what came of them.
// Usage: tests_foreign [--seeds N] [--first N] [--tell SEED]
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "foreign/world.h"

int main(int argc, char** argv) {
  std::uint64_t seeds = 200;
  std::uint64_t first = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seeds") seeds = value;
    if (flag == "--first") first = value;
    if (flag == "--tell") {
      const auto verdict = rota::foreign::run_seed(value, true);
      std::puts(verdict.failure ? verdict.failure->c_str() : "all is well");
      return verdict.failure ? 1 : 0;
    }
  }
  rota::foreign::Tally tally;
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const auto once = rota::foreign::run_seed(seed);
    const auto twice = rota::foreign::run_seed(seed);
    tally.add(once.tally);
    std::string wrong = once.failure.value_or("");
    if (wrong.empty() && once.hash != twice.hash) wrong = "the same seed goes otherwise the second time";
    if (wrong.empty()) continue;
    if (++failed > 10) continue;
    std::puts(fmt::format("seed {}: {}", seed, wrong).c_str());
  }
  std::puts(tally.text().c_str());
  std::puts(fmt::format("{} of {} seeds failed", failed, seeds).c_str());
  return failed == 0 ? 0 : 1;
}
