// Square matrices of doubles, column by column, and LAPACK on them in blocks, between which a task may be cancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace rota::accel_openblas {

// Asked between blocks of so many columns.
inline constexpr int kBlock = 256;
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

// In place. `pivots`: order numbers, as dgetrf gives them (rows from 1).
Ending factor_lu(Matrix a, std::span<std::int32_t> pivots, const Cancelled& cancelled);
// In place, the lower triangle; what is above it is neither read nor changed.
Ending factor_cholesky(Matrix a, const Cancelled& cancelled);
// In place. `tau`: order numbers, as dgeqrf gives them. `work`: qr_work(order) numbers.
Ending factor_qr(Matrix a, std::span<double> tau, std::span<double> work, const Cancelled& cancelled);
std::uint64_t qr_work(int order);
// c = a b
Ending multiply(Matrix a, Matrix b, Matrix c, const Cancelled& cancelled);

// Entry number k, column by column from 0, is the number k + 1 of the sequence splitmix64 that begins at the seed, as a
// number from -0.5 up to 0.5: any program can make the matrix again. `dominant`: the order is added to the diagonal, so
// that the lower triangle is that of a positive definite matrix.
Ending fill_seeded(Matrix a, std::int64_t seed, bool dominant, const Cancelled& cancelled);

}  // namespace rota::accel_openblas
