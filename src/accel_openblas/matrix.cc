#include "accel_openblas/matrix.h"

#include <cblas.h>

#include <algorithm>
#include <cstddef>

// LAPACK as Fortran has it: all arguments by address, and the length of each text behind them.
extern "C" {
void dgetrf_(const int* rows, const int* columns, double* a, const int* stride, std::int32_t* pivots, int* info);
void dlaswp_(const int* columns, double* a, const int* stride, const int* first, const int* last,
             const std::int32_t* pivots, const int* step);
void dpotrf_(const char* triangle, const int* order, double* a, const int* stride, int* info, std::size_t length);
void dgeqrf_(const int* rows, const int* columns, double* a, const int* stride, double* tau, double* work,
             const int* work_size, int* info);
void dlarft_(const char* direction, const char* stored, const int* rows, const int* reflectors, const double* v,
             const int* v_stride, const double* tau, double* t, const int* t_stride, std::size_t length1,
             std::size_t length2);
void dlarfb_(const char* side, const char* transposed, const char* direction, const char* stored, const int* rows,
             const int* columns, const int* reflectors, const double* v, const int* v_stride, const double* t,
             const int* t_stride, double* c, const int* c_stride, double* work, const int* work_stride,
             std::size_t length1, std::size_t length2, std::size_t length3, std::size_t length4);
}

namespace rota::accel_openblas {
namespace {

constexpr int kOne = 1;

void swap_rows(Matrix a, int first_column, int columns, int first, int last, const std::int32_t* pivots) {
  const int from = first + 1;
  if (columns > 0) dlaswp_(&columns, a.at(0, first_column), &a.order, &from, &last, pivots, &kOne);
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
    dgetrf_(&rows, &width, a.at(j, j), &n, pivots.data() + j, &info);
    if (info > 0 && ending.bad_pivot == 0) ending.bad_pivot = j + info;
    for (int i = j; i < j + width; ++i) pivots[static_cast<std::size_t>(i)] += j;
    swap_rows(a, 0, j, j, j + width, pivots.data());
    const int right = n - j - width;
    swap_rows(a, j + width, right, j, j + width, pivots.data());
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
    dpotrf_("L", &width, a.at(j, j), &n, &info, 1);
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
    dgeqrf_(&rows, &width, a.at(j, j), &n, tau.data() + j, rest, &rest_size, &info);
    const int right = n - j - width;
    if (right == 0) continue;
    dlarft_("F", "C", &rows, &width, a.at(j, j), &n, tau.data() + j, t, &most, 1, 1);
    dlarfb_("L", "T", "F", "C", &rows, &right, &width, a.at(j, j), &n, t, &most, a.at(j, j + width), &n, rest, &n, 1, 1,
            1, 1);
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
