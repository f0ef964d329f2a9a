// Orders of users and operators on their way to somebody else's cluster (QueueOrders): one at a time about each job,
// sent again under its key until it is answered or has been sent too often.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/live_engine.h"
#include "foreign/line.h"

namespace rota::foreign {

class ForeignOrders final : public QueueOrders {
 public:
  // set_alarm: next() may have become another instant, at which look() is to be called.
  ForeignOrders(Line& line, Loop& loop, std::function<void()> set_alarm)
      : line_(line), loop_(loop), set_alarm_(std::move(set_alarm)) {}
  void open(std::function<const View&()> state) { state_ = std::move(state); }

  void hold(JobId job, Bars by, const std::string& key, Call call) override;
  void release(JobId job, Bars from, const std::string& key, Call call) override;
  void amend(JobId job, const Terms& terms, const std::string& key, Call call) override;
  void cancel(JobId job, const std::string& key, Call call) override;
  void submit(const Request& request, const std::string& key, Call call) override;

  void hear(const Line::Reply& reply);
  void look();
  Instant next() const;  // kNever: all is answered

 private:
  struct Pending {
    ClientOrder order;
    Call call;
    std::optional<Answer> answer = {};  // to be given at the next look
    Instant sent = kNever;              // for the latest time; kNever: others about its job go first
    int tries = 0;
  };

  void take(JobId job, ClientOrder order, Call call);
  void refuse(const std::string& key, Call call, std::string why);
  const std::string& name_of(PartitionId partition) const;
  void send_those_that_are_next();

  Line& line_;
  Loop& loop_;
  std::function<void()> set_alarm_;
  std::function<const View&()> state_;
  std::list<Pending> pending_;  // as they were asked for
};

}  // namespace rota::foreign
