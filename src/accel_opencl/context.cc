#include "accel_opencl/context.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "accel_opencl/kernels.h"

namespace rota::accel_opencl {
namespace {

using accel_matrix::Failure;

int outcome_of(cl_int error) {
  switch (error) {
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_OUT_OF_RESOURCES:
      return ROTA_ACCEL_DEVICE_LOST;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return ROTA_ACCEL_NO_MEMORY;
    default:
      return ROTA_ACCEL_UNSUPPORTED;
  }
}

void check(cl_int error, const char* what) {
  if (error != CL_SUCCESS)
    throw Failure{outcome_of(error), std::string(what) + " fails with OpenCL's error " + std::to_string(error)};
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw Failure{ROTA_ACCEL_UNSUPPORTED,
                  "OpenCL finds no driver of a device; install the one of yours, or pocl-opencl-icd for cores"};
  std::vector<cl_platform_id> all(count);
  check(clGetPlatformIDs(count, all.data(), nullptr), "listing the platforms");
  return all;
}

std::vector<cl_device_id> devices(cl_platform_id platform, cl_device_type type) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, type, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> all(count);
  check(clGetDeviceIDs(platform, type, count, all.data(), nullptr), "listing the devices");
  return all;
}

struct Choice {
  std::size_t platform;
  std::size_t device;
  bool discrete;
};

std::optional<Choice> choice_of(std::string_view config) {
  Choice choice{};
  constexpr std::string_view kDiscrete = ":discrete";
  choice.discrete = config.ends_with(kDiscrete);
  if (choice.discrete) config.remove_suffix(kDiscrete.size());
  const char* end = config.data() + config.size();
  const auto platform = std::from_chars(config.data(), end, choice.platform);
  if (platform.ec != std::errc() || platform.ptr == end || *platform.ptr != ':') return std::nullopt;
  const auto device = std::from_chars(platform.ptr + 1, end, choice.device);
  if (device.ec != std::errc() || device.ptr != end) return std::nullopt;
  return choice;
}

// PoCL keeps what it compiles in the user's folder, and compiles nothing where there is none.
bool may_be_written(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder != nullptr && ::access(folder, W_OK) == 0;
}

template <class... Values>
void set_arguments(cl_kernel kernel, const Values&... values) {
  cl_uint at = 0;
  (check(clSetKernelArg(kernel, at++, sizeof values, &values), "giving a kernel its arguments"), ...);
}

struct Place {  // of a part, as functions on rectangles take it
  std::array<std::size_t, 3> origin;
  std::size_t pitch;
};

Place place_of(Part part) {
  const auto stride = static_cast<std::size_t>(part.stride);
  return {{part.at % stride * sizeof(double), part.at / stride, 0}, stride * sizeof(double)};
}

std::array<std::size_t, 3> region_of(Extent extent) {
  return {static_cast<std::size_t>(extent.rows) * sizeof(double), static_cast<std::size_t>(extent.columns), 1};
}

constexpr std::array<std::size_t, 3> kBeginning{0, 0, 0};

std::size_t parts_of(int whole, int part) { return static_cast<std::size_t>((whole + part - 1) / part); }

}  // namespace

