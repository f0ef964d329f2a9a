#include "engine/local/processor_units.h"

#include <fmt/core.h>

#include <dlfcn.h>
#include <hwloc.h>
#include <sched.h>

#include <memory>
#include <optional>
#include <utility>

namespace rota::local {
namespace {

using Units = std::vector<std::vector<std::uint32_t>>;

void close_library(void* library) { ::dlclose(library); }
using Library = std::unique_ptr<void, decltype(&close_library)>;

// What is used of hwloc 2, by its header; whether the library had all of it.
struct Hwloc {
  explicit Hwloc(void* library) {
    whole = find(library, "hwloc_topology_init", init) && find(library, "hwloc_topology_load", load) &&
            find(library, "hwloc_topology_destroy", destroy) && find(library, "hwloc_get_type_depth", depth_of) &&
            find(library, "hwloc_get_nbobjs_by_depth", count_at) &&
            find(library, "hwloc_get_obj_by_depth", object_at) && find(library, "hwloc_bitmap_next", next_in);
  }
  template <typename Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }

  decltype(&::hwloc_topology_init) init = nullptr;
  decltype(&::hwloc_topology_load) load = nullptr;
  decltype(&::hwloc_topology_destroy) destroy = nullptr;
  decltype(&::hwloc_get_type_depth) depth_of = nullptr;
  decltype(&::hwloc_get_nbobjs_by_depth) count_at = nullptr;
  decltype(&::hwloc_get_obj_by_depth) object_at = nullptr;
  decltype(&::hwloc_bitmap_next) next_in = nullptr;
  bool whole = false;
};

Units units_of(const Hwloc& hwloc, hwloc_topology_t topology, hwloc_obj_type_t type) {
  Units units;
  const int depth = hwloc.depth_of(topology, type);
  for (unsigned index = 0; index < hwloc.count_at(topology, depth); ++index) {
    std::vector<std::uint32_t> unit;
    const hwloc_const_cpuset_t threads = hwloc.object_at(topology, depth, index)->cpuset;
    for (int i = hwloc.next_in(threads, -1); i >= 0; i = hwloc.next_in(threads, i)) {
      unit.push_back(static_cast<std::uint32_t>(i));
    }
    if (!unit.empty()) units.push_back(std::move(unit));
  }
  return units;
}

// Nothing: the library is not there, or is another than is known here.
std::optional<Units> units_by_hwloc(std::int64_t wanted, const char* name) {
  const Library library(::dlopen(name, RTLD_NOW | RTLD_LOCAL), &close_library);
  if (!library) return std::nullopt;
  const Hwloc hwloc(library.get());
  hwloc_topology_t topology = nullptr;
  if (!hwloc.whole || hwloc.init(&topology) != 0) return std::nullopt;
  Units units;
  if (hwloc.load(topology) == 0) {
    units = units_of(hwloc, topology, HWLOC_OBJ_CORE);
    if (units.empty() || wanted > static_cast<std::int64_t>(units.size()))
      units = units_of(hwloc, topology, HWLOC_OBJ_PU);
  }
  hwloc.destroy(topology);
  return units;
}

Units allowed_processors() {
  Units units;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return units;
  for (std::uint32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) units.push_back({i});
  }
  return units;
}

}  // namespace

ProcessorUnits processor_units(std::int64_t wanted, const char* library) {
  if (auto units = units_by_hwloc(wanted, library)) return {std::move(*units), ""};
  return {allowed_processors(),
          fmt::format("{}{} cannot be used, so jobs get processors in the order of their numbers, and not whole cores "
                      "that lie beside each other; install the package libhwloc15.",
                      "The library ", library)};
}

}  // namespace rota::local
