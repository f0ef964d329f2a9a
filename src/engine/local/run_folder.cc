#include "engine/local/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;

namespace {

constexpr const char* kBootName = "boot";
constexpr const char* kNextBootName = "boot.new";

}  // namespace

Result<void> RunFolder::open() {
  constexpr mode_t kPassThrough = 0711;  // a job's script is executed by its user
  const bool made = ::mkdir(path_.c_str(), kPassThrough) == 0;
  folder_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) {
    return fail("The folder {} of what runs cannot be opened: {}. Make it, or name another one.", quoted(path_),
                std::strerror(errno));
  }
  if (made) ::fchmod(folder_.get(), kPassThrough);
  const Descriptor file(::openat(folder_.get(), kBootName, O_RDONLY | O_CLOEXEC));
  const std::string boot = file ? process::read_all(file.get()) : std::string();
  rebooted_ = !boot.empty() && boot != boot_;  // empty: one that was being written, by an older version
  return {};
}

Result<void> RunFolder::write_boot() {
  const Descriptor next(::openat(folder_.get(), kNextBootName, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const bool whole = next && add_line(next.get(), boot_) == 0 && ::fdatasync(next.get()) == 0;
  if (!whole || ::renameat(folder_.get(), kNextBootName, folder_.get(), kBootName) != 0)
    return fail("The folder {} cannot be written to: {}.", quoted(path_), std::strerror(errno));
  ::fsync(folder_.get());  // without it, the name may be the old one's after a failure of power: as if it came again
  boot_written_ = true;
  return {};
}

Result<void> RunFolder::can_open_more() const {
  if (Descriptor(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0))) return {};
  return fail(
      "Not all jobs that run can be heard of: {}. Start the service with a higher limit of open files (`ulimit -n`, or "
      "LimitNOFILE= of its unit), one for each job that runs and some more.",
      std::strerror(errno));
}

bool RunFolder::cannot_be_read(const std::string& name) const {
  const Descriptor record(::openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
  return !record && errno != ENOENT;
}

}  // namespace rota::local
