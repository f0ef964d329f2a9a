#include "engine/local/file_readings.h"

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/words.h"
#include "engine/local/file_reader.h"
#include "process/descriptor.h"

namespace rota::local {

using process::read_more;
using process::take_line;

namespace {

// How many readings of one job, or of one user, may be under way, and so hang: more than any caller needs at a time.
constexpr std::ptrdiff_t kMostOfJob = 16;
constexpr std::ptrdiff_t kMostOfUser = 64;
// Such a process ends sooner, unless the system does not let it.
constexpr auto kPatience = kReadPatience + std::chrono::seconds(1);

Order order_of(const OutputReader::Wanted& wanted) {
  Order order;
  order.kind = Order::Kind::read;
  order.run.input = wanted.file;
  order.from = wanted.from;
  if (::geteuid() != 0) return order;
  order.run.uid = wanted.uid;
  order.run.gid = wanted.gid;
  order.run.user = wanted.user;
  return order;
}

OutputReader::Piece piece_in(std::string text, bool in_time) {
  std::string line;
  if (!take_line(text, line)) return {.error = in_time ? EAGAIN : ETIMEDOUT};
  PieceHead head;
  read_words(line, head);
  return {std::move(text), head.size, head.error};
}

}  // namespace

struct FileReadings::Reading {
  JobId job;
  uid_t uid;
  boost::asio::posix::stream_descriptor socket;
  boost::asio::steady_timer timer;
  Call call;
  std::string text = {};

  void answer(OutputReader::Piece piece) {
    timer.cancel();
    if (const Call told = std::exchange(call, nullptr)) told(std::move(piece));
  }
};

FileReadings::~FileReadings() {
  for (const auto& reading : under_way_) {
    reading->call = nullptr;
    reading->socket.close();
    reading->timer.cancel();
  }
}

bool FileReadings::begin(const OutputReader::Wanted& wanted, Call call) {
  const auto of_job = [&](const auto& one) { return one->job == wanted.job; };
  const auto of_user = [&](const auto& one) { return one->uid == wanted.uid; };
  if (std::ranges::count_if(under_way_, of_job) >= kMostOfJob) return false;
  if (std::ranges::count_if(under_way_, of_user) >= kMostOfUser) return false;
  auto reading = std::make_shared<Reading>(Reading{wanted.job, wanted.uid, boost::asio::posix::stream_descriptor(io_),
                                                   boost::asio::steady_timer(io_, kPatience), std::move(call)});
  under_way_.push_back(reading);
  ConnectionEnds ends = connection_ends();
  if (!ends.ours) {  // too many files are open
    boost::asio::post(io_, [this, reading] {
      if (reading->call) ended(reading);
    });
    return true;
  }
  reading->socket.assign(ends.ours.release());
  reading->timer.async_wait([reading](const boost::system::error_code& error) {
    if (!error) reading->answer({.error = ETIMEDOUT});
  });
  watch(reading);
  spawner_.send(order_of(wanted), std::move(ends.theirs));
  return true;
}

// Also a reading that no caller waits for any more: it counts until it has come to its end.
void FileReadings::watch(const std::shared_ptr<Reading>& reading) {
  reading->socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [this, reading](const boost::system::error_code& error) {
                               if (error) return;  // closed
                               if (!reading->socket.is_open()) return;
                               const bool more = read_more(reading->socket.native_handle(), reading->text);
                               if (more) {
                                 watch(reading);
                               } else {
                                 ended(reading);
                               }
                             });
}

void FileReadings::ended(const std::shared_ptr<Reading>& reading) {
  std::erase(under_way_, reading);
  reading->socket.close();
  // One that was ended by its own alarm is not in time.
  const bool in_time = std::chrono::steady_clock::now() + kPatience < reading->timer.expiry() + kReadPatience;
  reading->answer(piece_in(std::move(reading->text), in_time));
}

}  // namespace rota::local
