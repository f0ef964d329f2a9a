// What all knobs of a policy are set to. Each mechanism sets its own (policy/module.h).
#pragma once

#include "policy/auction/auction_knobs.h"
#include "policy/backfill/backfill.h"
#include "policy/bind/bind.h"
#include "policy/grace/overrun.h"
#include "policy/migrate/migrate.h"
#include "policy/power/power_knobs.h"
#include "policy/predict/estimate.h"
#include "policy/preempt/preempt.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

struct ChainKnobs {
  BackfillKnobs backfill;
  SlurmKnobs slurm;
  Order order = Order::fcfs;
  Order candidates = Order::fcfs;
  Duration fair_half_life = seconds(7 * 86'400);  // of what users have used lately
  std::int64_t hrrn_cap = kNoRatioCap;            // above it, response ratios count alike
  Estimator estimator = Estimator::limit;
  Overrun overrun = Overrun::kill;
  Duration grace = Duration{0};  // of overrun=DURATION
  Bind bind = Bind::none;
  Duration bind_time = Duration{0};  // until a slot that has been bound is served
  MigrateKnobs migrate;
  Preemption preempt = Preemption::none;
  Duration checkpoint = seconds(60);  // how long writing one takes
  PowerKnobs power;
  AuctionKnobs auction;

  bool operator==(const ChainKnobs&) const = default;
};

inline bool orders_by(const ChainKnobs& knobs, Order order) {
  return knobs.order == order || knobs.candidates == order;
}

// Whether the queue changes whenever a user has used something.
inline bool by_recent_use(const ChainKnobs& knobs) { return orders_by(knobs, Order::fair) || knobs.slurm.by_shares(); }

}  // namespace rota
