#include "engine/local/gone_watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;

struct GoneWatch::Waiting {
  boost::asio::posix::stream_descriptor process;
  boost::asio::steady_timer timer;
  Gone gone;

  void close() {
    gone = nullptr;
    process.close();
    timer.cancel();
  }
  void tell() {
    const Gone call = std::exchange(gone, nullptr);
    if (!call) return;
    close();
    call();
  }
};

GoneWatch::GoneWatch(boost::asio::io_context& io, Descriptor process, Gone gone)
    : waiting_(std::make_shared<Waiting>(boost::asio::posix::stream_descriptor(io, process.release()),
                                         boost::asio::steady_timer(io), std::move(gone))) {
  constexpr std::chrono::seconds kPatience{30};
  const auto tell = [waiting = waiting_](const boost::system::error_code& error) {
    if (!error) waiting->tell();
  };
  waiting_->process.async_wait(boost::asio::posix::stream_descriptor::wait_read, tell);
  waiting_->timer.expires_after(kPatience);
  waiting_->timer.async_wait(tell);
}

GoneWatch::~GoneWatch() { waiting_->close(); }

}  // namespace rota::local
