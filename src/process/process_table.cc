#include "process/process_table.h"

#include <fmt/core.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "process/descriptor.h"

namespace rota::process {
namespace {

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// The numbers in a text, whatever stands between them.
template <class Number>
std::vector<Number> numbers_in(std::string_view text) {
  std::vector<Number> numbers;
  while (!text.empty()) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{}) numbers.push_back(number);
    text.remove_prefix(std::max<std::size_t>(static_cast<std::size_t>(end - text.data()), 1));
  }
  return numbers;
}

bool is_dead(char state) { return state == 'Z' || state == 'X'; }

// In the line that /proc has of a process or thread; 0: it is not there. A name may have brackets and spaces in it.
std::size_t state_in(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? 0 : name_end + 2;
}

// The first thread may end before others, and is what is seen of the process then.
bool has_live_thread(pid_t pid) {
  const std::string tasks = folder_of(pid) + "/task";
  DIR* folder = ::opendir(tasks.c_str());
  if (!folder) return false;
  bool lives = false;
  while (const dirent* entry = lives ? nullptr : ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    const std::string stat = contents_of(fmt::format("{}/{}/stat", tasks, entry->d_name));
    const std::size_t state = state_in(stat);
    lives = state > 0 && !is_dead(stat[state]);
  }
  ::closedir(folder);
  return lives;
}

}  // namespace

std::optional<Process> look_at(pid_t pid) {
  const std::string text = contents_of(folder_of(pid) + "/stat");
  const std::size_t state = state_in(text);
  if (state == 0) return std::nullopt;
  Process process{.pid = pid};
  process.zombie = is_dead(text[state]) && !has_live_thread(pid);
  process.runs = text[state] == 'R' || text[state] == 'S';
  const auto numbers = numbers_in<std::int64_t>(std::string_view(text).substr(state + 1));
  if (numbers.size() < 19) return std::nullopt;
  process.parent = static_cast<pid_t>(numbers[0]);
  process.sid = static_cast<pid_t>(numbers[2]);
  process.began = static_cast<std::uint64_t>(numbers[18]);
  return process;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  DIR* folder = ::opendir("/proc");
  if (!folder) return all;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    if (const auto process = look_at(pid)) all.push_back(*process);
  }
  ::closedir(folder);
  return all;
}

bool children_of(pid_t pid, std::vector<pid_t>& children) {
  const std::string tasks = folder_of(pid) + "/task";
  DIR* folder = ::opendir(tasks.c_str());
  if (!folder) return true;  // it is gone
  bool listed = true;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = fmt::format("{}/{}/children", tasks, entry->d_name);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
      listed = listed && ::access((fmt::format("{}/{}", tasks, entry->d_name)).c_str(), F_OK) != 0;
      continue;
    }
    for (const pid_t child : numbers_in<pid_t>(read_all(file.get()))) children.push_back(child);
  }
  ::closedir(folder);
  return listed;
}

std::int64_t user_of(pid_t pid) {
  const std::string status = contents_of(folder_of(pid) + "/status");
  const std::size_t line = status.find("\nUid:");
  const auto users =
      line == std::string::npos
          ? std::vector<std::int64_t>{}
          : numbers_in<std::int64_t>(std::string_view(status).substr(line, status.find('\n', line + 1) - line));
  return users.empty() ? -1 : users.front();
}

bool has_variable(pid_t pid, const std::string& variable) {
  const std::string environment = contents_of(folder_of(pid) + "/environ");
  return std::string_view(environment).starts_with(variable + '\0') ||
         environment.find('\0' + variable + '\0') != std::string::npos;
}

}  // namespace rota::process
