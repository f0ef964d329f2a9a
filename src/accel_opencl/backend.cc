// The backend `opencl`: factorizations in blocks of columns. LAPACK on the node factors each block; all else, which is
// nearly all of the work, is one product of matrices on the device. To solve with a triangle is such a product, too,
// with the inverse of the block on the diagonal.
#include <lapack.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "accel_opencl/context.h"

namespace {

using namespace rota::accel_matrix;
using namespace rota::accel_opencl;
using std::uint64_t;

constexpr int kBlock = 128;
constexpr int kStrip = 384;      // columns that a step of cholesky and of gemm computes at once
constexpr int kTallAreas = 8;    // of order x kBlock doubles, the most that a factorization takes
constexpr int kBlockAreas = 3;   // of kBlock x kBlock doubles
constexpr uint64_t kPage = 512;  // doubles

uint64_t paged(uint64_t doubles) { return (doubles + kPage - 1) / kPage * kPage; }
uint64_t area(int rows, int columns) { return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns); }

// The work of a task, cut into areas.
class Areas {
 public:
  explicit Areas(std::span<double> work) : rest_(work) {}
  double* take(uint64_t doubles) {
    double* taken = rest_.data();
    rest_ = rest_.subspan(paged(doubles));
    return taken;
  }

 private:
  std::span<double> rest_;
};

// The matrices of one task on the device: in the task's own memory where the device computes there, else a copy.
class OnDevice {
 public:
  OnDevice(Context& context, double* entries, uint64_t count, int stride)
      : context_(context),
        entries_(entries),
        bytes_(count * sizeof(double)),
        stride_(stride),
        memory_(context.shares_memory() ? context.memory_at(entries, bytes_) : context.memory(bytes_)) {
    if (!context.shares_memory()) context.write(memory_.get(), entries, bytes_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { context_.settle(); }  // the memory is the container's again
  Part part(int row = 0, int column = 0) const {
    return {memory_.get(), static_cast<uint64_t>(row) + static_cast<uint64_t>(column) * static_cast<uint64_t>(stride_),
            stride_};
  }
  // The task's memory has what the device has computed.
  void finish() {
    if (context_.shares_memory()) {
      const int columns = static_cast<int>(bytes_ / sizeof(double) / static_cast<uint64_t>(stride_));
      context_.unmap(memory_.get(), context_.map(part(), {stride_, columns}));
    } else {
      context_.read(memory_.get(), entries_, bytes_);
    }
    context_.finish();
  }

 private:
  Context& context_;
  double* entries_;
  uint64_t bytes_;
  int stride_;
  Memory memory_;
};

// A block of columns, as the node reads and writes it: in place, or in `copy`.
class Panel {
 public:
  Panel(Context& context, Part part, Extent extent, double* copy)
      : context_(context), part_(part), extent_(extent), at_(copy), stride_(extent.rows) {
    if (context.shares_memory()) {
      at_ = context.map(part, extent);
      stride_ = part.stride;
    } else {
      context.read_part(part, extent, copy);
    }
  }
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  double* entries() const { return at_; }
  const int& stride() const { return stride_; }
  const double* column(int number) const { return at_ + static_cast<std::ptrdiff_t>(number) * stride_; }
  void give_back() {
    if (context_.shares_memory())
      context_.unmap(part_.memory, at_);
    else
      context_.write_part(part_, extent_, at_);
  }

 private:
  Context& context_;
  Part part_;
  Extent extent_;
  double* at_;
  int stride_;
};

// The inverse of the lower triangle of the panel's upper block, with zeros above it.
void invert(const Panel& panel, int width, bool unit, double* into) {
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < width; ++i) {
      const double entry = i < j ? 0 : i == j && unit ? 1 : panel.column(j)[i];
      into[static_cast<std::ptrdiff_t>(j) * width + i] = entry;
    }
  int info = 0;
  LAPACK_dtrtri("L", unit ? "U" : "N", &width, into, &width, &info);
}

class OpenCl : public rota_accel_device {
 public:
  explicit OpenCl(std::string_view config)
      : context_(config),
        square_(context_.memory(area(kBlock, kBlock) * sizeof(double))),
        pivots_(context_.memory(kBlock * sizeof(std::int32_t))) {}

