// Supervisors whose run is over and that wait for another order: for as long as jobs come one after the other, and so
// many at most. Not thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/local/record.h"
#include "engine/local/run_link.h"

namespace rota::local {

class Spares {
 public:
  explicit Spares(boost::asio::io_context& io) : rest_(io) {}
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  ~Spares() { *alive_ = false; }

  // `over`: the run that it has looked after.
  void keep(std::unique_ptr<RunLink> link, const RunRecord& over);
  // Has one of them carry out an order, in the control groups that it has, and hears for it from now on; nullptr: none
  // of them can.
  std::unique_ptr<RunLink> give(Order& order, RunLink::Hear hear);
  // All go; waits a moment until nothing of their control groups is left.
  void end();

 private:
  struct Spare {
    std::unique_ptr<RunLink> link;
    std::vector<std::uint32_t> cores;  // that its control groups are for
    std::vector<std::string> cgroups;

    bool suits(const Order& order) const;
  };
  void forget(const RunLink* link);

  std::vector<Spare> waiting_;
  boost::asio::steady_timer rest_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for the timer's end, which may be on its way
};

}  // namespace rota::local
