// What the engine reports to the controller: all that comes in at a turn of the event loop together, so that this
// decides once for it. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "control/live_engine.h"

namespace rota::local {

struct Report {
  JobId job;  // invalid: it is about a node
  Observed what;
  Instant happened;  // kNever: just now
};

class Reports {
 public:
  using Deliver = std::function<void(std::vector<Report>)>;
  Reports(boost::asio::io_context& io, Deliver deliver) : io_(io), deliver_(std::move(deliver)) {}
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() { *stands_ = false; }

  void add(Report report);
  bool any_of(JobId job) const;  // is about to be delivered

 private:
  boost::asio::io_context& io_;
  Deliver deliver_;
  std::vector<Report> waiting_;
  std::shared_ptr<bool> stands_ = std::make_shared<bool>(true);  // for what is posted
};

}  // namespace rota::local
