// The backend `cuda`: cuSOLVER and cuBLAS on a GPU of NVIDIA. A matrix is copied to the device and what was computed
// back; the container's memory is pinned once, so that the device fetches it by itself.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "accel_cuda/libraries.h"

namespace {

using namespace rota::accel_matrix;
using namespace rota::accel_cuda;
using std::uint64_t;

constexpr int kStrip = 1024;  // columns that gemm computes at once

class Cuda : public rota_accel_device {
 public:
  explicit Cuda(int number);

  std::string description() const override { return "CUDA " + cuda_.release + " on " + health_.name(); }
  rota_accel_state state() override { return health_.state(); }
  void share(void* memory, std::size_t bytes) override;
  uint64_t work(std::string_view /*operation*/, int /*order*/) const override { return 0; }
  Ending lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) override;
  Ending qr(Matrix a, std::span<double> tau, const Aid& aid) override;
  Ending cholesky(Matrix a, const Aid& aid) override;
  Ending multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) override;

 private:
  // Memory of the device, for one task.
  class Area {
   public:
    Area(const Libraries& cuda, uint64_t bytes) : cuda_(cuda) {
      cuda.check(cuda.runtime.allocate(&memory_, bytes), "reserving memory of the device");
    }
    Area(const Area&) = delete;
    Area& operator=(const Area&) = delete;
    ~Area() { cuda_.runtime.release(memory_); }  // waits for what the device does
    double* doubles() const { return static_cast<double*>(memory_); }
    int* numbers() const { return static_cast<int*>(memory_); }
    void* memory() const { return memory_; }

   private:
    const Libraries& cuda_;
    void* memory_ = nullptr;
  };

  static std::string bus_of(const Libraries& cuda, int number);
  void upload(const Area& to, const void* from, uint64_t bytes) const;
  void download(void* to, const Area& from, uint64_t bytes) const;
  void wait() const { cuda_.check(cuda_.runtime.wait(stream_), "computing on the device"); }
  Ending ending_of(const Area& info) const;

  const Libraries cuda_;
  const Health health_;
  void* stream_ = nullptr;
  void* blas_ = nullptr;
  void* solver_ = nullptr;
};

uint64_t bytes_of(Matrix a) { return a.size() * sizeof(double); }

std::string Cuda::bus_of(const Libraries& cuda, int number) {
  int count = 0;
  if (cuda.runtime.count(&count) != 0 || count == 0) throw Failure{ROTA_ACCEL_UNSUPPORTED, "CUDA finds no device here"};
  if (number >= count)
    throw Failure{ROTA_ACCEL_BAD_TASK,
                  "CUDA has no device " + std::to_string(number) + "; the last one is " + std::to_string(count - 1)};
  std::array<char, 32> id{};
  cuda.check(cuda.runtime.bus_id(id.data(), static_cast<int>(id.size()), number), "asking for the device");
  cuda.check(cuda.runtime.set_device(number), "opening the device");
  return id.data();
}

Cuda::Cuda(int number) : health_(bus_of(cuda_, number).c_str()) {
  constexpr unsigned kApart = 1;  // cudaStreamNonBlocking
  cuda_.check(cuda_.runtime.make_stream(&stream_, kApart), "opening the device");
  Libraries::check_math(cuda_.blas.create(&blas_), "opening cuBLAS");
  Libraries::check_math(cuda_.blas.set_stream(blas_, stream_), "opening cuBLAS");
  Libraries::check_math(cuda_.solver.create(&solver_), "opening cuSOLVER");
  Libraries::check_math(cuda_.solver.set_stream(solver_, stream_), "opening cuSOLVER");
}

// Where it cannot be pinned, it is copied through memory that the driver has pinned: slower, and right.
void Cuda::share(void* memory, std::size_t bytes) {
  constexpr unsigned kPlain = 0;
  cuda_.runtime.pin(memory, bytes, kPlain);
}

void Cuda::upload(const Area& to, const void* from, uint64_t bytes) const {
  constexpr int kToDevice = 1;
  cuda_.check(cuda_.runtime.copy(to.memory(), from, bytes, kToDevice, stream_), "copying to the device");
}

void Cuda::download(void* to, const Area& from, uint64_t bytes) const {
  constexpr int kFromDevice = 2;
  cuda_.check(cuda_.runtime.copy(to, from.memory(), bytes, kFromDevice, stream_), "copying from the device");
}

Ending Cuda::ending_of(const Area& info) const {
  int bad_pivot = 0;
  download(&bad_pivot, info, sizeof bad_pivot);
  wait();
  return {.bad_pivot = std::max(0, bad_pivot)};
}

