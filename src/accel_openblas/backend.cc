// The backend `openblas`: LAPACK on the cores of the node, in blocks of columns.
#include <cblas.h>
#include <lapack.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "accel_matrix/device.h"

namespace {

using namespace rota::accel_matrix;

constexpr int kBlock = 256;
constexpr int kOne = 1;

class OpenBlas : public rota_accel_device {
 public:
  explicit OpenBlas(int threads) : threads_(threads) { openblas_set_num_threads(threads); }

  std::string description() const override {
    return std::string("OpenBLAS for ") + openblas_get_corename() + ", " + std::to_string(threads_) + " threads";
  }
  rota_accel_state state() override { return state_of_node(); }
  std::uint64_t work(std::string_view operation, int order) const override;
  Ending lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) override;
  Ending qr(Matrix a, std::span<double> tau, const Aid& aid) override;
  Ending cholesky(Matrix a, const Aid& aid) override;
  Ending multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) override;

 private:
  int threads_;
};

struct Range {
  int begin, end;
};

void swap_rows(Matrix a, Range columns, Range rows, const std::int32_t* pivots) {
  const int width = columns.end - columns.begin;
  const int first = rows.begin + 1;
  if (width > 0) LAPACK_dlaswp(&width, a.at(0, columns.begin), &a.order, &first, &rows.end, pivots, &kOne);
}

Ending OpenBlas::lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) {
  const int n = a.order;
  Ending ending;
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
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

Ending OpenBlas::cholesky(Matrix a, const Aid& aid) {
  const int n = a.order;
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
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

std::uint64_t OpenBlas::work(std::string_view operation, int order) const {
  const auto width = static_cast<std::uint64_t>(std::min(kBlock, order));
  return operation == "qr" ? width * width + width * static_cast<std::uint64_t>(order) : 0;
}

Ending OpenBlas::qr(Matrix a, std::span<double> tau, const Aid& aid) {
  const int n = a.order;
  const int most = std::min(kBlock, n);
  double* t = aid.work.data();
  double* rest = t + static_cast<std::ptrdiff_t>(most) * most;
  const int rest_size = most * n;
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
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

Ending OpenBlas::multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) {
  const int n = a.order;
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, std::min(kBlock, n - j), n, 1.0, a.entries, n, b.at(0, j),
                n, 0.0, c.at(0, j), n);
  }
  return {};
}

rota_accel_device* make_device(std::string_view config) {
  constexpr int kMostThreads = 256;
  int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 256U));
  if (!config.empty()) {
    const auto [end, error] = std::from_chars(config.begin(), config.end(), threads);
    if (error != std::errc() || end != config.end() || threads < 1 || threads > kMostThreads)
      throw Failure{ROTA_ACCEL_BAD_TASK, "openblas=THREADS takes a number from 1 to 256"};
  }
  return new OpenBlas(threads);
}

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) {
  static const rota_accel_backend backend = backend_of<make_device>("openblas");
  return &backend;
}
