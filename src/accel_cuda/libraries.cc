#include "accel_cuda/libraries.h"

#include <dlfcn.h>

#include <array>

namespace rota::accel_cuda {
namespace {

using accel_matrix::Failure;

struct Release {
  const char* name;
  const char* runtime;
  const char* blas;
  const char* solver;
};
constexpr std::array<Release, 3> kReleases{{{"13", "libcudart.so.13", "libcublas.so.13", "libcusolver.so.12"},
                                            {"12", "libcudart.so.12", "libcublas.so.12", "libcusolver.so.11"},
                                            {"11", "libcudart.so.11.0", "libcublas.so.11", "libcusolver.so.11"}}};

}  // namespace

Library Library::any_of(std::initializer_list<const char*> names) {
  Library library;
  for (const char* name : names)
    if (library.object_ == nullptr) library.object_ = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  return library;
}

void* Library::symbol(const char* name) const {
  void* found = ::dlsym(object_, name);
  if (found == nullptr)
    throw Failure{ROTA_ACCEL_UNSUPPORTED, std::string("CUDA's libraries here have no function ") + name};
  return found;
}

Libraries::Libraries() {
  if (!Library::any_of({"libcuda.so.1"}))
    throw Failure{ROTA_ACCEL_UNSUPPORTED, "NVIDIA's driver is not here (libcuda.so.1 cannot be opened)"};
  Library cudart, cublas, cusolver;
  for (const Release& one : kReleases) {
    cudart = Library::any_of({one.runtime});
    if (!cudart) continue;
    release = one.name;
    cublas = Library::any_of({one.blas});
    cusolver = Library::any_of({one.solver});
    break;
  }
  if (!cudart || !cublas || !cusolver)
    throw Failure{ROTA_ACCEL_UNSUPPORTED,
                  "NVIDIA's driver is here, but not the libraries cudart, cublas and cusolver of one CUDA release from "
                  "11 to 13; install them, or name their folder in LD_LIBRARY_PATH"};
  cudart.find(runtime.count, "cudaGetDeviceCount");
  cudart.find(runtime.set_device, "cudaSetDevice");
  cudart.find(runtime.bus_id, "cudaDeviceGetPCIBusId");
  cudart.find(runtime.allocate, "cudaMalloc");
  cudart.find(runtime.release, "cudaFree");
  cudart.find(runtime.copy, "cudaMemcpyAsync");
  cudart.find(runtime.make_stream, "cudaStreamCreateWithFlags");
  cudart.find(runtime.wait, "cudaStreamSynchronize");
  cudart.find(runtime.pin, "cudaHostRegister");
  cudart.find(runtime.text, "cudaGetErrorString");
  cublas.find(blas.create, "cublasCreate_v2");
  cublas.find(blas.set_stream, "cublasSetStream_v2");
  cublas.find(blas.gemm, "cublasDgemm_v2");
  cusolver.find(solver.create, "cusolverDnCreate");
  cusolver.find(solver.set_stream, "cusolverDnSetStream");
  cusolver.find(solver.getrf_size, "cusolverDnDgetrf_bufferSize");
  cusolver.find(solver.getrf, "cusolverDnDgetrf");
  cusolver.find(solver.geqrf_size, "cusolverDnDgeqrf_bufferSize");
  cusolver.find(solver.geqrf, "cusolverDnDgeqrf");
  cusolver.find(solver.potrf_size, "cusolverDnDpotrf_bufferSize");
  cusolver.find(solver.potrf, "cusolverDnDpotrf");
}

// After most errors of a kernel nothing runs in the process any more, so that all but a lack of memory lose the device.
void Libraries::check(int error, const char* what) const {
  constexpr int kMemory = 2;  // cudaErrorMemoryAllocation
  if (error != 0)
    throw Failure{error == kMemory ? ROTA_ACCEL_NO_MEMORY : ROTA_ACCEL_DEVICE_LOST,
                  std::string(what) + " fails: " + runtime.text(error)};
}

void Libraries::check_math(int status, const char* what) {
  constexpr int kBlasMemory = 3;    // CUBLAS_STATUS_ALLOC_FAILED
  constexpr int kSolverMemory = 2;  // CUSOLVER_STATUS_ALLOC_FAILED
  if (status != 0)
    throw Failure{status == kBlasMemory || status == kSolverMemory ? ROTA_ACCEL_NO_MEMORY : ROTA_ACCEL_DEVICE_LOST,
                  std::string(what) + " fails with status " + std::to_string(status)};
}

struct Health::Functions {
  int (*begin)();
  int (*find)(const char* bus_id, void** device);
  int (*name)(void* device, char* text, unsigned size);
  int (*memory)(void* device, unsigned long long* total_free_used);
  int (*busy)(void* device, unsigned* gpu_and_memory);
  int (*temperature)(void* device, int sensor, unsigned* degrees);
  int (*errors)(void* device, int kind, int counter, unsigned long long* count);
};

Health::Health(const char* bus_id) {
  const Library nvml = Library::any_of({"libnvidia-ml.so.1"});
  if (!nvml) return;
  auto functions = std::make_shared<Functions>();
  nvml.find(functions->begin, "nvmlInit_v2");
  nvml.find(functions->find, "nvmlDeviceGetHandleByPciBusId_v2");
  nvml.find(functions->name, "nvmlDeviceGetName");
  nvml.find(functions->memory, "nvmlDeviceGetMemoryInfo");
  nvml.find(functions->busy, "nvmlDeviceGetUtilizationRates");
  nvml.find(functions->temperature, "nvmlDeviceGetTemperature");
  nvml.find(functions->errors, "nvmlDeviceGetTotalEccErrors");
  if (functions->begin() == 0 && functions->find(bus_id, &device_) == 0) functions_ = std::move(functions);
}

std::string Health::name() const {
  std::array<char, 96> text{};
  return functions_ && functions_->name(device_, text.data(), text.size() - 1) == 0 ? text.data() : "a GPU";
}

rota_accel_state Health::state() const {
  rota_accel_state state{-1, -1, -1, -1, -1};
  if (!functions_) return state;
  std::array<unsigned long long, 3> memory{};
  if (functions_->memory(device_, memory.data()) == 0) {
    state.memory_bytes = static_cast<std::int64_t>(memory[0]);
    state.memory_used_bytes = static_cast<std::int64_t>(memory[2]);
  }
  constexpr int kPermilleOfPercent = 10;
  std::array<unsigned, 2> busy{};
  if (functions_->busy(device_, busy.data()) == 0) state.busy_permille = busy[0] * kPermilleOfPercent;
  unsigned degrees = 0;
  constexpr int kOfTheGpu = 0;
  if (functions_->temperature(device_, kOfTheGpu, &degrees) == 0) state.temperature = degrees;
  unsigned long long errors = 0;
  constexpr int kUncorrected = 1;
  constexpr int kSinceTheStart = 0;
  if (functions_->errors(device_, kUncorrected, kSinceTheStart, &errors) == 0)
    state.errors = static_cast<std::int64_t>(errors);
  return state;
}

}  // namespace rota::accel_cuda
