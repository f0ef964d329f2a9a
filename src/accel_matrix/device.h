// What a backend of linear algebra has of its own, a device that factors and multiplies matrices, and the C interface
// (accel/backend_abi.h) that all of them share: operations, sizes, matrices of a seed, what the result looks like.
// docs/accelerators.md describes the operations. Threads as in the C interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "accel/backend_abi.h"
#include "accel_matrix/matrix.h"

namespace rota::accel_matrix {

// What a device throws: the C interface gives it to the container.
struct Failure {
  int outcome = ROTA_ACCEL_UNSUPPORTED;
  std::string why;
};

// What a task has beside its matrices, while it is computed.
struct Aid {
  std::span<double> work;  // aligned to 4096 bytes
  const Cancelled& cancelled;
};

rota_accel_state state_of_node();

}  // namespace rota::accel_matrix

struct rota_accel_device {
  using Matrix = rota::accel_matrix::Matrix;
  using Ending = rota::accel_matrix::Ending;
  using Aid = rota::accel_matrix::Aid;

  rota_accel_device() = default;
  rota_accel_device(const rota_accel_device&) = delete;
  rota_accel_device& operator=(const rota_accel_device&) = delete;
  virtual ~rota_accel_device() = default;

  virtual std::string description() const = 0;
  virtual rota_accel_state state() = 0;
  virtual void share(void* /*memory*/, std::size_t /*bytes*/) {}  // that all matrices and all work lie in
  // Doubles that an operation on matrices of this order needs beside them.
  virtual std::uint64_t work(std::string_view operation, int order) const = 0;
  // In place. `pivots`: order numbers, as dgetrf gives them (rows from 1).
  virtual Ending lu(Matrix a, std::span<std::int32_t> pivots, const Aid& aid) = 0;
  // In place. `tau`: order numbers, as dgeqrf gives them.
  virtual Ending qr(Matrix a, std::span<double> tau, const Aid& aid) = 0;
  // In place, the lower triangle; what is above it is not read.
  virtual Ending cholesky(Matrix a, const Aid& aid) = 0;
  // c = a b, which lie one behind the other.
  virtual Ending multiply(Matrix a, Matrix b, Matrix c, const Aid& aid) = 0;
};

namespace rota::accel_matrix {

int failed(const Failure& failure, char* why, std::size_t size);  // gives what was thrown to the container
rota_accel_backend backend_named(const char* name, decltype(rota_accel_backend::open) open);

// The backend of devices that `make` makes of what the user has written behind the name. It throws a Failure where it
// cannot.
template <rota_accel_device* (*make)(std::string_view config)>
rota_accel_backend backend_of(const char* name) {
  return backend_named(name, [](const char* config, rota_accel_device** device, char* why, std::size_t size) -> int {
    try {
      *device = make(config);
      return ROTA_ACCEL_DONE;
    } catch (const Failure& failure) {
      return failed(failure, why, size);
    }
  });
}

}  // namespace rota::accel_matrix