  std::string description() const override { return "OpenCL on " + context_.name(); }
  rota_accel_state state() override;
  uint64_t work(std::string_view operation, int order) const override {
    return operation == "gemm" ? 0
                               : kTallAreas * paged(area(order, kBlock)) + kBlockAreas * paged(area(kBlock, kBlock));
  }
  Ending lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) override;
  Ending qr(Matrix a, std::span<double> tau, const Aid& aid) override;
  Ending cholesky(Matrix a, const Aid& aid) override;
  Ending multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) override;

 private:
  // Memory beside the matrix, which is the task's where the device computes there.
  Memory beside(Areas& areas, uint64_t doubles) {
    double* host = areas.take(doubles);
    const uint64_t bytes = doubles * sizeof(double);
    return context_.shares_memory() ? context_.memory_at(host, bytes) : context_.memory(bytes);
  }

  Context context_;
  Memory square_;  // kBlock x kBlock
  Memory pivots_;
};

rota_accel_state OpenCl::state() {
  if (context_.is_cores()) return state_of_node();
  return {context_.memory_bytes(), context_.memory_used_bytes(), -1, -1, -1};
}

Ending OpenCl::lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) {
  const int n = a.order;
  Areas areas(aid.work);
  double* const copy = areas.take(area(n, kBlock));
  double* const inverse = areas.take(area(kBlock, kBlock));
  const Memory solved = beside(areas, area(n, kBlock));
  OnDevice on_device(context_, a.entries, a.size(), n);
  Ending ending;
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    const int rows = n - j;
    const int right = rows - width;
    const auto chosen = pivots.subspan(static_cast<std::size_t>(j), static_cast<std::size_t>(width));
    int info = 0;
    Panel panel(context_, on_device.part(j, j), {rows, width}, copy);
    LAPACK_dgetrf(&rows, &width, panel.entries(), &panel.stride(), chosen.data(), &info);
    if (info > 0 && ending.bad_pivot == 0) ending.bad_pivot = j + info;
    invert(panel, width, true, inverse);
    panel.give_back();
    context_.write(pivots_.get(), chosen.data(), chosen.size_bytes());
    context_.write(square_.get(), inverse, area(width, width) * sizeof(double));
    context_.swap_rows(on_device.part(), j, width, pivots_.get());
    for (std::int32_t& pivot : chosen) pivot += j;
    const Part l{square_.get(), 0, width};
    const Part u{solved.get(), 0, width};
    context_.multiply({width, right, width, 1, l, on_device.part(j, j + width), false, 0, u});
    if (right > 0) context_.copy(u, on_device.part(j, j + width), {width, right});
    context_.multiply(
        {right, right, width, -1, on_device.part(j + width, j), u, false, 1, on_device.part(j + width, j + width)});
  }
  on_device.finish();
  return ending;
}

Ending OpenCl::cholesky(Matrix a, const Aid& aid) {
  const int n = a.order;
  Areas areas(aid.work);
  double* const copy = areas.take(area(kBlock, kBlock));
  double* const inverse = areas.take(area(kBlock, kBlock));
  const Memory solved = beside(areas, area(n, kBlock));
  OnDevice on_device(context_, a.entries, a.size(), n);
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    const int below = n - j - width;
    int info = 0;
    Panel panel(context_, on_device.part(j, j), {width, width}, copy);
    LAPACK_dpotrf("L", &width, panel.entries(), &panel.stride(), &info);
    if (info == 0) invert(panel, width, false, inverse);
    panel.give_back();
    if (info > 0) return {.bad_pivot = j + info};
    if (below == 0) break;
    context_.write(square_.get(), inverse, area(width, width) * sizeof(double));
    const Part l{solved.get(), 0, below};
    context_.multiply({below, width, width, 1, on_device.part(j + width, j), {square_.get(), 0, width}, true, 0, l});
    context_.copy(l, on_device.part(j + width, j), {below, width});
    for (int at = 0; at < below; at += kStrip) {
      const Part rest = l.beyond(static_cast<uint64_t>(at));
      context_.multiply({below - at, std::min(kStrip, below - at), width, -1, rest, rest, true, 1,
                         on_device.part(j + width + at, j + width + at)});
    }
  }
  on_device.finish();
  return {};
}

