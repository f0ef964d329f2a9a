// An OpenCL device with doubles, opened: its queue, its memory, and the kernels of this backend. What fails throws a
// Failure. One thread, but for the questions that are const.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "accel_matrix/device.h"

namespace rota::accel_opencl {

template <auto Release>
struct Releases {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};
using Memory = std::unique_ptr<_cl_mem, Releases<clReleaseMemObject>>;

// A part of a matrix on the device, column by column; in doubles.
struct Part {
  cl_mem memory;
  std::uint64_t at;
  int stride;

  Part beyond(std::uint64_t entries) const { return {memory, at + entries, stride}; }
};

// c (rows x columns) = beta c + alpha a (rows x inner) b (inner x columns); transposed: b stands as columns x inner.
struct Product {
  int rows;
  int columns;
  int inner;
  double alpha;
  Part a;
  Part b;
  bool transposed;
  double beta;
  Part c;
};

struct Extent {
  int rows;
  int columns;
};

// Where PoCL puts what it compiles, if the user has no folder for it.
class CompiledFolder {
 public:
  CompiledFolder();
  CompiledFolder(const CompiledFolder&) = delete;
  CompiledFolder& operator=(const CompiledFolder&) = delete;
  ~CompiledFolder();

 private:
  std::string path_;  // empty: it has one
};

class Context {
 public:
  // `config`: PLATFORM:DEVICE, numbers from 0, and `:discrete` behind it, with which a device that has the memory of
  // the node is used as if it had its own. Empty: the first GPU, else the first device.
  explicit Context(std::string_view config);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::string name() const;
  std::int64_t memory_bytes() const;
  std::int64_t memory_used_bytes() const;  // -1: the device does not say
  bool is_cores() const { return type_ == CL_DEVICE_TYPE_CPU; }
  // It computes in the memory of the node, so that no matrix is copied.
  bool shares_memory() const { return shares_memory_; }

  Memory memory(std::uint64_t bytes);
  Memory memory_at(void* host, std::uint64_t bytes);  // the same memory; where it is shared
  void write(cl_mem to, const void* from, std::uint64_t bytes);
  void read(cl_mem from, void* to, std::uint64_t bytes);
  // Columns that lie one behind the other in the node's memory, to the device or from it.
  void write_part(Part to, Extent extent, const double* from);
  void read_part(Part from, Extent extent, double* to);
  double* map(Part part, Extent extent);  // for the node to read and write, until it is unmapped
  void unmap(cl_mem memory, double* mapped);
  void copy(Part from, Part to, Extent extent);
  void multiply(const Product& product);
  // Exchanges row `first` + i with row `first` + pivots[i] - 1, for each of `count`, in all columns of a but those
  // `count` from `first` on.
  void swap_rows(Part a, int first, int count, cl_mem pivots);
  void finish();
  void settle() noexcept;  // finish(), where a failure is of no interest any more

 private:
  void choose(std::string_view config);
  void build();
  template <class T>
  T info(cl_device_info what) const;
  std::string text(cl_device_info what) const;

  const CompiledFolder compiled_;
  cl_device_id device_ = nullptr;
  cl_device_type type_ = 0;
  bool shares_memory_ = false;
  bool by_rows_ = false;  // which of the two kernels multiplies
  std::unique_ptr<_cl_context, Releases<clReleaseContext>> context_;
  std::unique_ptr<_cl_command_queue, Releases<clReleaseCommandQueue>> queue_;
  std::unique_ptr<_cl_program, Releases<clReleaseProgram>> program_;
  std::unique_ptr<_cl_kernel, Releases<clReleaseKernel>> multiply_;
  std::unique_ptr<_cl_kernel, Releases<clReleaseKernel>> swap_rows_;
};

}  // namespace rota::accel_opencl
