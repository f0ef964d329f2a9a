// A policy as people write it, a name and knobs joined by '+' as in "easy+candidates=sjf+overrun=grace", at work: the
// links of its mechanisms one after the other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/registry.h"

namespace rota {

class Chain {
 public:
  // Fails with a sentence that names the nearest name or knob.
  static Result<Chain> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const ChainKnobs& knobs() const { return knobs_; }

  // Puts one more link behind those that the text names; it sees what they have drafted.
  void append(std::unique_ptr<Policy> link) { add({"appended", std::move(link), false}); }

  void decide(const View& view, Plan& plan) const;
  Instant next_wakeup(const View& view) const {
    return wakes_ || !view.power().all_on() ? earliest_wakeup(view) : kNever;
  }
  // The links that ask for another look at this very instant, by the names of their modules; for messages. Each is
  // asked: a plan is drafted anew for that.
  std::string links_that_wake(const View& view) const;

  // Adds the indexes and rules of the cluster's state that the policies ask for.
  void ask(ClusterOptions& options) const;
  // Whether a policy asks which running jobs can give way.
  bool ranks_running() const { return knobs_.preempt != Preemption::none; }
  // Fails with a sentence where a link would not keep what is reserved: reservations are refused then.
  Result<void> keeps_reservations() const;

 private:
  std::string text_;
  ChainKnobs knobs_;
  struct Link {
    std::string_view name;
    std::unique_ptr<Policy> policy;
    bool waits_for_sleepers = false;

    bool is_asked(const View& view) const { return !waits_for_sleepers || !view.power().all_on(); }
  };
  void add(Link link);
  Instant earliest_wakeup(const View& view) const;

  std::vector<Link> links_;
  bool wakes_ = false;  // some of them do, and not only while some node is not on
};

// What decides after a plan of the chain was refused, until an operator looks: jobs start in order of the queue, and
// nodes are switched as before, so that those that sleep can be had.
Chain plain_mode_of(const Chain& chain);

}  // namespace rota
