#include "accel_matrix/matrix.h"

namespace rota::accel_matrix {

Ending fill_seeded(Matrix a, std::int64_t seed, bool dominant, const Cancelled& cancelled) {
  constexpr int kBlock = 256;
  auto state = static_cast<std::uint64_t>(seed);
  for (int column = 0; column < a.order; ++column) {
    if (column % kBlock == 0 && cancelled()) return {.cancelled = true};
    double* entry = a.at(0, column);
    for (int row = 0; row < a.order; ++row) {
      state += 0x9e3779b97f4a7c15U;
      std::uint64_t bits = state;
      bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
      bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
      bits ^= bits >> 31U;
      entry[row] = static_cast<double>(bits >> 11U) * 0x1p-53 - 0.5;
    }
    if (dominant) entry[column] += a.order;
  }
  return {};
}

}  // namespace rota::accel_matrix
