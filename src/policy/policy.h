// A policy decides what to do next: a pure function of the view and the draft so far. It cannot fail, wait, read a
// clock or remember anything: whatever it needs to know again is an event in the cluster's state.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace rota {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual void decide(const View& view, Plan& plan) const = 0;

  // The instant at which it wants to be asked again although nothing has happened; kNever: only events matter.
  virtual Instant next_wakeup(const View&) const { return kNever; }
  // Whether it ever wants that; asked once.
  virtual bool wakes() const { return true; }
};

}  // namespace rota
