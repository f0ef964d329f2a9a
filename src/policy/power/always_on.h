// power=always-on, as it is where nobody says otherwise: no node is ever sent to sleep, and who was sent to sleep by a
// rule before is woken, again and again should a boot fail. Who sleeps otherwise (an operator wanted it, or it went off
// by itself) is left alone. Costs a comparison where no node sleeps.
#pragma once

#include "policy/policy.h"

namespace rota {

class AlwaysOn final : public Policy {
 public:
  void decide(const View& view, Plan& plan) const override;
  Instant next_wakeup(const View& view) const override;
};

}  // namespace rota