// What one block of QR leaves for the columns beside it: I - V T' V'.
struct Reflectors {
  double* v;           // rows x width
  double* transposed;  // width x rows
  double* t;           // width x width, T'
};

void read_reflectors(const Panel& panel, Extent extent, const double* t, const Reflectors& into) {
  const int rows = extent.rows;
  const int width = extent.columns;
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < rows; ++i) {
      const double entry = i < j ? 0 : i == j ? 1 : panel.column(j)[i];
      into.v[static_cast<std::ptrdiff_t>(j) * rows + i] = entry;
      into.transposed[static_cast<std::ptrdiff_t>(i) * width + j] = entry;
    }
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < width; ++i)
      into.t[static_cast<std::ptrdiff_t>(i) * width + j] = i <= j ? t[static_cast<std::ptrdiff_t>(j) * width + i] : 0;
}

Ending OpenCl::qr(Matrix a, std::span<double> tau, const Aid& aid) {
  const int n = a.order;
  const uint64_t tall = area(n, kBlock);
  Areas areas(aid.work);
  double* const copy = areas.take(tall);
  double* const t = areas.take(area(kBlock, kBlock));
  double* const rest = areas.take(tall);
  const int rest_size = n * kBlock;
  const Reflectors node{areas.take(tall), areas.take(tall), areas.take(area(kBlock, kBlock))};
  const Memory v = beside(areas, tall), transposed = beside(areas, tall);
  const Memory first = beside(areas, tall), second = beside(areas, tall);
  OnDevice on_device(context_, a.entries, a.size(), n);
  for (int j = 0; j < n; j += kBlock) {
    if (aid.cancelled()) return {.cancelled = true};
    const int width = std::min(kBlock, n - j);
    const int rows = n - j;
    const int right = rows - width;
    int info = 0;
    Panel panel(context_, on_device.part(j, j), {rows, width}, copy);
    LAPACK_dgeqrf(&rows, &width, panel.entries(), &panel.stride(), tau.data() + j, rest, &rest_size, &info);
    if (right > 0) {
      LAPACK_dlarft("F", "C", &rows, &width, panel.entries(), &panel.stride(), tau.data() + j, t, &width);
      read_reflectors(panel, {rows, width}, t, node);
    }
    panel.give_back();
    if (right == 0) break;
    context_.write(v.get(), node.v, area(rows, width) * sizeof(double));
    context_.write(transposed.get(), node.transposed, area(rows, width) * sizeof(double));
    context_.write(square_.get(), node.t, area(width, width) * sizeof(double));
    const Part c = on_device.part(j, j + width);
    const Part along{first.get(), 0, width}, turned{second.get(), 0, width};
    context_.multiply({width, right, rows, 1, {transposed.get(), 0, width}, c, false, 0, along});
    context_.multiply({width, right, width, 1, {square_.get(), 0, width}, along, false, 0, turned});
    context_.multiply({rows, right, width, -1, {v.get(), 0, rows}, turned, false, 1, c});
  }
  on_device.finish();
  return {};
}

Ending OpenCl::multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) {
  const int n = a.order;
  OnDevice left(context_, a.entries, a.size(), n), right(context_, b.entries, b.size(), n);
  OnDevice into(context_, c.entries, c.size(), n);
  for (int j = 0; j < n; j += kStrip) {
    if (aid.cancelled()) return {.cancelled = true};
    context_.multiply({n, std::min(kStrip, n - j), n, 1, left.part(), right.part(0, j), false, 0, into.part(0, j)});
    context_.finish();
  }
  into.finish();
  return {};
}

rota_accel_device* make_device(std::string_view config) { return new OpenCl(config); }

}  // namespace

const rota_accel_backend* rota_accel_backend_entry(void) {
  static const rota_accel_backend backend = backend_of<make_device>("opencl");
  return &backend;
}
