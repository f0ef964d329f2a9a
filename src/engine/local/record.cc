#include "engine/local/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "engine/local/descriptor.h"
#include "engine/local/words.h"

namespace rota::local {

std::optional<RunRecord> read_record(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  const std::string text = read_all(file.get());
  RunRecord record;
  bool any = false;
  for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    read_words(std::string_view(text).substr(from, end - from), record);
    any = true;
  }
  if (!any) return std::nullopt;
  return record;
}

int add_line(int file, std::string_view line) {
  const ssize_t written = ::write(file, line.data(), line.size());
  if (written < 0) return errno;
  return static_cast<std::size_t>(written) == line.size() ? 0 : ENOSPC;
}

std::string boot_id() {
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::string id = file ? read_all(file.get()) : std::string("unknown");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

namespace {

std::int64_t milliseconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t unix_milliseconds() { return milliseconds_of(CLOCK_REALTIME); }
std::int64_t boot_milliseconds() { return milliseconds_of(CLOCK_BOOTTIME); }

}  // namespace rota::local
