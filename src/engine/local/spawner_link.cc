#include "engine/local/spawner_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/words.h"
#include "engine/local/supervisor.h"
#include "process/descriptor.h"
#include "process/spawn.h"

namespace rota::local {

using process::Descriptor;
using process::read_more;
using process::spawn;

struct SpawnerLink::Channel {
  boost::asio::posix::stream_descriptor socket;
  std::string text = {};
  bool waits_to_write = false;
  bool closed = false;
};

ConnectionEnds connection_ends() {
  int both[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both) != 0) return {};
  return {Descriptor(both[0]), Descriptor(both[1])};
}

SpawnerLink::SpawnerLink(boost::asio::io_context& io, std::vector<std::string> program, std::string folder)
    : io_(io), program_(std::move(program)), folder_(std::move(folder)) {}

// It reads what it was sent, and ends.
SpawnerLink::~SpawnerLink() {
  if (!channel_) return;
  channel_->closed = true;
  channel_->socket.close();
  ::waitpid(pid_, nullptr, WNOHANG);
}

Result<void> SpawnerLink::open() {
  if (auto started = start(Earlier::may_be_there); !started) return started;
  constexpr int kPatienceMilliseconds = 60'000;
  pollfd ready{channel_->socket.native_handle(), POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMilliseconds) > 0 && read_more(ready.fd, channel_->text)) return {};
  died();
  return fail(
      "The process that starts jobs ({}) did not get ready to work in {}. See whether the folder can be written to, "
      "and whether another service uses it.",
      program_.front(), folder_);
}

Result<void> SpawnerLink::start(Earlier earlier) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail("No connection could be made to the process that starts jobs: {}.", std::strerror(errno));
  }
  Descriptor theirs(ends[1]);
  Descriptor ours(ends[0]);
  std::vector<std::string> words = program_;
  words.push_back(folder_);
  if (earlier == Earlier::are_gone) words.emplace_back(kWithinLife);
  pid_ = spawn({.words = std::move(words), .files = {{theirs.get(), 0}}});
  if (pid_ == 0) {
    return fail("The process that starts jobs ({}) could not be started: {}.", program_.front(), std::strerror(errno));
  }
  channel_ = std::make_shared<Channel>(boost::asio::posix::stream_descriptor(io_, ours.release()));
  channel_->socket.non_blocking(true);
  watch(channel_);
  return {};
}

// It never says anything but that it is ready; this is for its end.
void SpawnerLink::watch(const std::shared_ptr<Channel>& channel) {
  channel->socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [this, channel](const boost::system::error_code& error) {
                               if (channel->closed || error) return;
                               if (!read_more(channel->socket.native_handle(), channel->text)) return died();
                               watch(channel);
                             });
}

void SpawnerLink::died() {
  channel_->closed = true;
  channel_->socket.close();
  channel_.reset();
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
  if (unsent_.empty()) return;
  unsent_.front().sent = 0;
  push();
}

void SpawnerLink::send(const Order& order, Descriptor connection) {
  unsent_.push_back({in_words(order), std::move(connection)});
  if (!channel_ || unsent_.size() == 1) push();
}

void SpawnerLink::push() {
  if (!channel_ && !start(Earlier::are_gone)) {
    std::erase_if(unsent_,
                  [](const Unsent& each) { return each.connection.get() >= 0; });  // they close, as their links report
    return;
  }
  while (!unsent_.empty() && !channel_->waits_to_write) {
    Unsent& next = unsent_.front();
    iovec piece{next.text.data() + next.sent, next.text.size() - next.sent};
    alignas(cmsghdr) char beside[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (next.sent == 0 && next.connection) {  // goes along with the first byte
      message.msg_control = beside;
      message.msg_controllen = sizeof(beside);
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(sizeof(int));
      const int number = next.connection.get();
      std::memcpy(CMSG_DATA(part), &number, sizeof(number));
    }
    const ssize_t sent = ::sendmsg(channel_->socket.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) next.sent += static_cast<std::size_t>(sent);
    if (next.sent == next.text.size()) {
      unsent_.pop_front();
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return;  // it has died, and its end is about to be heard
    } else if (sent < 0 && errno == EAGAIN) {
      channel_->waits_to_write = true;
      channel_->socket.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                                  [this, channel = channel_](const boost::system::error_code& error) {
                                    channel->waits_to_write = false;
                                    if (!channel->closed && !error) push();
                                  });
    }
  }
}

}  // namespace rota::local
