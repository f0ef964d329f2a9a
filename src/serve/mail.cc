#include "serve/mail.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostWaiting = 10'000;
constexpr std::size_t kLongestAddress = 1000;

constexpr std::array<std::pair<std::string_view, MailTypes>, 7> kTypes{
    {{"BEGIN", kMailBegin},
     {"END", kMailEnd},
     {"FAIL", kMailFail},
     {"REQUEUE", kMailRequeue},
     {"ARRAY_TASKS", kMailArrayTasks},
     {"ALL", kMailBegin | kMailEnd | kMailFail | kMailRequeue},
     {"NONE", 0}}};

}  // namespace

Result<MailTypes> parse_mail_types(const std::vector<std::string>& words) {
  MailTypes types = 0;
  for (const std::string& word : words) {
    const auto* found = std::ranges::find(kTypes, word, [](const auto& type) { return type.first; });
    if (found == kTypes.end())
      return fail("there is no mail of the type {}; there are BEGIN, END, FAIL, REQUEUE, ARRAY_TASKS, ALL and NONE.",
                  rota::quoted(word));
    types |= found->second;
  }
  return types;
}

Result<void> check_mail_user(std::string_view addresses) {
  if (addresses.size() > kLongestAddress) return fail("`mail_user` has {} bytes at most.", grouped(kLongestAddress));
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@._+-%=").find(c) != std::string_view::npos;
  };
  for (const std::string_view address : split(addresses, ',')) {
    if (address.empty() || address.front() == '-' || !std::ranges::all_of(address, letter))
      return fail(rota::quoted(address) + " is no address that mail could go to; write it as ann@example.org.");
  }
  return {};
}

MailRoom::MailRoom(boost::asio::io_context& io, std::string command, Duration timeout, std::string record, Say say)
    : io_(io), command_(std::move(command)), timeout_(timeout), record_(std::move(record)), say_(std::move(say)) {
  process::SiteCommand::end_left_over(record_);
}

void MailRoom::send(Mail mail) {
  auto& queue = queues_[mail.uid];
  queue.push_back(std::move(mail));
  if (++waiting_ > kMostWaiting) make_room();
  if (!sending_) next();
}

// Drops the latest mail of the user who has most of them.
void MailRoom::make_room() {
  if (!std::exchange(full_, true))
    say_(fmt::format("there are {} mails to be sent; the latest mails of the user who has most of them are dropped.",
                     grouped(kMostWaiting)));
  const auto longest = std::ranges::max_element(queues_, {}, [](const auto& queue) { return queue.second.size(); });
  longest->second.pop_back();
  if (longest->second.empty()) queues_.erase(longest);
  --waiting_;
}

void MailRoom::stop() {
  queues_.clear();
  waiting_ = 0;
  sending_.reset();
}

MailRoom::Queues::iterator MailRoom::next_queue() {
  const auto behind = queues_.upper_bound(latest_);
  return behind == queues_.end() ? queues_.begin() : behind;
}

void MailRoom::next() {
  sending_.reset();
  if (queues_.empty()) return;
  const auto queue = next_queue();
  const Mail mail = std::move(queue->second.front());
  latest_ = queue->first;
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  --waiting_;
  full_ = full_ && waiting_ > kMostWaiting / 2;
  sending_ = std::make_unique<process::SiteCommand>(
      io_,
      process::SiteCommand::Options{
          .text = command_,
          .variables = {"ROTA_MAIL_TO=" + mail.to, "ROTA_MAIL_TYPE=" + mail.type, "ROTA_MAIL_JOB=" + mail.job,
                        "ROTA_MAIL_SUBJECT=" + mail.subject, "ROTA_MAIL_BODY=" + mail.body},
          .timeout = timeout_,
          .record = record_},
      [this, job = mail.job, to = mail.to](const process::SiteCommand::End& end) {
        const std::string about = job.empty() ? "" : " about job " + job;
        if (!end.done) say_(fmt::format("the mail to {}{} was not sent: {}", to, about, end.why));
        next();
      });
}

}  // namespace rota::serve
