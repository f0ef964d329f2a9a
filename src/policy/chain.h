// A policy as people write it: a name and knobs joined by '+', as in "easy+candidates=sjf+overrun=lazy".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/auction/auction_knobs.h"
#include "policy/backfill/backfill.h"
#include "policy/bind/bind.h"
#include "policy/estimate.h"
#include "policy/grace/overrun.h"
#include "policy/migrate/migrate.h"
#include "policy/power/power_knobs.h"
#include "policy/preempt/preempt.h"

namespace rota {

struct ChainKnobs {
  BackfillKnobs backfill;
  Order order = Order::fcfs;
  Order candidates = Order::fcfs;
  Estimator estimator = Estimator::limit;
  Overrun overrun = Overrun::kill;
  Duration grace = Duration{0};
  Bind bind = Bind::none;
  MigrateKnobs migrate;
  Preemption preempt = Preemption::none;
  Duration checkpoint = seconds(60);  // how long writing one takes
  PowerKnobs power;
  AuctionKnobs auction;
};

class Chain {
 public:
  // Fails with a sentence that names the nearest name or knob.
  static Result<Chain> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const ChainKnobs& knobs() const { return knobs_; }

  // Puts one more link behind those that the text names; it sees what they have drafted.
  void append(std::unique_ptr<Policy> link) { add("appended", std::move(link)); }

  void decide(const View& view, Plan& plan) const;
  Instant next_wakeup(const View& view) const;
  // The links that ask for another look at this very instant, by the names of their knobs; for whoever tells of it.
  std::string who_wakes(const View& view, const Plan& plan) const;

  // Whether a policy needs to know which processors jobs hold, not only how many.
  bool lists_processors() const { return asks_for_processors(knobs_.overrun); }
  // Whether a policy asks which running jobs can give way.
  bool ranks_running() const { return knobs_.preempt != Preemption::none; }
  // What the power rule asks of the cluster's state; nothing where there is none.
  void set_power_options(ClusterOptions& options) const;
  // Fails with a sentence where a link would not keep what is reserved: reservations are refused then.
  Result<void> keeps_reservations() const;
  // Which indexes the policies will ask for.
  WaitingOptions waiting() const;

 private:
  std::string text_;
  ChainKnobs knobs_;
  struct Link {
    const char* name;
    std::unique_ptr<Policy> policy;
  };
  void add(const char* name, std::unique_ptr<Policy> policy) { links_.push_back({name, std::move(policy)}); }

  std::vector<Link> links_;
};

// What decides after a plan of the chain was refused, until somebody looks: jobs start in order of the queue, and nodes
// are switched as before, so that those that sleep can be had.
Chain plain_mode_of(const Chain& chain);

// The tables behind `rota policies`, the manual and the parser.
struct PolicyName {
  std::string_view name;
  std::string_view aliases;     // separated by blanks
  std::string_view stands_for;  // the knobs that it sets
  std::string_view meaning;
  std::string_view source;
};
struct KnobName {
  std::string_view name;
  std::string_view values;
  std::string_view fallback;
  std::string_view meaning;
  std::string_view source;
  std::string_view unit = "";  // of a number among the values
};
std::span<const PolicyName> policy_names();
std::span<const KnobName> knob_names();

}  // namespace rota
