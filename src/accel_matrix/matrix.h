// Square matrices of doubles, column by column, as the backends of linear algebra share them.
#pragma once

#include <cstdint>
#include <functional>

namespace rota::accel_matrix {

// Asked between blocks of columns.
using Cancelled = std::function<bool()>;

struct Matrix {
  double* entries;
  int order;

  std::uint64_t size() const { return static_cast<std::uint64_t>(order) * static_cast<std::uint64_t>(order); }
  double* at(int row, int column) const { return entries + row + static_cast<std::int64_t>(column) * order; }
};

// How a factorization ends: it is done, or was cancelled, or the entry of the diagonal with this number (from 1) makes
// the matrix singular or not positive definite.
struct Ending {
  bool cancelled = false;
  int bad_pivot = 0;
};

// Entry number k, column by column from 0, is the number k + 1 of the sequence splitmix64 that begins at the seed, as a
// number from -0.5 up to 0.5: any program can make the matrix again. `dominant`: the order is added to the diagonal, so
// that the lower triangle is that of a positive definite matrix.
Ending fill_seeded(Matrix a, std::int64_t seed, bool dominant, const Cancelled& cancelled);

}  // namespace rota::accel_matrix
