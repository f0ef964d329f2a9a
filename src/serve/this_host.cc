#include "serve/this_host.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "site/service_file.h"

namespace rota::serve {
namespace {

constexpr std::string_view kNode = "# This computer, since no nodes are described:\n";

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max(1, ::get_nprocs());
}

}  // namespace

std::string this_host() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "localhost";
  std::string name(buffer.data());
  std::erase_if(name, [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
             c == '_');
  });
  return name.empty() ? "localhost" : name;
}

std::int64_t nvidia_accelerators(const std::string& devices) {
  constexpr std::string_view kPrefix = "nvidia";  // nvidiactl and nvidia-uvm are none
  constexpr std::int64_t kMostTold = 64;          // of a node, by a cluster file
  std::int64_t count = 0;
  std::error_code unreadable;
  for (auto entry = std::filesystem::directory_iterator(devices, unreadable);
       !unreadable && entry != std::filesystem::directory_iterator(); entry.increment(unreadable)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix) && parse_integer(std::string_view(name).substr(kPrefix.size()))) ++count;
  }
  return std::min(count, kMostTold);
}

std::string cluster_of_this_host() {
  struct sysinfo info{};
  const bool known = ::sysinfo(&info) == 0;
  const auto memory = known ? static_cast<std::int64_t>(info.totalram) * static_cast<std::int64_t>(info.mem_unit) : 0;
  std::string text = site::cluster_of_this_host(this_host(), processors(), memory, nvidia_accelerators());
  return text.insert(text.find("[[nodes]]"), kNode);
}

std::string with_node_kept(const std::string& text, const std::string& kept) {
  const std::size_t node = text.rfind(kNode);
  const std::size_t before = kept.rfind(kNode);
  if (node == std::string::npos || before == std::string::npos) return text;
  return text.substr(0, node) + kept.substr(before);
}

}  // namespace rota::serve
