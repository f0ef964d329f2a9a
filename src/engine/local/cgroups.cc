#include "engine/local/cgroups.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;
using process::read_all;

namespace {

constexpr std::string_view kLeaf = "/rota-service";  // version 2: a group with groups below has no processes of its own
constexpr std::string_view kService = ".service";
constexpr std::string_view kJobsService = "-jobs.service";

std::string contents(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text = file ? read_all(file.get()) : std::string();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool put(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

std::int64_t number_in(std::string_view text) { return parse_integer(text).value_or(0); }

bool has_word(std::string_view list, char separator, std::string_view word) {
  const auto words = split(list, separator);
  return std::ranges::find(words, word) != words.end();
}

// Where a hierarchy is mounted: of version 1 the one with this controller; "": version 2.
std::optional<std::string> mount_of(std::string_view controller) {
  const std::string mounts = contents("/proc/self/mounts");
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 4) continue;
    const bool is_it =
        controller.empty() ? words[2] == "cgroup2" : words[2] == "cgroup" && has_word(words[3], ',', controller);
    if (is_it) return std::string(words[1]);
  }
  return std::nullopt;
}

// This process's own group in that hierarchy, as a folder; nullopt: there is none, or it cannot be seen.
std::optional<std::string> own_group(std::string_view controller) {
  const auto mount = mount_of(controller);
  if (!mount) return std::nullopt;
  const std::string groups = contents("/proc/self/cgroup");
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !controllers.empty() : !has_word(controllers, ',', controller)) continue;
    const std::string_view path = line.substr(second + 1);
    std::string folder = *mount + std::string(path == "/" ? "" : path);
    if (!exists(folder)) return std::nullopt;
    return folder;
  }
  return std::nullopt;
}

// A new group of version 1 has no processors until it is given some: once, as the kernel sorts all processors in anew
// each time.
bool fill_cpuset(const std::string& folder, const std::vector<std::uint32_t>& cores) {
  const std::string parent = folder.substr(0, folder.rfind('/'));
  const auto inherit = [&](const char* file) {
    return !contents(folder + file).empty() || put(folder + file, contents(parent + file));
  };
  return inherit("/cpuset.mems") &&
         (cores.empty() ? inherit("/cpuset.cpus") : put(folder + "/cpuset.cpus", listed(cores)));
}

bool is_version_1_cpuset(const std::string& folder) { return exists(folder + "/cpuset.memory_migrate"); }

void find_version_1(const std::string& name, std::string_view controller, CgroupBases& bases) {
  const auto own = own_group(controller);
  if (!own) return;
  const std::string base = fmt::format("{}/{}", *own, name);
  if (!make_folder(base)) return;
  if (is_version_1_cpuset(base) && !fill_cpuset(base, {})) return;
  bases.bases.push_back({base, controller == "memory", controller == "cpuset"});
}

struct Offered {
  bool memory = false;
  bool cpuset = false;

  bool any() const { return memory || cpuset; }
};

// What groups below that one of version 2 could limit.
Offered offered_in(const std::string& folder) {
  const std::string controllers = contents(folder + "/cgroup.controllers");
  return {has_word(controllers, ' ', "memory"), has_word(controllers, ' ', "cpuset")};
}

// And is no job of something else that systemd has started.
bool is_started_by_systemd() {
  const char* process = std::getenv("SYSTEMD_EXEC_PID");
  return process != nullptr && process == std::to_string(::getpid());
}

// Where groups of version 2 may be made. As a service of systemd, rota.service, only in the group of the unit that
// stands beside it for this, rota-jobs.service: systemd puts a service that it starts into the service's own group,
// which the kernel refuses as long as controllers are on in there for jobs that still run. Anywhere else in this
// process's own group, which it leaves for one below.
std::optional<std::string> delegated_group() {
  auto own = own_group("");
  if (!own) return std::nullopt;
  if (own->ends_with(kLeaf)) {
    own->resize(own->size() - kLeaf.size());
    return own;
  }
  if (own->ends_with(kService) && is_started_by_systemd()) {
    const std::string beside = own->substr(0, own->size() - kService.size()) + std::string(kJobsService);
    if (!exists(beside)) return std::nullopt;
    return beside;
  }
  const bool is_root = !exists(*own + "/cgroup.type");
  if (is_root || !offered_in(*own).any()) return own;
  const std::string leaf = *own + std::string(kLeaf);
  if (!make_folder(leaf) || !put(leaf + "/cgroup.procs", "0")) return std::nullopt;
  return own;
}

