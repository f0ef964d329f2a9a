#include "engine/local/job_files.h"

#include <fmt/core.h>

#include <endian.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/words.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;

namespace {

// Lets a user read a file, and execute it where its owner may, that stays its owner's: as setfacl does. The owner of a
// file can make it writable, and fill the disk of the state with it. False: this file system knows no such lists.
bool let_read(int file, uid_t user, mode_t mode) {
  enum Tag : std::uint16_t { owner = 1, one_user = 2, group = 4, mask = 16, others = 32 };
  struct Entry {
    std::uint16_t tag, may;
    std::uint32_t id;
  };
  struct List {
    std::uint32_t version = htole32(2);
    std::array<Entry, 5> entries;
  };
  const auto may = static_cast<std::uint16_t>(mode >> 6U & 7U);
  const auto entry = [](Tag tag, std::uint16_t rights, std::uint32_t id = UINT32_MAX) {
    return Entry{htole16(tag), htole16(rights), htole32(id)};
  };
  const List list{
      .entries = {entry(owner, may), entry(one_user, may, user), entry(group, 0), entry(mask, may), entry(others, 0)}};
  return ::fsetxattr(file, "system.posix_acl_access", &list, sizeof list, 0) == 0;
}

// For the job's user alone. Empty text needs no file.
bool write_file(const Order& order, const std::string& name, const std::string& text, mode_t mode) {
  if (text.empty()) return true;
  const Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file) return false;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  const bool others = order.run.uid != kServiceUser && order.run.uid != ::geteuid();
  if (!others || let_read(file.get(), order.run.uid, mode)) return true;
  return ::fchown(file.get(), order.run.uid, order.run.gid) == 0;
}

}  // namespace

std::string write_files(const Order& order) {
  const auto failed = [](const char* what) {
    return fmt::format("The job's {} could not be written: {}.", what, std::strerror(errno));
  };
  if (!write_file(order, script_name(order.name), order.run.script, 0500)) return failed("script");
  if (!write_file(order, node_file_name(order.name), order.run.node_file, 0400)) return failed("list of nodes");
  return "";
}

}  // namespace rota::local
