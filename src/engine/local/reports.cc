#include "engine/local/reports.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace rota::local {

void Reports::add(Report report) {
  waiting_.push_back(std::move(report));
  if (waiting_.size() > 1) return;
  boost::asio::post(io_, [this, stands = stands_] {
    if (*stands) deliver_(std::exchange(waiting_, {}));
  });
}

bool Reports::any_of(JobId job) const { return std::ranges::find(waiting_, job, &Report::job) != waiting_.end(); }

}  // namespace rota::local
