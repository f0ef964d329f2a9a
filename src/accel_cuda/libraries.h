// CUDA's libraries, opened when the backend is: the runtime with cuBLAS and cuSOLVER of the same release (13, 12 or
// 11), and NVML, by which a device says how it is. Declared here as their manuals have them, since no header of theirs
// is needed to build Rota. What fails throws a Failure. One thread, but for state().
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "accel_matrix/device.h"

namespace rota::accel_cuda {

class Library {
 public:
  Library() = default;
  static Library any_of(std::initializer_list<const char*> names);  // the first that is there; none: an empty one
  explicit operator bool() const { return object_ != nullptr; }
  // Sets the pointer to a function of this name; throws where the library has none.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  void* object_ = nullptr;  // stays open: CUDA's libraries cannot be unloaded
};

// cudaError_t, cublasStatus_t, cusolverStatus_t and nvmlReturn_t are int, and 0 where all went well; streams and
// handles are pointers.
struct Runtime {
  int (*count)(int* devices);
  int (*set_device)(int device);
  int (*bus_id)(char* text, int size, int device);
  int (*allocate)(void** memory, std::size_t bytes);
  int (*release)(void* memory);
  int (*copy)(void* to, const void* from, std::size_t bytes, int kind, void* stream);
  int (*make_stream)(void** stream, unsigned flags);
  int (*wait)(void* stream);
  int (*pin)(void* memory, std::size_t bytes, unsigned flags);
  const char* (*text)(int error);
};

struct Blas {
  int (*create)(void** handle);
  int (*set_stream)(void* handle, void* stream);
  int (*gemm)(void* handle, int transpose_a, int transpose_b, int m, int n, int k, const double* alpha, const double* a,
              int lda, const double* b, int ldb, const double* beta, double* c, int ldc);
};

struct Solver {
  int (*create)(void** handle);
  int (*set_stream)(void* handle, void* stream);
  int (*getrf_size)(void* handle, int m, int n, double* a, int lda, int* size);
  int (*getrf)(void* handle, int m, int n, double* a, int lda, double* work, int* pivots, int* info);
  int (*geqrf_size)(void* handle, int m, int n, double* a, int lda, int* size);
  int (*geqrf)(void* handle, int m, int n, double* a, int lda, double* tau, double* work, int size, int* info);
  int (*potrf_size)(void* handle, int triangle, int n, double* a, int lda, int* size);
  int (*potrf)(void* handle, int triangle, int n, double* a, int lda, double* work, int size, int* info);
};

struct Libraries {
  Libraries();
  void check(int error, const char* what) const;         // of the runtime
  static void check_math(int status, const char* what);  // of cuBLAS and cuSOLVER

  Runtime runtime{};
  Blas blas{};
  Solver solver{};
  std::string release;
};

// One device, by NVML. Any thread.
class Health {
 public:
  explicit Health(const char* bus_id);
  std::string name() const;
  rota_accel_state state() const;

 private:
  struct Functions;
  std::shared_ptr<const Functions> functions_;  // none: the library is not there
  void* device_ = nullptr;
};

}  // namespace rota::accel_cuda
