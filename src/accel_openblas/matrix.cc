#include "accel_openblas/matrix.h"

#include <cblas.h>
#include <lapack.h>

#include <algorithm>
#include <cstddef>

namespace rota::accel_openblas {
namespace {

constexpr int kOne = 1;

struct Range {
  int begin, end;
};

void swap_rows(Matrix a, Range columns, Range rows, const std::int32_t* pivots) {
  const int width = columns.end - columns.begin;
  const int first = rows.begin + 1;
  if (width > 0) LAPACK_dlaswp(&width, a.at(0, columns.begin), &a.order, &first, &rows.end, pivots, &kOne);
}

}  // namespace

Ending factor_lu(Matrix a, std::span<std::int32_t> pivots, const Cancelled& cancelled) {
  const int n = a.order;
  Ending ending;
  for (int j = 0; j < n; j += kBlock) {
    if (cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    const int rows = n - j;
    int info = 0;
    LAPACK_dgetrf(&rows, &width, a.at(j, j), &n, pivots.data() + j, &info);
    if (info > 0 && ending.bad_pivot == 0) ending.bad_pivot = j + info;
    for (int i = j; i < j + width; ++i) pivots[static_cast<std::size_t>(i)] += j;
    swap_rows(a, {0, j}, {j, j + width}, pivots.data());
    const int right = n - j - width;
    swap_rows(a, {j + width, n}, {j, j + width}, pivots.data());
    if (right == 0) continue;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, width, right, 1.0, a.at(j, j), n,
                a.at(j, j + width), n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, right, right, width, -1.0, a.at(j + width, j), n,
                a.at(j, j + width), n, 1.0, a.at(j + width, j + width), n);
  }
  return ending;
}

Ending factor_cholesky(Matrix a, const Cancelled& cancelled) {
  const int n = a.order;
  for (int j = 0; j < n; j += kBlock) {
    if (cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    int info = 0;
    LAPACK_dpotrf("L", &width, a.at(j, j), &n, &info);
    if (info > 0) return {.bad_pivot = j + info};
    const int below = n - j - width;
    if (below == 0) continue;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below, width, 1.0, a.at(j, j), n,
                a.at(j + width, j), n);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, below, width, -1.0, a.at(j + width, j), n, 1.0,
                a.at(j + width, j + width), n);
  }
  return {};
}

std::uint64_t qr_work(int order) {
  const auto width = static_cast<std::uint64_t>(std::min(kBlock, order));
  return width * width + width * static_cast<std::uint64_t>(order);
}

Ending factor_qr(Matrix a, std::span<double> tau, std::span<double> work, const Cancelled& cancelled) {
  const int n = a.order;
  const int most = std::min(kBlock, n);
  double* t = work.data();
  double* rest = t + static_cast<std::ptrdiff_t>(most) * most;
  const int rest_size = most * n;
  for (int j = 0; j < n; j += kBlock) {
    if (cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    const int rows = n - j;
    int info = 0;
    LAPACK_dgeqrf(&rows, &width, a.at(j, j), &n, tau.data() + j, rest, &rest_size, &info);
    const int right = n - j - width;
    if (right == 0) continue;
    LAPACK_dlarft("F", "C", &rows, &width, a.at(j, j), &n, tau.data() + j, t, &most);
    LAPACK_dlarfb("L", "T", "F", "C", &rows, &right, &width, a.at(j, j), &n, t, &most, a.at(j, j + width), &n, rest,
                  &n);
  }
  return {};
}

Ending multiply(Matrix a, Matrix b, Matrix c, const Cancelled& cancelled) {
  const int n = a.order;
  for (int j = 0; j < n; j += kBlock) {
    if (cancelled()) return {.cancelled = true};
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, std::min(kBlock, n - j), n, 1.0, a.entries, n, b.at(0, j),
                n, 0.0, c.at(0, j), n);
  }
  return {};
}

Ending fill_seeded(Matrix a, std::int64_t seed, bool dominant, const Cancelled& cancelled) {
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

}  // namespace rota::accel_openblas