Ending Cuda::lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) {
  if (aid.cancelled()) return {.cancelled = true};
  const int n = a.order;
  const Area matrix(cuda_, bytes_of(a)), rows(cuda_, pivots.size_bytes()), info(cuda_, sizeof(int));
  upload(matrix, a.entries, bytes_of(a));
  int size = 0;
  Libraries::check_math(cuda_.solver.getrf_size(solver_, n, n, matrix.doubles(), n, &size), "planning LU");
  const Area work(cuda_, static_cast<uint64_t>(size) * sizeof(double));
  if (aid.cancelled()) return {.cancelled = true};
  Libraries::check_math(
      cuda_.solver.getrf(solver_, n, n, matrix.doubles(), n, work.doubles(), rows.numbers(), info.numbers()), "LU");
  download(a.entries, matrix, bytes_of(a));
  download(pivots.data(), rows, pivots.size_bytes());
  return ending_of(info);
}

Ending Cuda::qr(Matrix a, std::span<double> tau, const Aid& aid) {
  if (aid.cancelled()) return {.cancelled = true};
  const int n = a.order;
  const Area matrix(cuda_, bytes_of(a)), taus(cuda_, tau.size_bytes()), info(cuda_, sizeof(int));
  upload(matrix, a.entries, bytes_of(a));
  int size = 0;
  Libraries::check_math(cuda_.solver.geqrf_size(solver_, n, n, matrix.doubles(), n, &size), "planning QR");
  const Area work(cuda_, static_cast<uint64_t>(size) * sizeof(double));
  if (aid.cancelled()) return {.cancelled = true};
  Libraries::check_math(
      cuda_.solver.geqrf(solver_, n, n, matrix.doubles(), n, taus.doubles(), work.doubles(), size, info.numbers()),
      "QR");
  download(a.entries, matrix, bytes_of(a));
  download(tau.data(), taus, tau.size_bytes());
  return ending_of(info);
}

Ending Cuda::cholesky(Matrix a, const Aid& aid) {
  constexpr int kLower = 0;  // CUBLAS_FILL_MODE_LOWER
  if (aid.cancelled()) return {.cancelled = true};
  const int n = a.order;
  const Area matrix(cuda_, bytes_of(a)), info(cuda_, sizeof(int));
  upload(matrix, a.entries, bytes_of(a));
  int size = 0;
  Libraries::check_math(cuda_.solver.potrf_size(solver_, kLower, n, matrix.doubles(), n, &size), "planning Cholesky");
  const Area work(cuda_, static_cast<uint64_t>(size) * sizeof(double));
  if (aid.cancelled()) return {.cancelled = true};
  Libraries::check_math(
      cuda_.solver.potrf(solver_, kLower, n, matrix.doubles(), n, work.doubles(), size, info.numbers()), "Cholesky");
  download(a.entries, matrix, bytes_of(a));
  return ending_of(info);
}

Ending Cuda::multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) {
  constexpr int kAsItIs = 0;  // CUBLAS_OP_N
  constexpr double kOne = 1;
  constexpr double kNone = 0;
  const int n = a.order;
  const Area left(cuda_, bytes_of(a)), right(cuda_, bytes_of(b)), into(cuda_, bytes_of(c));
  upload(left, a.entries, bytes_of(a));
  upload(right, b.entries, bytes_of(b));
  for (int j = 0; j < n; j += kStrip) {
    wait();
    if (aid.cancelled()) return {.cancelled = true};
    const auto beyond = static_cast<std::ptrdiff_t>(j) * n;
    Libraries::check_math(cuda_.blas.gemm(blas_, kAsItIs, kAsItIs, n, std::min(kStrip, n - j), n, &kOne, left.doubles(),
                                          n, right.doubles() + beyond, n, &kNone, into.doubles() + beyond, n),
                          "a product");
  }
  download(c.entries, into, bytes_of(c));
  wait();
  return {};
}

rota_accel_device* make_device(std::string_view config) {
  int number = 0;
  if (!config.empty()) {
    const auto [end, error] = std::from_chars(config.begin(), config.end(), number);
    if (error != std::errc() || end != config.end() || number < 0)
      throw Failure{ROTA_ACCEL_BAD_TASK, "cuda=DEVICE takes a number from 0, as `nvidia-smi -L` shows it"};
  }
  return new Cuda(number);
}

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) {
  static const rota_accel_backend backend = backend_of<make_device>("cuda");
  return &backend;
}
