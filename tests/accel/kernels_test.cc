// The backends of linear algebra against the definition of what they compute: residuals as LAPACK's own tests reckon
// them, at most 10 where the arithmetic is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "accel/backend.h"
#include "base/random.h"

namespace rota::accel {
namespace {

constexpr double kMost = 10;
constexpr std::size_t kOrders[] = {1, 2, 63, 64, 65, 500};

using Entries = std::vector<double>;

struct Square {
  std::size_t n;
  Entries entries;

  explicit Square(std::size_t order) : n(order), entries(order * order) {}
  double& at(std::size_t row, std::size_t column) { return entries[column * n + row]; }
  double at(std::size_t row, std::size_t column) const { return entries[column * n + row]; }
};

Square random_matrix(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Square a(n);
  for (double& entry : a.entries) entry = random.uniform(-1, 1);
  return a;
}

Square product(const Square& a, const Square& b) {
  Square c(a.n);
  for (std::size_t j = 0; j < a.n; ++j)
    for (std::size_t k = 0; k < a.n; ++k) {
      const double factor = b.at(k, j);
      for (std::size_t i = 0; i < a.n; ++i) c.at(i, j) += a.at(i, k) * factor;
    }
  return c;
}

double norm(const Square& a) {  // the largest sum of a column
  double largest = 0;
  for (std::size_t j = 0; j < a.n; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < a.n; ++i) sum += std::abs(a.at(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

double residual(const Square& a, const Square& made) {
  Square difference(a.n);
  for (std::size_t i = 0; i < a.entries.size(); ++i) difference.entries[i] = a.entries[i] - made.entries[i];
  return norm(difference) / (norm(a) * static_cast<double>(a.n) * std::numeric_limits<double>::epsilon());
}

// The lower triangle with ones on its diagonal, and the upper one.
Square lower(const Square& f) {
  Square l(f.n);
  for (std::size_t j = 0; j < f.n; ++j) {
    l.at(j, j) = 1;
    for (std::size_t i = j + 1; i < f.n; ++i) l.at(i, j) = f.at(i, j);
  }
  return l;
}
Square upper(const Square& f) {
  Square u(f.n);
  for (std::size_t j = 0; j < f.n; ++j)
    for (std::size_t i = 0; i <= j; ++i) u.at(i, j) = f.at(i, j);
  return u;
}

Square symmetric(const Square& a, double diagonal) {
  Square s(a.n);
  for (std::size_t j = 0; j < a.n; ++j)
    for (std::size_t i = j; i < a.n; ++i) s.at(i, j) = s.at(j, i) = a.at(i, j) + (i == j ? diagonal : 0);
  return s;
}

class Kernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = Device::open(GetParam());
    if (!opened) GTEST_SKIP() << opened.error().message;
    device_ = std::move(*opened);
  }

  // What a container does with a task.
  Refusal run(const char* operation, std::vector<std::int64_t> parameters, const Entries& payload) {
    rota_accel_run run{};
    std::strncpy(run.header.operation, operation, sizeof run.header.operation - 1);
    std::ranges::copy(parameters, run.header.parameters);
    run.header.payload_bytes = payload.size() * sizeof(double);
    Refusal outcome = device_->plan(run.header, run.plan);
    if (outcome.outcome != ROTA_ACCEL_DONE) return outcome;
    buffer_.assign(run.plan.buffer_bytes / sizeof(double) + 1, 0);
    Entries scratch(run.plan.scratch_bytes / sizeof(double) + 1);
    std::ranges::copy(payload, buffer_.begin());
    run.buffer = buffer_.data();
    run.scratch = scratch.data();
    run.cancelled = [](void* asks) { return ++*static_cast<int*>(asks) > 1'000'000 ? 1 : 0; };
    run.context = &asked_;
    outcome = device_->run(run);
    result_ = reinterpret_cast<const std::byte*>(buffer_.data()) + run.plan.result_offset;
    return outcome;
  }
  Square matrix(std::size_t n) const {
    Square a(n);
    std::memcpy(a.entries.data(), result_, a.entries.size() * sizeof(double));
    return a;
  }
  template <class Number>
  std::vector<Number> behind(std::size_t n) const {
    std::vector<Number> numbers(n);
    std::memcpy(numbers.data(), result_ + n * n * sizeof(double), n * sizeof(Number));
    return numbers;
  }

  std::unique_ptr<Device> device_;
  Entries buffer_;
  const std::byte* result_ = nullptr;
  int asked_ = 0;
};

double residual_of_lu(const Square& a, const Square& factors, const std::vector<std::int32_t>& pivots) {
  Square made = product(lower(factors), upper(factors));
  for (std::size_t j = a.n; j-- > 0;)
    for (std::size_t column = 0; column < a.n; ++column)
      std::swap(made.at(j, column), made.at(static_cast<std::size_t>(pivots[j]) - 1, column));
  return residual(a, made);
}

TEST_P(Kernels, FactorByLu) {
  for (const std::size_t n : kOrders) {
    const Square a = random_matrix(n, n);
    ASSERT_EQ(run("lu", {static_cast<std::int64_t>(n)}, a.entries).outcome, ROTA_ACCEL_DONE);
    EXPECT_LE(residual_of_lu(a, matrix(n), behind<std::int32_t>(n)), kMost) << n;
  }
}

TEST_P(Kernels, FactorByCholesky) {
  for (const std::size_t n : kOrders) {
    const Square a = symmetric(random_matrix(n, n), static_cast<double>(n));
    ASSERT_EQ(run("cholesky", {static_cast<std::int64_t>(n)}, a.entries).outcome, ROTA_ACCEL_DONE);
    const Square factor = matrix(n);
    Square l(n), transposed(n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) l.at(i, j) = transposed.at(j, i) = factor.at(i, j);
    EXPECT_LE(residual(a, product(l, transposed)), kMost) << n;
  }
}

TEST_P(Kernels, FactorByQr) {
  for (const std::size_t n : kOrders) {
    const Square a = random_matrix(n, n);
    ASSERT_EQ(run("qr", {static_cast<std::int64_t>(n)}, a.entries).outcome, ROTA_ACCEL_DONE);
    const Square factors = matrix(n);
    const auto tau = behind<double>(n);
    Square made = upper(factors);
    for (std::size_t k = n; k-- > 0;)  // the reflectors, from the last one to the first
      for (std::size_t column = 0; column < n; ++column) {
        double along = made.at(k, column);
        for (std::size_t i = k + 1; i < n; ++i) along += factors.at(i, k) * made.at(i, column);
        along *= tau[k];
        made.at(k, column) -= along;
        for (std::size_t i = k + 1; i < n; ++i) made.at(i, column) -= along * factors.at(i, k);
      }
    EXPECT_LE(residual(a, made), kMost) << n;
  }
}

TEST_P(Kernels, MultiplyMatrices) {
  for (const std::size_t n : kOrders) {
    const Square a = random_matrix(n, 1), b = random_matrix(n, 2);
    Entries both = a.entries;
    both.insert(both.end(), b.entries.begin(), b.entries.end());
    ASSERT_EQ(run("gemm", {static_cast<std::int64_t>(n)}, both).outcome, ROTA_ACCEL_DONE);
    EXPECT_LE(residual(product(a, b), matrix(n)), kMost) << n;
  }
}

TEST_P(Kernels, MakeMatricesOfASeed) {
  constexpr std::size_t kOrder = 65;
  constexpr std::int64_t kBytes = kOrder * kOrder * 8 + kOrder * 4;
  ASSERT_EQ(run("lu", {kOrder, 1, 42, kBytes}, {}).outcome, ROTA_ACCEL_DONE);
  Square a(kOrder);  // the matrix by the definition
  std::uint64_t state = 42;
  for (double& entry : a.entries) {
    std::uint64_t bits = state += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    bits ^= bits >> 31U;
    entry = static_cast<double>(bits >> 11U) * 0x1p-53 - 0.5;
  }
  EXPECT_LE(residual_of_lu(a, matrix(kOrder), behind<std::int32_t>(kOrder)), kMost);
  for (const char* operation : {"lu", "qr", "cholesky", "gemm"})
    EXPECT_EQ(run(operation, {300, 1, 1, 1000}, Entries(1000)).outcome, ROTA_ACCEL_DONE) << operation;
}

TEST_P(Kernels, ReportSingularAndIndefiniteMatrices) {
  for (const std::size_t n : kOrders) {
    const auto order = static_cast<std::int64_t>(n);
    Square singular = random_matrix(n, n);
    for (std::size_t i = 0; i < n; ++i) singular.at(i, n / 2) = 0;
    const Refusal lu = run("lu", {order}, singular.entries);
    EXPECT_EQ(lu.outcome, ROTA_ACCEL_NUMERIC) << n;
    EXPECT_NE(lu.why.find("pivot " + std::to_string(n / 2 + 1)), std::string::npos) << lu.why;
    Square indefinite = symmetric(random_matrix(n, n), static_cast<double>(n));
    indefinite.at(n - 1, n - 1) = -1;
    EXPECT_EQ(run("cholesky", {order}, indefinite.entries).outcome, ROTA_ACCEL_NUMERIC) << n;
  }
}

TEST_P(Kernels, RefuseWhatIsWrong) {
  const Entries four(4);
  for (const std::int64_t n : {-1L, 0L, 1L, 3L, 46'341L, std::int64_t{1} << 62U, INT64_MIN})
    EXPECT_EQ(run("lu", {n}, four).outcome, ROTA_ACCEL_BAD_TASK) << n;
  EXPECT_EQ(run("lu", {2, 2}, four).outcome, ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(run("lu", {2, 1, 1, -1}, four).outcome, ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(run("lu", {2, 1, 1, 1000}, four).outcome, ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(run("noop", {-1}, four).outcome, ROTA_ACCEL_BAD_TASK);
  EXPECT_EQ(run("gemm", {2}, four).outcome, ROTA_ACCEL_BAD_TASK);
}

TEST_P(Kernels, StopBetweenBlocksWhenCancelled) {
  asked_ = 1'000'000;
  for (const char* operation : {"lu", "qr", "cholesky", "gemm"})
    EXPECT_EQ(run(operation, {300, 1, 1, 0}, {}).outcome, ROTA_ACCEL_CANCELLED) << operation;
}

INSTANTIATE_TEST_SUITE_P(Backends, Kernels, testing::Values("openblas=2", "opencl", "opencl=0:0:discrete", "cuda"),
                         [](const auto& backend) {
                           const std::string name = backend.param;
                           return name.substr(0, name.find('=')) + (name.ends_with("discrete") ? "_discrete" : "");
                         });

TEST(OpenClBackend, RefusesADeviceThatIsNotThere) {
  for (const char* named :
       {"opencl=0:99", "opencl=99:0", "opencl=0", "opencl=0:0:", "opencl=a:b", "opencl=0:0discrete"})
    EXPECT_FALSE(Device::open(named)) << named;
}

TEST(CudaBackend, SaysWhatIsWrong) {
  const auto wrong = Device::open("cuda=first");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("takes a number from 0"), std::string::npos) << wrong.error().message;
  const auto device = Device::open("cuda");
  const std::string begins = "the backend cuda cannot begin: ";
  EXPECT_TRUE(device || device.error().message.starts_with(begins)) << device.error().message;
}

}  // namespace
}  // namespace rota::accel
