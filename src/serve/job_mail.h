// Mail that users want about their jobs: written as facts are recorded, sent once these are durable. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "serve/job_lookup.h"
#include "serve/mail.h"

namespace rota::serve {

class JobMail final : public FactObserver {
 public:
  // `command`: of the site, which sends one; empty: none is sent. `record`: see MailRoom.
  JobMail(const Desk& desk, const JobLookup& jobs, std::string command, std::string record)
      : desk_(desk), jobs_(jobs), command_(std::move(command)), record_(std::move(record)) {}

  // Once the book has been read.
  void open(boost::asio::io_context& io);
  bool sends() const { return room_ != nullptr; }
  // A job leaves, with this row of the history. An array is mailed about when its last task leaves.
  void job_leaves(const store::HistoryRow& row, const About& about);
  // What was written until now is durable.
  void send();
  // Another mail, about no job; only where it sends any.
  void send(Mail mail) { room_->send(std::move(mail)); }
  void stop();

  std::uint64_t wants() const override;
  void fact_recorded(const View& before, const FactRef& fact) override;

 private:
  void post(const About& about, const std::string& job, const char* type, const std::string& what);
  void job_starts(JobId id);
  void job_waits_again(JobId id, bool was_stopped);

  const Desk& desk_;
  const JobLookup& jobs_;
  std::string command_, record_;
  std::unique_ptr<MailRoom> room_;  // nullptr: none is sent
  std::vector<Mail> letters_;       // about what is not durable yet
  std::set<std::int64_t> begun_;    // arrays whose first start was mailed, or was before
};

}  // namespace rota::serve
