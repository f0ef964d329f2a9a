#include "engine/local/claim.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/words.h"
#include "engine/local/record_holder.h"
#include "process/descriptor.h"

namespace rota::local {

using process::add_line;
using process::Descriptor;
using process::listen_at;
using process::send_whole;

namespace {

void refuse(const Order& order, const Descriptor& connection, const char* what) {
  RunRecord end = order.claim;
  end.phase = RunPhase::failed;
  end.again = true;
  end.sentence = fmt::format("The job could not be started. {}: {}.", what, std::strerror(errno));
  send_whole(connection.get(), in_words(end));
}

// A service that has closed the connection counts on it that a run that has not begun never begins.
bool is_wanted(const Descriptor& connection) {
  pollfd hung_up{connection.get(), POLLRDHUP, 0};
  return ::poll(&hung_up, 1, 0) == 0;
}

}  // namespace

std::optional<Claim> claim_run(int folder, const Order& order, const Descriptor& connection) {
  if (!is_wanted(connection)) return std::nullopt;
  Claim claim;
  claim.record.reset(::openat(folder, order.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!claim.record) {
    if (errno != EEXIST) refuse(order, connection, "Its record cannot be made");
    return std::nullopt;
  }
  claim.listener = listen_at(order.claim.socket);
  const int error = claim.listener ? add_line(claim.record.get(), in_words(order.claim)) : errno;
  if (error == 0) return claim;
  errno = error;
  give_up_claim(folder, order, connection);
  return std::nullopt;
}

bool keep_claim(int folder, const Order& order, const Claim& claim, const Descriptor& connection) {
  hold_record(claim.record.get());
  if (is_wanted(connection)) return true;
  struct stat file{};
  if (::fstat(claim.record.get(), &file) == 0 && file.st_nlink > 0) remove_run(folder, order.name);
  return false;
}

void give_up_claim(int folder, const Order& order, const Descriptor& connection) {
  refuse(order, connection, "No supervisor can be made for it");
  remove_run(folder, order.name);
}

// A file that a user may read is emptied first: a process that has it open would keep its bytes on the disk.
void remove_run(int folder, const std::string& name) {
  ::unlinkat(folder, name.c_str(), 0);
  for (const std::string& readable : {script_name(name), node_file_name(name)}) {
    const Descriptor file(
        ::openat(folder, readable.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    ::unlinkat(folder, readable.c_str(), 0);
  }
}

}  // namespace rota::local