void find_version_2(const std::string& name, CgroupBases& bases) {
  const auto delegated = delegated_group();
  if (!delegated) return;
  const auto [memory, cpuset] = offered_in(*delegated);
  if (!memory && !cpuset) return;
  const std::string base = fmt::format("{}/{}", *delegated, name);
  if (!make_folder(base)) return;
  for (const std::string& folder : {*delegated, base}) {
    if (memory && !put(folder + "/cgroup.subtree_control", "+memory")) return;
    if (cpuset && !put(folder + "/cgroup.subtree_control", "+cpuset")) return;
  }
  bases.bases.push_back({base, memory, cpuset});
}

}  // namespace

std::string listed(const std::vector<std::uint32_t>& cores) {
  std::string list;
  for (const std::uint32_t core : cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list;
}

CgroupBases find_cgroups(const std::string& name) {
  CgroupBases bases;
  find_version_2(name, bases);
  if (!bases.limits_memory()) find_version_1(name, "memory", bases);
  find_version_1(name, "cpuset", bases);
  if (!bases.limits_memory()) {
    bases.warning =
        "No control group that limits memory can be made here, so jobs may use more memory than they asked for. " +
        std::string(
            ::geteuid() == 0
                ? "Have systemd run the service with rota-jobs.service beside it, as in examples/systemd."
                : "Have systemd run your service: `rota stop`, then `systemctl --user enable --now rota.socket`; "
                  "without the package its units are in examples/systemd/user.");
  }
  return bases;
}

bool CgroupBases::limits_memory() const {
  return std::any_of(bases.begin(), bases.end(), [](const Base& base) { return base.memory; });
}

std::vector<std::string> CgroupBases::for_job(const std::string& name, bool memory, bool cores) const {
  std::vector<std::string> folders;
  for (const Base& base : bases) {
    if ((base.memory && memory) || (base.cores && cores)) folders.push_back(fmt::format("{}/{}", base.folder, name));
  }
  return folders;
}

void remove_bases(const CgroupBases& bases) {
  for (const CgroupBases::Base& base : bases.bases) ::rmdir(base.folder.c_str());
}

bool make_cgroup(const std::string& folder, const std::vector<std::uint32_t>& cores, std::int64_t memory) {
  if (!make_folder(folder)) return false;
  bool made = !is_version_1_cpuset(folder) || fill_cpuset(folder, cores);
  if (exists(folder + "/cpuset.cpus") && !is_version_1_cpuset(folder)) made = made && set_cores(folder, cores);
  if (memory > 0) {
    const std::string limit = std::to_string(memory);
    if (exists(folder + "/memory.max")) {
      made = made && put(folder + "/memory.max", limit);
      put(folder + "/memory.swap.max", "0");
      put(folder + "/memory.oom.group", "1");
    } else if (exists(folder + "/memory.limit_in_bytes")) {
      made = made && put(folder + "/memory.limit_in_bytes", limit);
      put(folder + "/memory.memsw.limit_in_bytes", limit);
    }
  }
  if (!made) ::rmdir(folder.c_str());
  return made;
}

bool set_cores(const std::string& folder, const std::vector<std::uint32_t>& cores) {
  return cores.empty() || !exists(folder + "/cpuset.cpus") || put(folder + "/cpuset.cpus", listed(cores));
}

bool join_cgroup(const std::string& folder) { return put(folder + "/cgroup.procs", "0"); }

bool only_fences(const std::string& folder) {
  return is_version_1_cpuset(folder) && !exists(folder + "/memory.limit_in_bytes");
}

CgroupUse use_in(const std::vector<std::string>& folders) {
  CgroupUse use;
  for (const std::string& folder : folders) {
    const std::string processors = contents(folder + "/cpu.stat");
    for (const std::string_view line : split(processors, '\n')) {
      constexpr std::int64_t kMicroseconds = 1000;  // in a millisecond
      for (const auto& [name, into] : {std::pair{"user_usec ", &use.user}, std::pair{"system_usec ", &use.system}}) {
        if (line.starts_with(name))
          *into = std::max(*into, number_in(line.substr(std::string_view(name).size())) / kMicroseconds);
      }
    }
    for (const char* file : {"/memory.peak", "/memory.max_usage_in_bytes"})
      use.memory = std::max(use.memory, number_in(contents(folder + file)));
  }
  return use;
}

bool ran_out_of_memory(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    for (const char* file : {"/memory.events", "/memory.oom_control"}) {
      const std::string text = contents(folder + file);
      for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with("oom_kill ") && line != "oom_kill 0") return true;
      }
    }
  }
  return false;
}

void remove_left(const CgroupBases& bases, const std::vector<std::string>& in_use) {
  for (const CgroupBases::Base& base : bases.bases) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(base.folder, error)) {
      const std::string& folder = entry.path().native();
      if (entry.is_directory(error) && std::ranges::find(in_use, folder) == in_use.end()) ::rmdir(folder.c_str());
    }
  }
}

void remove_cgroups(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) ::rmdir(folder.c_str());
}

}  // namespace rota::local
