// Jobs of a resource manager that the engine only watches, as the service keeps them: each is put into the book under
// the names that its users know it by, with what the manager says of it. One thread.
#pragma once

#include <vector>

#include "control/manager_jobs.h"
#include "serve/job_lookup.h"
#include "serve/node_desk.h"
#include "serve/order_advice.h"
#include "serve/reservation_desk.h"
#include "serve/shadow.h"
#include "serve/waiting_order.h"

namespace rota::serve {

class ManagerBook final : public ManagerJobs {
 public:
  struct Uses {
    Desk& desk;
    JobBook& book;
    const JobLookup& jobs;
    NodeDesk& nodes;
    ReservationDesk& reservations;
    Forecaster& forecaster;
  };
  explicit ManagerBook(const Uses& uses)
      : desk_(uses.desk),
        book_(uses.book),
        jobs_(uses.jobs),
        nodes_(uses.nodes),
        reservations_(uses.reservations),
        forecaster_(uses.forecaster),
        shadow_(uses.desk, uses.jobs, uses.forecaster),
        order_(uses.desk, uses.book),
        advice_(uses.desk, uses.book, uses.forecaster) {}

  Shadow& shadow() { return shadow_; }
  const OrderAdvice& advice() const { return advice_; }
  Mandates* mandates() const { return desk_.engine().mandates(); }  // nullptr: the cluster is Rota's own

  JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) override;
  bool has_left(std::int64_t number) const override;
  void say(JobId job, const ManagerWait& wait) override;
  void throttle(std::int64_t array, std::uint32_t most) override { forecaster_.throttle(array, most); }
  void reserved(const std::vector<ManagerReservation>& all) override;
  void node_reason(NodeId node, const std::string& reason) override { nodes_.note_theirs(node, reason); }
  void used(std::vector<ManagerUse> all) override { forecaster_.used({std::move(all), desk_.now()}); }
  void placed(const std::vector<ManagerPlace>& all) override { advice_.rehearse(all); }
  void surveyed(Instant at) override;
  Result<std::vector<ManagerTurn>> in_order(const std::string& rule) override { return order_.of(rule); }

 private:
  Desk& desk_;
  JobBook& book_;
  const JobLookup& jobs_;
  NodeDesk& nodes_;
  ReservationDesk& reservations_;
  Forecaster& forecaster_;
  std::vector<JobId> met_;  // since the survey before
  Shadow shadow_;
  WaitingOrder order_;
  OrderAdvice advice_;
};

}  // namespace rota::serve