CompiledFolder::CompiledFolder() {
  if (std::getenv("POCL_CACHE_DIR") == nullptr && !may_be_written("XDG_CACHE_HOME") && !may_be_written("HOME")) {
    std::string folder = (std::filesystem::temp_directory_path() / "rota-opencl-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr)
      throw Failure{ROTA_ACCEL_UNSUPPORTED, "no folder can be made for what OpenCL compiles; set POCL_CACHE_DIR"};
    path_ = folder;
    ::setenv("POCL_CACHE_DIR", path_.c_str(), 1);
  }
}

CompiledFolder::~CompiledFolder() {
  if (path_.empty()) return;
  ::unsetenv("POCL_CACHE_DIR");
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

Context::Context(std::string_view config) {
  choose(config);
  const std::string called = name();
  if (info<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
    throw Failure{ROTA_ACCEL_UNSUPPORTED, "the device " + called + " has no double precision; name another one"};
  cl_int error = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error));
  check(error, "opening the device");
  queue_.reset(clCreateCommandQueue(context_.get(), device_, 0, &error));
  check(error, "opening the device's queue");
  build();
}

void Context::choose(std::string_view config) {
  const auto all = platforms();
  bool discrete = false;
  if (config.empty()) {
    for (const cl_device_type type : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}})
      for (cl_platform_id platform : all)
        if (const auto some = devices(platform, type); device_ == nullptr && !some.empty()) device_ = some.front();
    if (device_ == nullptr) throw Failure{ROTA_ACCEL_UNSUPPORTED, "OpenCL has drivers, but none finds a device"};
  } else {
    const auto choice = choice_of(config);
    if (!choice)
      throw Failure{ROTA_ACCEL_BAD_TASK, "opencl=PLATFORM:DEVICE takes two numbers from 0, as `clinfo -l` shows them"};
    discrete = choice->discrete;
    const auto some = choice->platform < all.size() ? devices(all[choice->platform], CL_DEVICE_TYPE_ALL)
                                                    : std::vector<cl_device_id>{};
    if (choice->device >= some.size())
      throw Failure{ROTA_ACCEL_BAD_TASK, "OpenCL has no device " + std::string(config) + "; `clinfo -l` lists them"};
    device_ = some[choice->device];
  }
  type_ = info<cl_device_type>(CL_DEVICE_TYPE) & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT};
  shares_memory_ = info<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY) != 0 && !discrete;
  by_rows_ = is_cores() && !discrete;
}

void Context::build() {
  cl_int error = CL_SUCCESS;
  const char* source = kKernels;
  program_.reset(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &error));
  check(error, "reading the kernels");
  if (clBuildProgram(program_.get(), 1, &device_, "", nullptr, nullptr) != CL_SUCCESS) {
    std::array<char, 16384> log{};
    clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw Failure{ROTA_ACCEL_UNSUPPORTED,
                  "the kernels cannot be compiled for " + name() + ": " + std::string(log.data()).substr(0, 300)};
  }
  multiply_.reset(clCreateKernel(program_.get(), by_rows_ ? "multiply_by_rows" : "multiply_by_tiles", &error));
  check(error, "making a kernel");
  swap_rows_.reset(clCreateKernel(program_.get(), "swap_rows", &error));
  check(error, "making a kernel");
}

template <class T>
T Context::info(cl_device_info what) const {
  T value{};
  return clGetDeviceInfo(device_, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

std::string Context::text(cl_device_info what) const {
  std::array<char, 256> value{};
  clGetDeviceInfo(device_, what, value.size() - 1, value.data(), nullptr);
  return value.data();
}

std::string Context::name() const { return text(CL_DEVICE_NAME) + ", driver " + text(CL_DRIVER_VERSION); }

std::int64_t Context::memory_bytes() const {
  return static_cast<std::int64_t>(info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE));
}

std::int64_t Context::memory_used_bytes() const {
  constexpr cl_device_info kFreeMemoryAmd = 0x4039;  // kibibytes, by drivers of AMD
  std::array<std::size_t, 2> free{};
  if (clGetDeviceInfo(device_, kFreeMemoryAmd, sizeof free, free.data(), nullptr) != CL_SUCCESS) return -1;
  return memory_bytes() - static_cast<std::int64_t>(free[0]) * 1024;
}

Memory Context::memory(std::uint64_t bytes) {
  cl_int error = CL_SUCCESS;
  Memory made(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &error));
  check(error, "reserving memory of the device");
  return made;
}

Memory Context::memory_at(void* host, std::uint64_t bytes) {
  cl_int error = CL_SUCCESS;
  Memory made(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &error));
  check(error, "giving the device a task's memory");
  return made;
}

void Context::write(cl_mem to, const void* from, std::uint64_t bytes) {
  check(clEnqueueWriteBuffer(queue_.get(), to, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr), "copying to the device");
}

