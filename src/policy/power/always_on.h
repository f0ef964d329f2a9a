// power=always-on, the default: no node is ever sent to sleep, and a node that a rule sent to sleep before is woken,
// again and again should a boot fail. A node that sleeps otherwise (an operator wanted it, or it went off by itself) is
// left alone. Costs a comparison where no node sleeps.
#pragma once

#include "policy/policy.h"

namespace rota {

class AlwaysOn final : public Policy {
 public:
  void decide(const View& view, Plan& plan) const override;
  Instant next_wakeup(const View& view) const override;
};

}  // namespace rota
