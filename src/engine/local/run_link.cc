#include "engine/local/run_link.h"

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "base/words.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;
using process::kLongestTold;
using process::Reached;
using process::read_more;
using process::send_whole;
using process::take_line;

struct RunLink::Channel {
  boost::asio::posix::stream_descriptor socket;
  boost::asio::steady_timer next_try;
  Hear hear;
  Connect connect = {};
  std::string untold = {};
  std::string text = {};
  bool closed = false;  // by its owner: nothing is to be heard any more
};

RunLink::RunLink(boost::asio::io_context& io, Descriptor socket, Hear hear)
    : channel_(std::make_shared<Channel>(boost::asio::posix::stream_descriptor(io, socket.release()),
                                         boost::asio::steady_timer(io), std::move(hear))) {
  channel_->socket.non_blocking(true);
  watch(channel_);
}

RunLink::RunLink(boost::asio::io_context& io, Connect connect, Hear hear)
    : channel_(std::make_shared<Channel>(boost::asio::posix::stream_descriptor(io), boost::asio::steady_timer(io),
                                         std::move(hear), std::move(connect))) {
  try_later(channel_);
}

RunLink::~RunLink() {
  channel_->closed = true;
  channel_->socket.close();
  channel_->next_try.cancel();
}

void RunLink::try_later(const std::shared_ptr<Channel>& channel) {
  constexpr std::chrono::milliseconds kRest{100};
  channel->next_try.expires_after(kRest);
  channel->next_try.async_wait([channel](const boost::system::error_code& error) {
    if (!channel->closed && !error) try_again(channel);
  });
}

void RunLink::try_again(const std::shared_ptr<Channel>& channel) {
  Reached reached = channel->connect();
  if (reached.socket) {
    channel->socket.assign(reached.socket.release());
    channel->socket.non_blocking(true);
    send_whole(channel->socket.native_handle(), std::exchange(channel->untold, {}));
    return watch(channel);
  }
  if (reached.crowded) return try_later(channel);
  const Hear hear = channel->hear;
  hear(nullptr);
}

void RunLink::watch(const std::shared_ptr<Channel>& channel) {
  channel->socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [channel](const boost::system::error_code& error) {
                               if (!channel->closed && !error) read(channel);
                             });
}

void RunLink::read(const std::shared_ptr<Channel>& channel) {
  const bool open = read_more(channel->socket.native_handle(), channel->text);
  std::string line;
  while (!channel->closed && take_line(channel->text, line)) {
    RunRecord record;
    read_words(line, record);
    const Hear hear = channel->hear;  // which may be replaced meanwhile
    hear(&record);
  }
  if (channel->closed) return;
  if (open) return watch(channel);
  const Hear hear = channel->hear;
  hear(nullptr);
}

void RunLink::tell(const Tell& tell) { send(in_words(tell)); }

bool RunLink::send(const std::string& text) {
  if (channel_->socket.is_open()) return send_whole(channel_->socket.native_handle(), text);
  const bool fits = channel_->untold.size() + text.size() <= kLongestTold;
  if (fits) channel_->untold += text;
  return fits;
}

int RunLink::socket() const { return channel_->socket.native_handle(); }

void RunLink::hear_for(Hear hear) { channel_->hear = std::move(hear); }

}  // namespace rota::local
