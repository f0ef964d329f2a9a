// Mail about jobs, sent by a command of the site's own: one at a time, users by turns, with a time after which it is
// given up, while the service goes on with all else. What is not sent yet when the service ends is lost. One thread:
// that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "process/site_command.h"

namespace rota::serve {

// When a user wants mail; a bit each.
using MailTypes = std::uint8_t;
inline constexpr MailTypes kMailBegin = 1;
inline constexpr MailTypes kMailEnd = 2;          // however it ended
inline constexpr MailTypes kMailFail = 4;         // otherwise than well
inline constexpr MailTypes kMailRequeue = 8;      // it was taken back and waits again
inline constexpr MailTypes kMailArrayTasks = 16;  // of each task; without: of an array once

// "BEGIN", "END", ..., "ALL", "NONE". Fails with a sentence.
Result<MailTypes> parse_mail_types(const std::vector<std::string>& words);
// Addresses with commas. Fails with a sentence where a command line could take one for something else.
Result<void> check_mail_user(std::string_view addresses);

struct Mail {
  std::uint32_t uid = 0;  // of the job's user
  std::string to;
  std::string type;  // "BEGIN"
  std::string job;   // "12" or "12_3"; empty: it is about no job
  std::string subject;
  std::string body;
};

class MailRoom {
 public:
  using Say = std::function<void(const std::string&)>;

  // `command` for /bin/sh finds what it is to send in ROTA_MAIL_TO, _TYPE, _JOB, _SUBJECT and _BODY. `say`: of what
  // could not be sent.
  MailRoom(boost::asio::io_context& io, std::string command, Duration timeout, std::string record, Say say);

  void send(Mail mail);
  void stop();

 private:
  using Queues = std::map<std::uint32_t, std::deque<Mail>>;  // by user, none of them empty

  void make_room();
  Queues::iterator next_queue();
  void next();

  boost::asio::io_context& io_;
  std::string command_;
  Duration timeout_;
  std::string record_;
  Say say_;
  Queues queues_;
  std::size_t waiting_ = 0;   // in all of them
  std::uint32_t latest_ = 0;  // whose mail was sent last
  bool full_ = false;         // and that has been said
  std::unique_ptr<process::SiteCommand> sending_;
};

}  // namespace rota::serve
