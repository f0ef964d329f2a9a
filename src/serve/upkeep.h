// What a service does by itself from time to time: it begins its journal anew, lets go of what was kept long enough,
// asks the site's licence server, and makes a report. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/desk.h"
#include "serve/licence_watch.h"
#include "serve/periodic_report.h"
#include "serve/state_room.h"

namespace rota::serve {

class Upkeep {
 public:
  Upkeep(Desk& desk, const JobBook& book, StateRoom& room, const site::ServiceSettings& settings)
      : desk_(desk), book_(book), room_(room), settings_(settings) {}

  // The journal begins anew with the state.
  Result<void> compact();
  // So it was read.
  void journal_is_read() { compacted_at_ = desk_.view().sequence(); }
  // Where it has grown long.
  void compact_if_long();
  // Lets go of what was kept for long enough, and of what ended jobs of users with too much ran.
  void let_go();
  // Asks the licence server of the configuration, if there is one, from now on: about the cluster as it stands.
  // `record`: see LicenceWatch.
  void watch_licences(boost::asio::io_context& io, const std::string& record);
  const LicenceWatch* licence_watch() const { return licence_watch_.get(); }  // nullptr: none is asked
  // Makes reports from now on. Fails with a sentence.
  Result<void> begin_reports(boost::asio::io_context& io, PeriodicReport::Options options);
  void stop();

 private:
  void forget_old();
  void let_ended_go(std::uint32_t uid, std::optional<JobId> behind);
  void count_none_elsewhere();
  void counted(const std::vector<LicenceCount>& counts);

  Desk& desk_;
  const JobBook& book_;
  StateRoom& room_;
  const site::ServiceSettings& settings_;
  std::unique_ptr<LicenceWatch> licence_watch_;
  std::unique_ptr<PeriodicReport> report_;  // nullptr: none is made
  std::uint64_t compacted_at_ = 0;          // sequence number
  Instant forgets_at_ = kEpoch;             // when to look again for what was kept long enough
};

}  // namespace rota::serve