void Context::read(cl_mem from, void* to, std::uint64_t bytes) {
  check(clEnqueueReadBuffer(queue_.get(), from, CL_TRUE, 0, bytes, to, 0, nullptr, nullptr), "copying a result");
}

void Context::write_part(Part to, Extent extent, const double* from) {
  const Place place = place_of(to);
  const auto region = region_of(extent);
  check(clEnqueueWriteBufferRect(queue_.get(), to.memory, CL_TRUE, place.origin.data(), kBeginning.data(),
                                 region.data(), place.pitch, 0, region[0], 0, from, 0, nullptr, nullptr),
        "copying columns to the device");
}

void Context::read_part(Part from, Extent extent, double* to) {
  const Place place = place_of(from);
  const auto region = region_of(extent);
  check(clEnqueueReadBufferRect(queue_.get(), from.memory, CL_TRUE, place.origin.data(), kBeginning.data(),
                                region.data(), place.pitch, 0, region[0], 0, to, 0, nullptr, nullptr),
        "copying columns from the device");
}

double* Context::map(Part part, Extent extent) {
  const auto entries = static_cast<std::uint64_t>(extent.columns - 1) * static_cast<std::uint64_t>(part.stride) +
                       static_cast<std::uint64_t>(extent.rows);
  cl_int error = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(queue_.get(), part.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                    part.at * sizeof(double), entries * sizeof(double), 0, nullptr, nullptr, &error);
  check(error, "reading the device's memory");
  return static_cast<double*>(mapped);
}

void Context::unmap(cl_mem memory, double* mapped) {
  check(clEnqueueUnmapMemObject(queue_.get(), memory, mapped, 0, nullptr, nullptr), "giving memory to the device");
}

void Context::copy(Part from, Part to, Extent extent) {
  const Place source = place_of(from);
  const Place target = place_of(to);
  const auto region = region_of(extent);
  check(clEnqueueCopyBufferRect(queue_.get(), from.memory, to.memory, source.origin.data(), target.origin.data(),
                                region.data(), source.pitch, 0, target.pitch, 0, 0, nullptr, nullptr),
        "copying on the device");
}

void Context::multiply(const Product& product) {
  if (product.rows <= 0 || product.columns <= 0) return;
  const int b_row = product.transposed ? product.b.stride : 1;
  const int b_column = product.transposed ? 1 : product.b.stride;
  set_arguments(multiply_.get(), product.rows, product.columns, product.inner, product.alpha, product.a.memory,
                product.a.at, product.a.stride, product.b.memory, product.b.at, b_row, b_column, product.beta,
                product.c.memory, product.c.at, product.c.stride);
  constexpr std::size_t kSide = kItemsOfSide;
  const std::array<std::size_t, 2> items =
      by_rows_ ? std::array{parts_of(product.rows, kRowsOfItem), parts_of(product.columns, kColumnsOfItem)}
               : std::array{parts_of(product.rows, kTile) * kSide, parts_of(product.columns, kTile) * kSide};
  const std::array<std::size_t, 2> group = by_rows_ ? std::array<std::size_t, 2>{1, 1} : std::array{kSide, kSide};
  check(clEnqueueNDRangeKernel(queue_.get(), multiply_.get(), 2, nullptr, items.data(), group.data(), 0, nullptr,
                               nullptr),
        "multiplying on the device");
}

void Context::swap_rows(Part a, int first, int count, cl_mem pivots) {
  constexpr int kGroup = 64;
  set_arguments(swap_rows_.get(), a.memory, a.at, a.stride, first, count, pivots);
  const std::size_t items = parts_of(a.stride, kGroup) * kGroup;
  const std::size_t group = kGroup;
  check(clEnqueueNDRangeKernel(queue_.get(), swap_rows_.get(), 1, nullptr, &items, &group, 0, nullptr, nullptr),
        "exchanging rows on the device");
}

void Context::settle() noexcept { clFinish(queue_.get()); }

void Context::finish() { check(clFinish(queue_.get()), "computing on the device"); }

}  // namespace rota::accel_opencl
